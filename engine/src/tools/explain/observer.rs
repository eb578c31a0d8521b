//! What observes the connection table: all stages, and what each knew before and after a packet.

use super::account::{ConnectionView, EndView, InspectChange, StreamsView};
use crate::tools::wanted::Wanted;
use crate::worker::stages::{AllStages, IdentifyStats, ParseStats, ScanView, Stages, StagesReport};
use flowpin_counters::Losses;
use flowpin_flow::{Event, FlowObserver, Sighting, Table};
use flowpin_packet::{FrameBytes, PacketKind, PacketMeta, Timestamp, TunnelKind};
use flowpin_portscan::Summary;
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};

/// The stages of a run, and what they make of the packets that are explained.
///
/// Such packets take the slow path of each stage, where there are more calls to look between. A
/// property test of each stage says that it decides the same as the fast path.
pub(super) struct Observer {
    pub(super) all: AllStages,
    community_seed: u16,
    /// The connection that is followed; none if it is looked for by a packet's number.
    wanted: Option<Wanted>,
    /// Its handle, as long as it is open, and the record that it would have had.
    pub(super) followed: Option<Followed>,
    /// What the packet at hand did.
    pub(super) seen: Option<Seen>,
    /// Connections that ended since the packet at hand began.
    pub(super) ended: Vec<EndView>,
    /// The end of the connection that is followed.
    pub(super) end: Option<EndView>,
    pub(super) ignored: bool,
    /// A packet is being handled.
    is_inside: bool,
    /// It is explained, whatever its connection.
    is_asked: bool,
}

/// The connection that is followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    pub(super) handle: u32,
    pub(super) uid: Uid,
    /// The record that it would have had after its last packet, and before the one at hand.
    pub(super) last: Option<ConnRecord>,
    pub(super) before: Option<ConnRecord>,
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
    pub(super) const fn new(all: AllStages, wanted: Option<Wanted>, community_seed: u16) -> Self {
        Self {
            all,
            community_seed,
            wanted,
            followed: None,
            seen: None,
            ended: Vec::new(),
            end: None,
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
        if let Some(followed) = &mut self.followed {
            followed.before = followed.last;
        }
    }

    /// What the packet did that was handled last, if it is explained.
    pub(super) fn end_packet(&mut self) -> Option<Seen> {
        (self.is_inside, self.is_asked) = (false, false);
        self.seen.take()
    }

    /// The connection that is followed, as far as it has come, or at its end.
    pub(super) fn record(&self) -> Option<ConnRecord> {
        let open = self.followed.and_then(|one| one.last);
        open.or(self.end.map(|end| end.record))
    }

    /// The first packet of a connection: whether it is the one.
    fn meet(&mut self, sighting: &Sighting<'_>) {
        if self
            .followed
            .is_some_and(|one| one.handle == sighting.handle)
        {
            // The handle means another connection now.
            self.followed = None;
        }
        let seed = self.community_seed;
        if self
            .wanted
            .is_some_and(|wanted| wanted.names(sighting, seed))
        {
            self.followed = Some(Followed {
                handle: sighting.handle,
                uid: sighting.uid(),
                last: None,
                before: None,
            });
        }
    }

    fn is_followed(&self, handle: u32) -> bool {
        self.followed.is_some_and(|one| one.handle == handle)
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
        let is_explained = self.is_followed(place.0) || self.is_asked;
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
        let followed = self.followed.filter(|one| one.handle == sighting.handle);
        if followed.is_none() && !self.is_asked {
            return self.all.packet(sighting, sink);
        }
        self.watch(sighting, sink);
        let table = sighting.table();
        let after = table.record_of(sighting.handle);
        if let (Some(seen), Some(after)) = (&mut self.seen, after) {
            seen.connection = Some(ConnectionView {
                event: sighting.event,
                to_server: sighting.to_server,
                before: followed.and_then(|one| one.before),
                after,
                deadline: Timestamp(0),
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
        self.all.ended(handle, record, key, sink);
        let end = EndView {
            key,
            record: *record,
        };
        if self.is_inside {
            self.ended.push(end);
        }
        if self.followed.is_some_and(|one| one.uid == record.uid) {
            self.end = Some(end);
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
