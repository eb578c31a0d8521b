//! Stages with a clock around each call.

use crate::worker::stages::{Stages, StagesReport};
use flowpin_cpu::tsc;
use flowpin_flow::{Event, FlowObserver, Sighting, Table};
use flowpin_packet::{FrameBytes, PacketMeta, Timestamp, TunnelKind};
use flowpin_portscan::Summary;
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};

/// Measures the stages after the connection table, while `on`.
#[derive(Debug)]
pub(super) struct Watched<O> {
    pub(super) stages: O,
    pub(super) on: bool,
    pub(super) cycles: u64,
    pub(super) calls: u64,
}

impl<O> Watched<O> {
    pub(super) const fn new(stages: O) -> Self {
        Self {
            stages,
            on: false,
            cycles: 0,
            calls: 0,
        }
    }

    #[inline]
    fn watch<T>(&mut self, call: impl FnOnce(&mut O) -> T) -> T {
        if !self.on {
            return call(&mut self.stages);
        }
        let start = tsc();
        let answer = call(&mut self.stages);
        self.cycles += tsc().wrapping_sub(start);
        self.calls += 1;
        answer
    }
}

/// Ticks between two readings of the clock with nothing between them.
pub(super) fn clock_cost() -> f64 {
    const READINGS: u32 = 1000;
    let least = |_| {
        let start = tsc();
        let end = tsc();
        end.wrapping_sub(start)
    };
    let sum: u64 = (0..READINGS).map(least).sum();
    #[expect(clippy::cast_precision_loss, reason = "some thousand ticks")]
    let sum = sum as f64;
    sum / f64::from(READINGS)
}

impl<O: Stages> Stages for Watched<O> {
    fn tick(&mut self, now: Timestamp) -> Option<Summary> {
        self.stages.tick(now)
    }

    fn last_tick(&mut self) -> Option<Summary> {
        self.stages.last_tick()
    }

    fn report(&self) -> StagesReport {
        self.stages.report()
    }
}

impl<O: FlowObserver> FlowObserver for Watched<O> {
    const OBSERVES: bool = O::OBSERVES;

    #[inline]
    fn prefetch(&self, handle: u32) {
        self.stages.prefetch(handle);
    }

    #[inline]
    fn packet_fast(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        event: Event,
        place: (u32, bool),
    ) -> bool {
        self.watch(|stages| stages.packet_fast(frames, meta, event, place))
    }

    fn ignores(&mut self, frames: &FrameBytes<'_>, meta: &PacketMeta, place: (u32, bool)) -> bool {
        self.stages.ignores(frames, meta, place)
    }

    fn reopened(&mut self) -> Option<bool> {
        self.stages.reopened()
    }

    #[inline]
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        self.watch(|stages| stages.packet(sighting, sink));
    }

    #[inline]
    fn settle<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        self.watch(|stages| stages.settle(table, frames, sink));
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        self.watch(|stages| stages.ended(handle, record, key, sink));
    }

    fn goes_on(&mut self, handle: u32, record: &mut ConnRecord) {
        self.stages.goes_on(handle, record);
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.stages.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.stages.tunnel(frames, meta)
    }
}
