//! Encrypted by itself.

mod dtls;
mod ike;
mod openvpn;
mod quic;
mod tinc;
mod tls;
mod wireguard;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &dtls::PROTOCOL,
    &ike::PROTOCOL,
    &openvpn::PROTOCOL,
    &quic::PROTOCOL,
    &tinc::PROTOCOL,
    &tls::PROTOCOL,
    &wireguard::PROTOCOL,
];
