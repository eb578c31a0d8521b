//! Peers without servers.

mod bittorrent;
mod direct_connect;
mod dropbox;
mod edonkey;
mod gnutella;
mod libp2p;
mod resilio;
mod syncthing;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &bittorrent::PROTOCOL,
    &direct_connect::PROTOCOL,
    &dropbox::PROTOCOL,
    &edonkey::PROTOCOL,
    &gnutella::PROTOCOL,
    &libp2p::PROTOCOL,
    &resilio::PROTOCOL,
    &syncthing::PROTOCOL,
];
