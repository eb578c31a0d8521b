//! Encrypted by itself.

mod dnscrypt;
mod dtls;
mod ike;
mod openvpn;
mod quic;
mod tinc;
mod tls;
mod warp;
mod wireguard;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &dnscrypt::PROTOCOL,
    &dtls::PROTOCOL,
    &ike::PROTOCOL,
    &openvpn::PROTOCOL,
    &quic::PROTOCOL,
    &tinc::PROTOCOL,
    &tls::PROTOCOL,
    &warp::PROTOCOL,
    &wireguard::PROTOCOL,
];
