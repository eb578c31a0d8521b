//! Coins and ledgers.

mod bitcoin;
mod stratum;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&bitcoin::PROTOCOL, &stratum::PROTOCOL];
