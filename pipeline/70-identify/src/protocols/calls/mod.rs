//! Telephony.

mod h323;
mod iax2;
mod megaco;
mod mgcp;
mod sap;
mod skinny;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &h323::PROTOCOL,
    &iax2::PROTOCOL,
    &megaco::PROTOCOL,
    &mgcp::PROTOCOL,
    &sap::PROTOCOL,
    &skinny::PROTOCOL,
];
