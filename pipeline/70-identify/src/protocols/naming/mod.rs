//! Names, addresses, neighbours.

mod dns;
mod message;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&dns::PROTOCOL];
