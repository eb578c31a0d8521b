//! Neighbours on the same link.

mod rxrpc;
mod sonos;
mod tivo;
mod uftp;
mod zug;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &rxrpc::PROTOCOL,
    &sonos::PROTOCOL,
    &tivo::PROTOCOL,
    &uftp::PROTOCOL,
    &zug::PROTOCOL,
];
