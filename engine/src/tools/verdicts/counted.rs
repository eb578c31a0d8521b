//! All stages, and the connections that ended.

use crate::worker::stages::{AllStages, Stages, StagesReport};
use flowpin_flow::{FlowObserver, Sighting, Table};
use flowpin_packet::{FrameBytes, PacketMeta, TunnelKind};
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};

/// A connection that has ended.
pub(super) struct Ended {
    /// Its record's place among the records.
    pub(super) key: RecordKey,
    pub(super) record: ConnRecord,
    /// Packets that were looked at.
    pub(super) inspected: u8,
}

/// What watches the connection table of a list.
pub(super) struct Counted {
    all: AllStages,
    ended: Vec<Ended>,
}

impl Counted {
    pub(super) const fn new(all: AllStages) -> Self {
        Self {
            all,
            ended: Vec::new(),
        }
    }

    /// Those since the last time.
    pub(super) fn take(&mut self) -> Vec<Ended> {
        core::mem::take(&mut self.ended)
    }
}

impl Stages for Counted {
    fn report(&self) -> StagesReport {
        self.all.report()
    }
}

impl FlowObserver for Counted {
    #[inline]
    fn prefetch(&self, handle: u32) {
        self.all.prefetch(handle);
    }

    fn ignores(&mut self, frames: &FrameBytes<'_>, meta: &PacketMeta, place: (u32, bool)) -> bool {
        self.all.ignores(frames, meta, place)
    }

    fn reopened(&mut self) -> Option<bool> {
        self.all.reopened()
    }

    #[inline]
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        self.all.packet(sighting, sink);
    }

    fn settle<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        self.all.settle(table, frames, sink);
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        self.all.ended(handle, record, key, sink);
        self.ended.push(Ended {
            key,
            record: *record,
            inspected: self.all.inspected(handle),
        });
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.all.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.all.tunnel(frames, meta)
    }
}
