//! Routes, and routers that stand in for each other.

mod babel;
mod bfd;
mod bgp;
mod cpha;
mod hsrp;
mod ldp;
mod lisp;
mod lsp_ping;
mod olsr;
mod rip;
mod wccp;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &babel::PROTOCOL,
    &bfd::PROTOCOL,
    &bgp::PROTOCOL,
    &cpha::PROTOCOL,
    &hsrp::PROTOCOL,
    &ldp::PROTOCOL,
    &lisp::PROTOCOL,
    &lsp_ping::PROTOCOL,
    &olsr::PROTOCOL,
    &rip::PROTOCOL,
    &wccp::PROTOCOL,
];
