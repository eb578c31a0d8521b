//! Makes room in a shard whose memory is used up.
//!
//! The stalest sixteenth of the shard is evicted, ordered by (time since which it is idle, first
//! packet): a total order that depends neither on the secret, nor on other shards, nor on the times
//! of ticks. Granules that have passed were collected before the packet ([`Table::process`]), so
//! stream time alone decides which connections exist.

use super::deferred::need_of;
use super::{Arrival, Cause, Table};
use crate::entry::Handle;
use crate::observe::FlowObserver;
use flowpin_counters::Loss;
use flowpin_packet::{FrameBytes, PacketMeta, Shard, Timestamp};
use flowpin_record::{EndReason, RecordSink};

/// The share of a full shard that is evicted at once.
const SHARE: usize = 16;

impl Table {
    /// Takes `bytes` of a shard, evicting if it has less left; `keep` is not evicted. False if that
    /// is impossible.
    #[inline]
    pub(super) fn take_room<S: RecordSink, O: FlowObserver>(
        &mut self,
        hash: u32,
        bytes: u64,
        keep: Handle,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> bool {
        if self.budget.take(Shard::of_hash(hash).0, bytes) {
            return true;
        }
        self.settle(cause.frames, sink, observer);
        let shard = Shard::of_hash(hash);
        self.evict_until(shard, bytes, keep, cause, sink, observer);
        self.budget.take(shard.0, bytes)
    }

    /// Before a packet whose shard may not have enough left for it: decides what is evicted, on the
    /// exact state. False if the packet may still take more than is left, and so must not wait.
    #[cold]
    #[inline(never)]
    pub(super) fn make_way<S: RecordSink, O: FlowObserver>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        sink: &mut S,
        observer: &mut O,
    ) -> bool {
        self.settle(frames, sink, observer);
        self.deferred.clear();
        self.relieve(meta.stream_time, meta.number, sink, observer);
        let shard = meta.shard();
        if !self.deferred.admits(meta, &self.budget) {
            let side = usize::from(meta.high_to_low());
            let arrival = Arrival { frames, meta, side };
            let mut cause = Cause {
                ordinal: FIRST_ORDINAL,
                ..Cause::of(&arrival)
            };
            let keep = self.find(frames, meta);
            let most = self.budget.shard_bytes() / RESERVE_SHARE;
            let bytes = u64::from(need_of(meta)).min(most);
            self.evict_until(shard, bytes, keep, &mut cause, sink, observer);
        }
        u64::from(need_of(meta)) <= self.budget.left(shard.0)
    }

    /// Evicts until a shard has `bytes` left, or no connection but `keep`.
    #[cold]
    #[inline(never)]
    fn evict_until<S: RecordSink, O: FlowObserver>(
        &mut self,
        shard: Shard,
        bytes: u64,
        keep: Handle,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) {
        while self.budget.left(shard.0) < bytes && self.evict(shard, keep, cause, sink, observer) {}
    }

    /// Evicts the stalest sixteenth of a shard, one connection at least; false if there is none.
    fn evict<S: RecordSink, O: FlowObserver>(
        &mut self,
        shard: Shard,
        keep: Handle,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> bool {
        let mut stale = core::mem::take(&mut self.scratch);
        stale.clear();
        let mut ahead = self.index.handles(shard);
        for handle in ahead.by_ref().take(AHEAD) {
            self.prefetch_age(handle);
        }
        for handle in self.index.handles(shard).filter(|&handle| handle != keep) {
            if let Some(coming) = ahead.next() {
                self.prefetch_age(coming);
            }
            stale.push((self.hot[handle].since, handle));
        }
        drop(ahead);
        let count = (stale.len() / SHARE).max(1).min(stale.len());
        if let Some(last) = count.checked_sub(1) {
            let by_age = |left: &(Timestamp, Handle), right: &(Timestamp, Handle)| {
                let first = |handle| self.cold[handle].first_packet;
                left.0
                    .cmp(&right.0)
                    .then_with(|| first(left.1).cmp(&first(right.1)))
            };
            stale.select_nth_unstable_by(last, by_age);
            stale.truncate(count);
            stale.sort_unstable_by(by_age);
        }
        for (nth, &(_, handle)) in stale.iter().enumerate() {
            if let Some(&(_, coming)) = stale.get(nth + AHEAD / 4) {
                self.hot.prefetch(coming);
                self.cold.prefetch(coming);
            }
            self.write_interim(handle, cause.time, sink, observer);
            self.forgotten
                .note(self.hot[handle].hash, self.cold[handle].start);
            let deadline = self.deadline(handle);
            if deadline <= cause.time {
                // Its deadline had passed anyway.
                self.end(
                    handle,
                    self.timeout_key(handle, deadline),
                    EndReason::Timeout,
                    sink,
                    observer,
                );
            } else {
                self.end(handle, cause.next_key(), EndReason::Evicted, sink, observer);
                self.counters.losses.count(Loss::ConnectionsEvicted, 1);
            }
            self.remove(handle);
        }
        let evicted = !stale.is_empty();
        self.scratch = stale;
        evicted
    }

    /// Prefetches the one line that has a connection's age.
    fn prefetch_age(&self, handle: Handle) {
        if let Some(hot) = self.hot.get(handle) {
            flowpin_cpu::prefetch::read(&hot.since);
        }
    }
}

/// Of a shard's memory, the part below which it counts as used up.
const RESERVE_SHARE: u64 = 8;

/// Ordinals of evictions before a packet is counted: after those of the connection that it begins.
const FIRST_ORDINAL: u32 = 1 << 22;

/// How many entries ahead to prefetch.
const AHEAD: usize = 32;
