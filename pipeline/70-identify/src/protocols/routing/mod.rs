//! Routes, and routers that stand in for each other.

mod bgp;
mod cpha;
mod hsrp;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&bgp::PROTOCOL, &cpha::PROTOCOL, &hsrp::PROTOCOL];
