//! Names, addresses, neighbours.

mod dhcp;
mod dhcpv6;
mod dns;
mod llmnr;
mod mdns;
mod message;
mod netbios;
mod slp;
mod ssdp;
mod whois;
mod ws_discovery;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &dhcp::PROTOCOL,
    &dhcpv6::PROTOCOL,
    &dns::PROTOCOL,
    &llmnr::PROTOCOL,
    &mdns::PROTOCOL,
    &netbios::PROTOCOL,
    &slp::PROTOCOL,
    &ssdp::PROTOCOL,
    &whois::PROTOCOL,
    &ws_discovery::PROTOCOL,
];
