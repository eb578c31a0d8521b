//! Talk in text.

mod irc;
mod qq;
mod telegram;
mod whatsapp;
mod xmpp;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &irc::PROTOCOL,
    &qq::PROTOCOL,
    &telegram::PROTOCOL,
    &whatsapp::PROTOCOL,
    &xmpp::PROTOCOL,
];
