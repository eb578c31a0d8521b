//! Makes room for another connection in a full shard.
//!
//! The stalest sixteenth of the shard is evicted, ordered by (time since which it is idle, first
//! packet): a total order that depends neither on the secret, nor on other shards, nor on the times
//! of ticks. For the same reason all granules that have passed are collected first: then stream
//! time alone decides which connections exist.

use super::{Cause, Table, granule_before};
use crate::entry::Handle;
use crate::observe::FlowObserver;
use flowpin_counters::Loss;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{EndReason, RecordSink};

/// The share of a full shard that is evicted at once.
const SHARE: usize = 16;

impl Table {
    /// Makes `bytes` more available to a shard; `keep` is not evicted. False if that is impossible.
    #[inline]
    pub(super) fn make_room<S: RecordSink, O: FlowObserver>(
        &mut self,
        hash: u32,
        bytes: u64,
        keep: Handle,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> bool {
        if *self.used_mut(hash) + bytes <= self.shard_bytes {
            return true;
        }
        self.evict_until(hash, bytes, keep, cause, sink, observer)
    }

    #[cold]
    #[inline(never)]
    fn evict_until<S: RecordSink, O: FlowObserver>(
        &mut self,
        hash: u32,
        bytes: u64,
        keep: Handle,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> bool {
        self.settle(cause.frames, sink, observer);
        self.collect_until(granule_before(cause.time), sink, observer);
        while *self.used_mut(hash) + bytes > self.shard_bytes {
            if !self.evict(Shard::of_hash(hash), keep, cause, sink, observer) {
                return false;
            }
        }
        true
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

    /// Memory that the shard of a hash uses.
    #[inline]
    pub(super) fn used_mut(&mut self, hash: u32) -> &mut u64 {
        &mut self.used_bytes[usize::from(Shard::of_hash(hash).0)]
    }
}

/// How many entries ahead to prefetch.
const AHEAD: usize = 32;
