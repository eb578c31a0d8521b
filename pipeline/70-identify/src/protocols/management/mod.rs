//! Watching and steering devices.

mod capwap;
mod gtp;
mod nat_pmp;
mod openflow;
mod pfcp;
mod pptp;
mod rmcp;
mod tzsp;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &capwap::PROTOCOL,
    &gtp::PROTOCOL,
    &nat_pmp::PROTOCOL,
    &openflow::PROTOCOL,
    &pfcp::PROTOCOL,
    &pptp::PROTOCOL,
    &rmcp::PROTOCOL,
    &tzsp::PROTOCOL,
];
