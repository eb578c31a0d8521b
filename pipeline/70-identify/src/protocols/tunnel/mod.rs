//! What carries others.

mod alicloud;
mod teredo;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&alicloud::PROTOCOL, &teredo::PROTOCOL];
