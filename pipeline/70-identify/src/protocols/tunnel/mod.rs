//! What carries others.

mod teredo;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&teredo::PROTOCOL];
