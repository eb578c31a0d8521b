//! Encrypted by itself.

mod dtls;
mod quic;
mod tls;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&dtls::PROTOCOL, &quic::PROTOCOL, &tls::PROTOCOL];
