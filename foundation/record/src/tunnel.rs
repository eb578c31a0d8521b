//! Tunnels that were peeled off: what each one carried.

use crate::Uid;
use core::net::IpAddr;
use flowpin_packet::{Timestamp, TunnelKind};

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
