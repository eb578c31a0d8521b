//! The beginnings of a stream whose verdict is doubted: what is kept of them, and searched again.

use crate::worker::identify::again;
use crate::worker::inspect::connection::Connection;
use flowpin_identify::{On, STREAM_BYTES_MAX};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl<S: RecordSink> Connection<'_, S> {
    /// Searches the beginnings, kept before the verdict, that its parser refused.
    pub(in crate::worker::inspect) fn search_refused(&mut self) {
        for to_server in [true, false] {
            let identity = &self.state.identity;
            if identity.is_doubted()
                && identity.trust.is_side_refused(to_server)
                && !identity.trust.does_fit(to_server)
            {
                let at = Span {
                    handle: self.handle,
                    to_server,
                    offset: 0,
                };
                self.search_beginning(at, &[]);
            }
        }
    }

    /// Keeps what the parser holds of a side, all else of which is proved, for the parser that may
    /// replace it.
    pub(super) fn recall_held(&mut self, at: Span) {
        for to_server in [true, false] {
            let Some(parse) = self.parse.as_deref() else {
                return;
            };
            self.identify.held.clear();
            let held = &mut self.identify.held;
            let offset = parse.held(self.state.binding, to_server, at, held);
            let whose = self.whose(On::Tcp, to_server, offset);
            self.identify.keep_held(&mut self.state.identity, whose);
        }
    }

    /// Keeps bytes of a doubted stream from its beginning on, as far as beginnings are kept.
    pub(super) fn keep_for_replay(&mut self, at: Span, bytes: &[u8]) {
        let identity = &mut self.state.identity;
        if !identity.is_doubted() {
            return;
        }
        if at.offset >= STREAM_BYTES_MAX as u64 {
            if self.state.binding.is_none() && identity.trust.does_fit(at.to_server) {
                self.identify.settle(identity);
            }
        } else if self.parse.is_some() {
            let whose = self.whose(On::Tcp, at.to_server, at.offset);
            let identity = &mut self.state.identity;
            self.identify.keep_new(identity, whose, bytes);
        }
    }

    /// A parser has refused the beginning of a direction: what else that may be.
    pub(super) fn search_beginning(&mut self, at: Span, bytes: &[u8]) {
        if self.identify.keeps(&self.state.identity, at.to_server) {
            let whose = self.whose(On::Tcp, at.to_server, at.offset);
            let step = self.identify.search_kept(&self.state.identity, whose);
            self.conclude(at, bytes, step);
        }
        self.drop_if_refused_by_all();
    }

    /// Goes on searching a direction's beginning.
    pub(super) fn search_on(&mut self, at: Span, bytes: &[u8]) {
        let side = at.to_server;
        let identity = &mut self.state.identity;
        let is_begun = self.identify.keeps(identity, side);
        let is_parsed = !self.state.binding.is_none();
        if !is_begun && at.offset > 0 || at.offset >= STREAM_BYTES_MAX as u64 {
            // Its beginning was searched for the verdict, or is over.
            if !is_parsed {
                self.identify.settle(identity);
            }
            return;
        }
        let protocol = self.identify.protocol(identity);
        let is_refused = identity.trust.is_side_refused(side);
        let whose = self.whose(On::Tcp, side, at.offset);
        let whose = again(whose, is_refused.then_some(protocol));
        let identity = &mut self.state.identity;
        let step = self.identify.search_bytes(identity, whose, bytes);
        let is_over = self.identify.is_search_over(identity, step, side);
        self.conclude(at, bytes, step);
        if is_over && !is_parsed {
            self.identify.settle(&mut self.state.identity);
        }
    }
}
