//! Screens and shells from afar.

mod ssh;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&ssh::PROTOCOL];
