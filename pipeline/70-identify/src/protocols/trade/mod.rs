//! Money and health.

mod fix;
mod hl7;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&fix::PROTOCOL, &hl7::PROTOCOL];
