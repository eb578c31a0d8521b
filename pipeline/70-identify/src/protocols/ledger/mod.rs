//! Coins and ledgers.

mod bitcoin;
mod ethereum;
mod monero;
mod nano;
mod stratum;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &bitcoin::PROTOCOL,
    &ethereum::PROTOCOL,
    &monero::PROTOCOL,
    &nano::PROTOCOL,
    &stratum::PROTOCOL,
];
