//! What carries others.

mod alicloud;
mod esp_udp;
mod geneve;
mod l2tp;
mod mpls_udp;
mod softether;
mod sstp;
mod tailscale;
mod teredo;
mod vtun;
mod vxlan;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &alicloud::PROTOCOL,
    &esp_udp::PROTOCOL,
    &geneve::PROTOCOL,
    &l2tp::PROTOCOL,
    &mpls_udp::PROTOCOL,
    &softether::PROTOCOL,
    &sstp::PROTOCOL,
    &tailscale::PROTOCOL,
    &teredo::PROTOCOL,
    &vtun::PROTOCOL,
    &vxlan::PROTOCOL,
];
