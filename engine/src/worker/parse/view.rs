//! Why a connection has no parser: used by explanations only, never by a run.

use super::{Parse, is_wanted};
use crate::worker::inspect::Unread;

impl Parse {
    /// Why nothing reads a connection of a protocol; `is_own`: a built-in rule has identified it.
    pub(in crate::worker) fn unread(&self, app: &str, is_own: bool) -> Unread {
        match self.parsers.kind(app, is_own) {
            None => Unread::NoParser,
            Some(kind) if is_wanted(&self.wanted, kind.messages(app)) => Unread::Released,
            Some(_) => Unread::LeftOut,
        }
    }

    /// From now on, parsers work as if bodies were written to files, which they are not.
    pub(in crate::worker) fn write_no_files(&mut self) {
        self.ledger.files = None;
    }
}
