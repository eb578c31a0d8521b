//! Talk in text.

mod aim;
mod irc;
mod mumble;
mod qq;
mod teamspeak;
mod telegram;
mod viber;
mod whatsapp;
mod xmpp;
mod zoom;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &aim::PROTOCOL,
    &irc::PROTOCOL,
    &mumble::PROTOCOL,
    &qq::PROTOCOL,
    &teamspeak::PROTOCOL,
    &telegram::PROTOCOL,
    &viber::PROTOCOL,
    &whatsapp::PROTOCOL,
    &xmpp::PROTOCOL,
    &zoom::PROTOCOL,
];
