//! Talk in text.

mod irc;
mod xmpp;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&irc::PROTOCOL, &xmpp::PROTOCOL];
