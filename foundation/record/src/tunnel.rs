//! Tunnels that were peeled off: what each one carried.

use crate::Uid;
use core::net::IpAddr;
use flowpin_packet::Timestamp;

/// A kind of tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TunnelKind {
    /// IPv4 or IPv6 in IP (RFC 2003, RFC 2473, RFC 4213).
    Ip,
    /// GRE (RFC 2784, RFC 2890), also with PPTP's version 1.
    Gre,
    /// ERSPAN II or III over GRE.
    Erspan,
    /// L2TP over UDP or IP (RFC 2661, RFC 3931).
    L2tp,
    /// Network Service Header (RFC 8300).
    Nsh,
    /// CAPWAP data (RFC 5415).
    Capwap,
    /// Teredo (RFC 4380).
    Teredo,
    /// VXLAN (RFC 7348), with GPE.
    Vxlan,
    /// GENEVE (RFC 8926).
    Geneve,
    /// GTP-U (3GPP TS 29.281).
    Gtpu,
    /// AYIYA.
    Ayiya,
}

impl TunnelKind {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Gre => "gre",
            Self::Erspan => "erspan",
            Self::L2tp => "l2tp",
            Self::Nsh => "nsh",
            Self::Capwap => "capwap",
            Self::Teredo => "teredo",
            Self::Vxlan => "vxlan",
            Self::Geneve => "geneve",
            Self::Gtpu => "gtpu",
            Self::Ayiya => "ayiya",
        }
    }
}

/// What one tunnel carried, summed over all workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelRecord {
    /// The tunnel's identifier: by its outer endpoints, kind and number.
    pub uid: Uid,
    /// The tunnel around this one, 0 if none.
    pub parent: Uid,
    /// What it is.
    pub kind: TunnelKind,
    /// Number inside the outer endpoints: VNI, TEID, key, session, service path.
    pub id: u32,
    /// The outer endpoints, the lower address first.
    pub addresses: (IpAddr, IpAddr),
    /// Capture time of its first packet.
    pub first: Timestamp,
    /// Capture time of its last packet.
    pub last: Timestamp,
    /// Packets inside, from the lower address, from the higher one.
    pub packets: [u64; 2],
    /// Bytes of the inner packets, likewise.
    pub bytes: [u64; 2],
}
