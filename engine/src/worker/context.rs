//! What surrounds the bytes of a connection: what caused them to be read, who sends them, and where
//! records go.

use flowpin_flow::{Peers, Table};
use flowpin_packet::{FrameBytes, InterfaceId, LinkType, Lives, PacketMeta, Stretch, Timestamp};
use flowpin_record::{ConnRecord, RecordEndpoint, RecordKey};

/// What causes records: a packet, or a connection's end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause {
    /// Capture time of the packet, or of the connection's last one.
    pub(super) time: Timestamp,
    /// Stream time and number of the key.
    pub(super) stream_time: Timestamp,
    pub(super) number: u64,
    /// Length of the packet's frame; 0 at an end.
    pub(super) frame_len: u32,
    /// Where its frame lies, and what that starts with.
    pub(super) frame: Stretch,
    pub(super) link: LinkType,
    /// The interface that it came by; at an end the connection's.
    pub(super) interface: InterfaceId,
    pub(super) is_end: bool,
    /// An end by time: its number is the connection's own. Else a packet has ended it, and may have
    /// ended others.
    pub(super) is_time_out: bool,
}

impl Cause {
    #[inline]
    pub(super) const fn of(meta: &PacketMeta) -> Self {
        Self {
            time: meta.time,
            stream_time: meta.stream_time,
            number: meta.number,
            frame_len: meta.wire_len,
            frame: FrameBytes::place(meta),
            link: meta.link,
            interface: meta.interface,
            is_end: false,
            is_time_out: false,
        }
    }

    const fn of_end(record: &ConnRecord, key: RecordKey) -> Self {
        Self {
            time: record.end,
            stream_time: key.time,
            number: key.number,
            frame_len: 0,
            frame: Stretch::EMPTY,
            link: LinkType::Unsupported,
            interface: record.interface,
            is_end: true,
            is_time_out: key.number == record.first_packet,
        }
    }
}

/// What causes records, on whose connection, and where they go.
pub(super) struct Context<'a, S> {
    pub(super) cause: Cause,
    peers: PeerSource<'a>,
    /// Where the packet lies; none at an end.
    frames: Option<&'a FrameBytes<'a>>,
    pub(super) sink: &'a mut S,
}

/// Where a connection's addresses and ports are looked up.
enum PeerSource<'a> {
    /// Those of any open connection.
    Table(&'a Table),
    /// Those of the connection at hand, which has ended.
    // PERF: read only if needed: what was just written in parts, and is read at once, waits.
    Record(&'a ConnRecord),
}

impl<'a, S> Context<'a, S> {
    /// Of a packet of an open connection.
    #[inline]
    pub(super) const fn of_packet(
        table: &'a Table,
        frames: &'a FrameBytes<'a>,
        cause: Cause,
        sink: &'a mut S,
    ) -> Self {
        Self {
            cause,
            peers: PeerSource::Table(table),
            frames: Some(frames),
            sink,
        }
    }

    /// Of a connection's end, whose record will have this key.
    pub(super) const fn of_end(record: &'a ConnRecord, key: RecordKey, sink: &'a mut S) -> Self {
        Self {
            cause: Cause::of_end(record, key),
            peers: PeerSource::Record(record),
            frames: None,
            sink,
        }
    }

    /// The captured bytes of the packet's frame; none at an end.
    pub(super) fn frame(&self) -> Option<&'a [u8]> {
        let frame = self.frames?.stretch(self.cause.frame);
        Some(frame).filter(|frame| !frame.is_empty())
    }

    /// The ports of a connection's client and server.
    pub(super) fn ports(&self, handle: u32) -> (u16, u16) {
        match self.peers {
            PeerSource::Table(table) => table.ports_of(handle),
            PeerSource::Record(record) => (record.client.port, record.server.port),
        }
    }

    /// Which connections are over; none if the one at hand ends.
    pub(super) const fn lives(&self) -> Option<Lives<'a>> {
        match self.peers {
            PeerSource::Table(table) => Some(Lives {
                of: table,
                at: self.cause.stream_time,
            }),
            PeerSource::Record(_) => None,
        }
    }

    /// The IP protocol number of a connection, its client and its server.
    // PERF: asked for with each event that rules see; who asks for all hashes an identifier, too.
    pub(super) fn ends(&self, handle: u32) -> (u8, RecordEndpoint, RecordEndpoint) {
        match self.peers {
            PeerSource::Table(table) => table.ends_of(handle),
            PeerSource::Record(record) => (record.protocol, record.client, record.server),
        }
    }

    /// A connection's identifier, client and server.
    pub(super) fn peers(&self, handle: u32) -> Peers {
        match self.peers {
            PeerSource::Table(table) => table.peers_of(handle),
            PeerSource::Record(record) => Peers {
                uid: record.uid,
                protocol: record.protocol,
                client: record.client,
                server: record.server,
                vlans: record.vlans,
                interface: record.interface,
            },
        }
    }
}
