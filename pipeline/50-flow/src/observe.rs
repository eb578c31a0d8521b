//! The interface between the table and the stages after it.

use crate::Table;
use crate::record::Parts;
use flowpin_packet::{Endpoints, FrameBytes, InterfaceId, PacketMeta, TunnelKind};
use flowpin_record::{ConnRecord, RecordEndpoint, RecordKey, RecordSink, Uid};

/// The value for "no VLAN" in records.
pub const NO_VLAN: u16 = 0xffff;

/// Number of steps of [`FlowObserver::prefetch_more`].
pub const STEPS: u8 = 2;

/// Receives every packet together with its connection, and answers questions about the first packet
/// of a connection that only dispatch can answer.
///
/// The implementation for `()` does nothing and costs nothing.
pub trait FlowObserver {
    /// Whether [`FlowObserver::packet`] and [`FlowObserver::ended`] do anything. If false, the
    /// calls are compiled out.
    const OBSERVES: bool = true;

    /// Announces a packet of the connection with this handle: prefetch the state kept for it. The
    /// handle may be any number.
    #[inline]
    fn prefetch(&self, handle: u32) {
        let _ = handle;
    }

    /// The lines prefetched for a connection that is about to end have arrived: prefetch what they
    /// point to, in [`STEPS`] steps, each some connections after the one before. The handle may be
    /// any number.
    #[inline]
    fn prefetch_more(&self, handle: u32, step: u8) {
        let _ = (handle, step);
    }

    /// The fast path: a packet was counted that is the expected next one ([`Event::Plain`]), or
    /// that differs from it only in being the first of its kind in its direction: data, an
    /// acknowledgement ([`Event::Ongoing`]). Returns false if the observer needs
    /// [`FlowObserver::packet`] as well: so rarely needed fields are not computed.
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

    /// Whether the receiver of a segment drops it. Such a segment is counted and ends nothing, and
    /// what it acknowledges need not have arrived. Called before the packet is reported, for RSTs,
    /// for FINs, and for segments that acknowledge bytes that were not seen; for a FIN then once
    /// more, without the flag.
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

    /// Whether the packet reported last shows that a stream continues which a FIN or RST had
    /// closed, and which stream: to the server (true) or to the client. Called for connections that
    /// are closed, at least in part.
    #[inline]
    fn reopened(&mut self) -> Option<bool> {
        None
    }

    /// A packet was counted on a connection.
    #[inline]
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        let _ = (sighting, sink);
    }

    /// Everything deferred is due: the bytes of the packets reported since the last call are about
    /// to become invalid, or a record of a connection is about to be made. No connection ends
    /// between two calls.
    #[inline]
    fn settle<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        let _ = (table, frames, sink);
    }

    /// After [`FlowObserver::settle`]: none if nothing is deferred any more. Otherwise it stopped
    /// because the sink [has no room](RecordSink::is_full), or because what follows may cause many
    /// records: the key before which all records are given, except those of connections that are
    /// due by then.
    #[inline]
    fn deferred_from(&self) -> Option<RecordKey> {
        None
    }

    /// A connection has ended: it gets no more packets, and its handle may soon be reused. Its
    /// record is about to be written, under `key`.
    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        let _ = (handle, record, key, sink);
    }

    /// An interim record of a connection is about to be written.
    fn goes_on(&mut self, handle: u32, record: &mut ConnRecord) {
        let _ = (handle, record);
    }

    /// The VLANs around a packet whose flags say that it is tagged, outermost first.
    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        let _ = (frames, meta);
        [NO_VLAN; 2]
    }

    /// The innermost tunnel around a packet whose flags say that it is tunnelled.
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
    /// The packet's bytes.
    pub frames: FrameBytes<'a>,
    /// The packet.
    pub meta: &'a PacketMeta,
    /// The handle of the connection in this table: unique among open connections, below
    /// [`crate::Table::capacity`].
    pub handle: u32,
    /// Whether it travels from the client to the server; for an ICMP error, whether the quoted
    /// packet does.
    pub to_server: bool,
    /// Its effect on the connection.
    pub event: Event,
    /// Its number in its direction, if that is 8 or a multiple of 256. Starts again after 4 GiB in
    /// a direction.
    pub milestone: Option<u32>,
    // PERF: facts about the connection are looked up on demand: most packets need none.
    pub(crate) table: &'a Table,
}

impl<'a> Sighting<'a> {
    /// The table, to look up any open connection.
    #[inline]
    pub const fn table(&self) -> &'a Table {
        self.table
    }

    /// The connection's identifier, as in its record. Computed on each call.
    pub fn uid(&self) -> Uid {
        self.table.uid(self.handle)
    }

    /// Packets so far in this packet's direction and in the other, including this one.
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
    // PERF: inlined, so that addresses are not stored in parts and then read as a whole.
    #[inline]
    pub fn endpoints(&self) -> ([u8; 16], [u8; 16]) {
        let Parts { hot, addresses, .. } = self.table.parts(self.handle);
        let Endpoints { low, high } = match addresses {
            Some(stored) => stored.endpoints,
            None => self.frames.endpoints(self.meta),
        };
        // PERF: as numbers, which are selected in registers. As arrays they are stored in parts and
        // read as a whole, which stalls (80 cycles).
        let (low, high) = (u128::from_le_bytes(low), u128::from_le_bytes(high));
        let (client, server) = if hot.client() == 0 {
            (low, high)
        } else {
            (high, low)
        };
        (client.to_le_bytes(), server.to_le_bytes())
    }

    /// The ports of the client and of the server; for other protocols the values in their place.
    #[inline]
    pub fn ports(&self) -> (u16, u16) {
        self.table.ports_of(self.handle)
    }
}

impl Table {
    /// The endpoints of an open connection: its identifier, protocol, client and server, as in its
    /// record. The same from its first packet to its end.
    pub fn peers_of(&self, handle: u32) -> Peers {
        let (protocol, client, server) = self.ends_of(handle);
        let cold = self.parts(handle).cold;
        Peers {
            uid: self.uid(handle),
            protocol,
            client,
            server,
            vlans: cold.vlans,
            interface: cold.interims.interface(),
        }
    }

    /// The IP protocol number of an open connection, its client and its server, as in its record.
    pub fn ends_of(&self, handle: u32) -> (u8, RecordEndpoint, RecordEndpoint) {
        let parts = self.parts(handle);
        let protocol = parts.protocol();
        let (client, server, _) = parts.sides_of(protocol);
        (protocol, client, server)
    }

    /// As [`Sighting::ports`], for any open connection.
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

/// The endpoints of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peers {
    /// The connection's identifier.
    pub uid: Uid,
    /// IP protocol number.
    pub protocol: u8,
    /// The side that opened the connection.
    pub client: RecordEndpoint,
    /// The other side.
    pub server: RecordEndpoint,
    /// The VLANs of its first packet, outermost first; 0xffff where there is none.
    pub vlans: [u16; 2],
    /// The interface that its first packet came by.
    pub interface: InterfaceId,
}

/// The effect of a packet on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It began the connection.
    New,
    /// It belongs to an existing connection.
    Ongoing,
    /// As [`Event::Ongoing`], and it is the expected next packet: data in order, an acknowledgement
    /// or a datagram like others before it, and no [milestone](Sighting::milestone).
    Plain,
    /// It is an ICMP error that quotes a packet of the connection; it is not counted as a packet.
    IcmpError,
}
