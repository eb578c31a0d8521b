//! What the table asks of, and tells to, those around it.

use crate::Table;
use crate::record::Parts;
use flowpin_packet::{Endpoints, FrameBytes, PacketMeta};
use flowpin_record::{ConnRecord, RecordEndpoint, RecordKey, RecordSink, TunnelKind, Uid};

/// No VLAN, in records.
pub const NO_VLAN: u16 = 0xffff;

/// Steps of [`FlowObserver::prefetch_more`].
pub const STEPS: u8 = 2;

/// Told of every packet and the connection it belongs to; asked, for the first packet of a
/// connection, what only dispatch knows.
///
/// `()` wants nothing and knows nothing, and costs nothing.
pub trait FlowObserver {
    /// Whether [`FlowObserver::packet`] and [`FlowObserver::ended`] do anything; without it the
    /// calls are compiled out.
    const OBSERVES: bool = true;

    /// A packet of the connection with this handle will be told of soon: time to ask for what is
    /// kept of it. The handle may be any number.
    #[inline]
    fn prefetch(&self, handle: u32) {
        let _ = handle;
    }

    /// What was asked for of a connection that is about to end has come: time to ask for what that
    /// leads to, in [`STEPS`] steps, each some connections after the one before. The handle may be
    /// any number.
    #[inline]
    fn prefetch_more(&self, handle: u32, step: u8) {
        let _ = (handle, step);
    }

    /// A packet was counted that is simply the next one ([`Event::Plain`]), or is but for being the
    /// first of its kind in its direction: data, an acknowledgement ([`Event::Ongoing`]). False if
    /// [`FlowObserver::packet`] is to be told of it, too: what few ask about is not looked up.
    #[inline]
    fn packet_fast(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        event: Event,
        (handle, to_server): (u32, bool),
    ) -> bool {
        let _ = (frames, meta, event, handle, to_server);
        false
    }

    /// Whether the receiver of a segment drops it: then it counts, and ends nothing, and what it
    /// acknowledges need not have come. Asked before the packet is told of, of RSTs, of FINs, and
    /// of what acknowledges bytes that were not seen; of a FIN then once more, without the flag.
    #[inline]
    fn ignores(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        (handle, to_server): (u32, bool),
    ) -> bool {
        let _ = (frames, meta, handle, to_server);
        false
    }

    /// Whether the packet that was told of last shows that a stream goes on which a FIN or RST had
    /// closed, and which: the one to the server, or the one to the client. Asked of connections
    /// that are closed, in part at least.
    #[inline]
    fn reopened(&mut self) -> Option<bool> {
        None
    }

    /// A packet was counted on a connection.
    #[inline]
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        let _ = (sighting, sink);
    }

    /// Whatever was put off is due: the bytes of the packets told of since the last call are about
    /// to go, or a record of a connection is about to be made. Between two calls no connection
    /// ends.
    #[inline]
    fn settle<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        let _ = (table, frames, sink);
    }

    /// A connection has ended: no more packets of it come, and its handle may soon mean another
    /// one. Its record is about to be handed out, under `key`.
    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        let _ = (handle, record, key, sink);
    }

    /// An interim record of a connection is about to be handed out.
    fn goes_on(&mut self, handle: u32, record: &mut ConnRecord) {
        let _ = (handle, record);
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
#[derive(Clone, Copy)]
pub struct Sighting<'a> {
    /// Where the packet's bytes are.
    pub frames: FrameBytes<'a>,
    /// The packet.
    pub meta: &'a PacketMeta,
    /// The connection's place in this table: unique among those that are open, below
    /// [`crate::Table::capacity`].
    pub handle: u32,
    /// Whether it travels from the client to the server; for an ICMP error: the packet that it
    /// quotes.
    pub to_server: bool,
    /// What it did.
    pub event: Event,
    /// Its number in its direction, if that is 8 or a multiple of 256. Begins anew once a direction
    /// has had 4 GiB.
    pub milestone: Option<u32>,
    // PERF: what is asked of the connection is looked up when it is: most packets ask nothing.
    pub(crate) table: &'a Table,
}

impl<'a> Sighting<'a> {
    /// Where any open connection can be asked for.
    #[inline]
    pub const fn table(&self) -> &'a Table {
        self.table
    }

    /// The connection's identifier, the same as in its record. Computed when asked for.
    pub fn uid(&self) -> Uid {
        self.table.uid(self.handle)
    }

    /// Packets so far in this one's direction and in the other, this one included.
    #[inline]
    pub fn packets(&self) -> (u64, u64) {
        let Parts { hot, extra, .. } = self.table.parts(self.handle);
        let mine = usize::from(self.to_server) ^ hot.client() ^ 1;
        let all = |side: usize| {
            let spilled = extra.map_or(0, |extra| extra.packets[side & 1]);
            u64::from(hot.packets[side & 1]) + spilled
        };
        (all(mine), all(mine ^ 1))
    }

    /// The addresses of the client and of the server: 16 bytes each, IPv4 in the first four.
    // PERF: inlined, so that addresses are not stored in parts and read as a whole.
    #[inline]
    pub fn endpoints(&self) -> ([u8; 16], [u8; 16]) {
        let Parts { hot, addresses, .. } = self.table.parts(self.handle);
        let Endpoints { low, high } = match addresses {
            Some(stored) => stored.endpoints,
            None => self.frames.endpoints(self.meta),
        };
        // PERF: as numbers, which are chosen in registers: as arrays they are stored in parts to
        // be read as a whole, which waits (80 cycles).
        let (low, high) = (u128::from_le_bytes(low), u128::from_le_bytes(high));
        let (client, server) = if hot.client() == 0 {
            (low, high)
        } else {
            (high, low)
        };
        (client.to_le_bytes(), server.to_le_bytes())
    }

    /// The ports of the client and of the server; for other protocols what stands in their place.
    #[inline]
    pub fn ports(&self) -> (u16, u16) {
        self.table.ports_of(self.handle)
    }
}

impl Table {
    /// Who talks on a connection that is open: its identifier, protocol, client and server, as in
    /// its record (but for ICMP's types). The same from its first packet to its end.
    pub fn peers_of(&self, handle: u32) -> Peers {
        let parts = self.parts(handle);
        let (client, server) = parts.sides();
        Peers {
            uid: self.uid(handle),
            protocol: parts.protocol(),
            client,
            server,
        }
    }

    /// As [`Sighting::ports`], of any connection that is open.
    #[inline]
    pub fn ports_of(&self, handle: u32) -> (u16, u16) {
        let hot = self.parts(handle).hot;
        let (low, high) = hot.key.ports();
        if hot.client() == 0 {
            (low, high)
        } else {
            (high, low)
        }
    }
}

/// Who talks on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peers {
    /// The connection's identifier.
    pub uid: Uid,
    /// IP protocol number.
    pub protocol: u8,
    /// Who opened it.
    pub client: RecordEndpoint,
    /// The other side.
    pub server: RecordEndpoint,
}

/// What a packet did to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It began it.
    New,
    /// It belongs to one that there was.
    Ongoing,
    /// As [`Event::Ongoing`], and it is simply the next one: data in order, an acknowledgement or
    /// a datagram as there were others before, and no [milestone](Sighting::milestone).
    Plain,
    /// It is an ICMP error that quotes a packet of it; not counted as a packet.
    IcmpError,
}
