//! What observes the connection table: all stages, and what each knew before and after a packet.

use super::account::{ConnectionView, EndView, InspectChange, StreamsEnd, StreamsView};
use super::later::Later;
use super::look::changes;
use crate::tools::wanted::Wanted;
use crate::worker::stages::{AllStages, IdentifyStats, ParseStats, ScanView, Stages, StagesReport};
use flowpin_counters::Losses;
use flowpin_flow::{Event, FlowObserver, Sighting, Table};
use flowpin_packet::{FrameBytes, PacketKind, PacketMeta, Timestamp, TunnelKind};
use flowpin_portscan::Summary;
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};
use std::collections::{BTreeMap, HashMap};

/// The stages of a run, and what they make of the packets that are explained.
///
/// Such packets take the slow path of each stage, where there are more calls to look between. A
/// property test of each stage says that it decides the same as the fast path.
pub(super) struct Observer {
    pub(super) all: AllStages,
    community_seed: u16,
    /// The connections that are followed; none if one is looked for by a packet's number.
    wanted: Option<Wanted>,
    /// The uids of those that are open, by handle.
    open: HashMap<u32, u64>,
    /// Those that were met, by uid.
    pub(super) connections: BTreeMap<u64, Followed>,
    /// More than [`CONNECTIONS_MAX`]: not followed.
    pub(super) left_out: u64,
    /// What the packet at hand did.
    pub(super) seen: Option<Seen>,
    /// Connections that ended since the packet at hand began.
    pub(super) ended: Vec<EndView>,
    pub(super) ignored: bool,
    /// A packet is being handled.
    is_inside: bool,
    /// It is explained, whatever its connection.
    is_asked: bool,
}

/// A connection that is followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Followed {
    /// The record that it would have had after its last packet.
    pub(super) record: Option<ConnRecord>,
    pub(super) packets: u64,
    pub(super) later: Later,
    pub(super) had_parser: bool,
    pub(super) end: Option<EndView>,
    pub(super) streams_end: StreamsEnd,
}

/// What a packet did.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) handle: u32,
    pub(super) kind: PacketKind,
    pub(super) uid: Uid,
    pub(super) connection: Option<ConnectionView>,
    pub(super) streams: Option<StreamsView>,
    pub(super) scans: Option<ScanView>,
    pub(super) inspect: Option<InspectChange>,
    pub(super) stats: Option<(IdentifyStats, ParseStats)>,
    pub(super) event: Event,
    pub(super) to_server: bool,
}

impl Observer {
    pub(super) fn new(all: AllStages, wanted: Option<Wanted>, community_seed: u16) -> Self {
        Self {
            all,
            community_seed,
            wanted,
            open: HashMap::new(),
            connections: BTreeMap::new(),
            left_out: 0,
            seen: None,
            ended: Vec::new(),
            ignored: false,
            is_inside: false,
            is_asked: false,
        }
    }

    /// A packet is about to be handled; whether it is explained, whatever its connection.
    pub(super) fn begin_packet(&mut self, is_asked: bool) {
        (self.seen, self.ignored) = (None, false);
        (self.is_inside, self.is_asked) = (true, is_asked);
        self.ended.clear();
    }

    /// What the packet did that was handled last, if it is explained.
    pub(super) fn end_packet(&mut self) -> Option<Seen> {
        (self.is_inside, self.is_asked) = (false, false);
        self.seen.take()
    }

    /// The first packet of a connection: whether it is the one.
    fn meet(&mut self, sighting: &Sighting<'_>) {
        // The handle means another connection now.
        self.open.remove(&sighting.handle);
        let seed = self.community_seed;
        if self
            .wanted
            .is_some_and(|wanted| wanted.names(sighting, seed))
        {
            if self.connections.len() >= CONNECTIONS_MAX {
                self.left_out += 1;
                return;
            }
            let uid = sighting.uid().0;
            self.open.insert(sighting.handle, uid);
            self.connections.insert(uid, Followed::default());
        }
    }

    /// The end of a connection that is followed: what reassembly and parsers make of what is left.
    fn end_followed<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        let messages = |all: &AllStages| all.inspect_stats().map_or(0, |(_, parse)| parse.messages);
        let streams = self.all.streams(handle);
        let (stats, reported) = (self.all.stream_stats(), messages(&self.all));
        self.all.ended(handle, record, key, sink);
        let now = (self.all.stream_stats(), messages(&self.all));
        let Some(followed) = self.connections.get_mut(&record.uid.0) else {
            return;
        };
        followed.end = Some(EndView {
            key,
            record: *record,
        });
        followed.later.end(now.1.saturating_sub(reported));
        if let (Some(stats), Some(now), Some(streams)) = (stats, now.0, streams)
            && record.protocol == TCP
        {
            followed.streams_end = StreamsEnd {
                held: streams.map(|one| one.held_bytes),
                counters: changes(&now, &stats),
            };
        }
    }
}

impl Stages for Observer {
    fn tick(&mut self, now: Timestamp) -> Option<Summary> {
        self.all.tick(now)
    }

    fn last_tick(&mut self) -> Option<Summary> {
        self.all.last_tick()
    }

    fn losses(&self) -> Losses {
        self.all.losses()
    }

    fn report(&self) -> StagesReport {
        self.all.report()
    }
}

impl FlowObserver for Observer {
    fn packet_fast(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        event: Event,
        place: (u32, bool),
    ) -> bool {
        let is_explained = self.open.contains_key(&place.0) || self.is_asked;
        !is_explained && self.all.packet_fast(frames, meta, event, place)
    }

    fn ignores(&mut self, frames: &FrameBytes<'_>, meta: &PacketMeta, place: (u32, bool)) -> bool {
        let ignores = self.all.ignores(frames, meta, place);
        self.ignored |= ignores;
        ignores
    }

    fn reopened(&mut self) -> Option<bool> {
        let reopened = self.all.reopened();
        if let (Some(seen), Some(_)) = (&mut self.seen, reopened)
            && let Some(connection) = &mut seen.connection
        {
            connection.reopened = reopened;
        }
        reopened
    }

    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        if sighting.event == Event::New {
            self.meet(sighting);
        }
        let uid = self.open.get(&sighting.handle);
        if uid.is_none() && !self.is_asked {
            return self.all.packet(sighting, sink);
        }
        let followed = uid.and_then(|uid| self.connections.get(uid));
        let before = followed.and_then(|one| one.record);
        self.watch(sighting, sink);
        let table = sighting.table();
        let after = table.record_of(sighting.handle);
        if let (Some(seen), Some(after)) = (&mut self.seen, after) {
            seen.connection = Some(ConnectionView {
                event: sighting.event,
                to_server: sighting.to_server,
                before,
                after,
                lifetime: None,
                is_ignored: self.ignored,
                reopened: None,
            });
        }
    }

    fn settle<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        self.all.settle(table, frames, sink);
        self.note(table);
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        if self.open.get(&handle) == Some(&record.uid.0) {
            self.open.remove(&handle);
            self.end_followed(handle, record, key, sink);
        } else {
            self.all.ended(handle, record, key, sink);
        }
        if self.is_inside {
            self.ended.push(EndView {
                key,
                record: *record,
            });
        }
    }

    fn goes_on(&mut self, handle: u32, record: &mut ConnRecord) {
        self.all.goes_on(handle, record);
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.all.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.all.tunnel(frames, meta)
    }
}

const TCP: u8 = 6;

/// Connections of one Community ID that are followed.
const CONNECTIONS_MAX: usize = 10_000;
