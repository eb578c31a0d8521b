//! Peers without servers.

mod bittorrent;
mod gnutella;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&bittorrent::PROTOCOL, &gnutella::PROTOCOL];
