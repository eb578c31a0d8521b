//! What the table asks of, and tells to, those around it.

use flowpin_packet::{FrameBytes, PacketMeta};
use flowpin_record::{TunnelKind, Uid};

/// No VLAN, in records.
pub const NO_VLAN: u16 = 0xffff;

/// Told of every packet and the connection it belongs to; asked, for the first packet of a
/// connection, what only dispatch knows.
///
/// `()` wants nothing and knows nothing, and costs nothing.
pub trait FlowObserver {
    /// Whether [`FlowObserver::packet`] does anything; without it the call is compiled out.
    const OBSERVES: bool = true;

    /// A packet was counted on a connection.
    fn packet(&mut self, sighting: &Sighting<'_>) {
        let _ = sighting;
    }

    /// The VLANs around a packet whose flags say that there are some, outermost first.
    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        let _ = (frames, meta);
        [NO_VLAN; 2]
    }

    /// The innermost tunnel around a packet whose flags say that there is one.
    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        let _ = (frames, meta);
        None
    }
}

impl FlowObserver for () {
    const OBSERVES: bool = false;
}

/// One packet and its connection.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// The packet.
    pub meta: &'a PacketMeta,
    /// The connection's identifier, the same as in its record.
    pub uid: Uid,
    /// The connection's place in this table: unique among those that are open.
    pub handle: u32,
    /// Whether it travels from the client to the server; for an ICMP error: the packet that it
    /// quotes.
    pub to_server: bool,
    /// What it did.
    pub event: Event,
}

/// What a packet did to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It began it.
    New,
    /// It belongs to one that there was.
    Ongoing,
    /// It is an ICMP error that quotes a packet of it; not counted as a packet.
    IcmpError,
}
