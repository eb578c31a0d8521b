//! Games.

mod discord;
mod raknet;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&discord::PROTOCOL, &raknet::PROTOCOL];
