//! Records ahead of the border: what fell due within the granule that has begun.

use super::{After, Due, WINDOW, split_latest};
use crate::GRANULE_NS;
use crate::entry::{Bits, Handle};
use crate::observe::FlowObserver;
use crate::table::{Table, granule_before};
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{EndReason, RecordSink};

impl Table {
    /// Writes the records that are due by `until`, within the granule that has begun. See
    /// [`Table::tick_exactly`].
    #[cold]
    #[inline(never)]
    pub(in crate::table) fn write_due<S: RecordSink, O: FlowObserver>(
        &mut self,
        until: Timestamp,
        sink: &mut S,
        observer: &mut O,
    ) {
        let mut due = core::mem::take(&mut self.due);
        while until > self.written {
            let (all, next) = self.gather_open(until, &mut due);
            self.write_all(&mut due, until, After::Keep, sink, observer);
            if all {
                // The next interim records may fall due earlier than what was found.
                let known = if self.interim_ns == 0 { next } else { until };
                self.written = known.max(until);
            }
        }
        self.due = due;
        sink.complete_time_outs(self.written);
    }

    /// Looks through the slot of the granule that has begun: what is due by `until`, whether that
    /// is all, and the time up to which nothing else is due.
    fn gather_open(&mut self, until: Timestamp, due: &mut Vec<Due>) -> (bool, Timestamp) {
        let slot = self.wheel.next_up();
        let mut all = true;
        let mut next = Timestamp((granule_before(until) + 1).saturating_mul(GRANULE_NS));
        let first = self.wheel.take(slot);
        let mut near = self.wheel.open(first);
        self.prefetch_block(near.as_ref());
        while let Some(block) = near {
            let far = self.wheel.open(block.next);
            self.prefetch_block(far.as_ref());
            for handle in block.handles {
                if !self.is_linked(handle, slot) {
                    continue;
                }
                if !self.hot[handle].bits.has(Bits::TOLD) {
                    self.note_due(handle, until, due);
                    let first = self.boundary(handle).unwrap_or(self.deadline(handle));
                    if first > until {
                        next = next.min(Timestamp(first.0 - 1));
                    }
                }
                // There is room: the blocks that they come from are free.
                self.wheel.push(slot, handle);
            }
            if due.len() >= 2 * WINDOW {
                all = false;
                split_latest(due, WINDOW);
            }
            near = far;
        }
        if !all {
            split_latest(due, WINDOW);
        }
        (all, next)
    }

    /// Writes the last record of a connection ahead of the border. What that frees stays taken
    /// until then: what else fits into the shard must not depend on when records are written.
    pub(super) fn write_early<S: RecordSink, O: FlowObserver>(
        &mut self,
        due: Due,
        sink: &mut S,
        observer: &mut O,
    ) {
        let handle = due.handle;
        let shard = Shard::of_hash(self.hot[handle].hash).0;
        let had = self.budget.all_left(shard);
        let key = self.timeout_key(handle, due.time);
        self.end(handle, key, EndReason::Timeout, sink, observer);
        let withheld = self.budget.withhold(shard, had);
        let hot = &mut self.hot[handle];
        hot.bits.set(Bits::TOLD);
        hot.bits.clear(Bits::CHANGED);
        // Its counts are written.
        let words = withheld.map(|bytes| [bytes as u32, (bytes >> 32) as u32]);
        [
            hot.packets,
            hot.frame_bytes,
            hot.ip_bytes,
            hot.payload_bytes,
        ] = words;
    }

    /// The connection would have ended now, had its record not been written before.
    #[cold]
    pub(in crate::table) fn give_back_withheld(&mut self, handle: Handle) {
        let hot = &mut self.hot[handle];
        let words = [
            &mut hot.packets,
            &mut hot.frame_bytes,
            &mut hot.ip_bytes,
            &mut hot.payload_bytes,
        ];
        let withheld = words.map(|word| {
            let [low, high] = core::mem::take(word);
            u64::from(high) << 32 | u64::from(low)
        });
        let shard = Shard::of_hash(hot.hash).0;
        self.budget.release(shard, withheld);
    }
}
