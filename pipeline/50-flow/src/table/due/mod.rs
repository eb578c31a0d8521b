//! Writing what is due, in the order of keys, so that records can leave while more are written.
//!
//! ```text
//!  slots that time has passed ─┐
//!  the slot of the open granule ─┼─► Due: key and handle ─► sorted ─► records ─► complete
//!  all that the input leaves ────┘   WINDOW at most at a time
//! ```
//!
//! A connection leaves the table at the border of a granule only; that is what its shard's memory
//! depends on. Its record may be written earlier ([`Table::write_due`]), at any point of the stream
//! after it fell due.

mod early;
mod ending;

pub(super) use ending::Ending;

use super::Table;
use crate::GRANULE_NS;
use crate::entry::{Handle, UNLINKED};
use crate::observe::FlowObserver;
use crate::time::wheel::Block;
use flowpin_packet::Timestamp;
use flowpin_record::{EndReason, RecordKey, RecordSink};

/// A record that is due. Ordered as the keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    time: Timestamp,
    /// Of the connection's first packet.
    number: u64,
    /// The last record, not an interim one.
    is_last: bool,
    handle: Handle,
}

/// Connections whose keys are kept at a time: 6 MiB, twice that while they are chosen.
const WINDOW: usize = if cfg!(test) { 8 } else { 1 << 18 };

/// As many connections, however many are due, are not sorted if nothing but the table is there:
/// their records need no order before they are written.
const UNSORTED_MAX: usize = 1 << 10;

/// How many connections ahead entries are prefetched, and then the lines that they lead to.
const AHEAD: usize = 8;
const AHEAD_MORE: [usize; crate::STEPS as usize] = [AHEAD * 2 / 3, AHEAD / 3];

/// What is done with a connection whose last record is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// It leaves the table.
    Remove,
    /// It stays until the border, with the memory that it had.
    Keep,
}

impl Table {
    /// Ends the connections that are due by the end of a granule.
    #[inline]
    pub(super) fn collect_until<S: RecordSink, O: FlowObserver>(
        &mut self,
        granule: u64,
        sink: &mut S,
        observer: &mut O,
    ) {
        let limit = Timestamp(granule.saturating_mul(GRANULE_NS));
        self.border = self.border.max(limit.plus_nanos(GRANULE_NS));
        if granule > self.wheel.now().0 {
            self.collect(granule, limit, sink, observer);
        }
    }

    #[inline(never)]
    fn collect<S: RecordSink, O: FlowObserver>(
        &mut self,
        granule: u64,
        limit: Timestamp,
        sink: &mut S,
        observer: &mut O,
    ) {
        let slots = self.wheel.go_to(granule);
        let mut due = core::mem::take(&mut self.due);
        loop {
            let mut all = true;
            for slot in slots.clone() {
                all &= self.gather(slot, limit, &mut due);
            }
            if !all {
                self.drop_latest(&mut due);
            }
            self.write_all(&mut due, limit, After::Remove, sink, observer);
            if all {
                break;
            }
        }
        self.due = due;
        self.written = self.written.max(limit);
        sink.complete_time_outs(self.written);
    }

    /// Empties a slot that time has passed: what is due by `limit` goes to `due`, the others to
    /// their slots. False if some had to go back for want of room.
    fn gather(&mut self, slot: u16, limit: Timestamp, due: &mut Vec<Due>) -> bool {
        let mut all = true;
        let first = self.wheel.take(slot);
        let mut near = self.wheel.open(first);
        self.prefetch_block(near.as_ref());
        while let Some(block) = near {
            // PERF: entries are scattered: those of a block are prefetched one block ahead.
            let far = self.wheel.open(block.next);
            self.prefetch_block(far.as_ref());
            for handle in block.handles {
                if self.is_linked(handle, slot) {
                    self.hot[handle].slot = UNLINKED;
                    if !self.note_due(handle, limit, due) {
                        self.schedule(handle);
                    }
                }
            }
            if due.len() >= 2 * WINDOW {
                self.drop_latest(due);
                all = false;
            }
            near = far;
        }
        all
    }

    /// Adds what is due of a connection by `limit`; false if that is nothing.
    #[inline]
    fn note_due(&self, handle: Handle, limit: Timestamp, due: &mut Vec<Due>) -> bool {
        let boundary = self.boundary(handle).filter(|&time| time <= limit);
        let deadline = Some(self.deadline(handle)).filter(|&time| time <= limit);
        let mut note = |time, is_last| {
            due.push(Due {
                time,
                number: self.cold[handle].first_packet,
                is_last,
                handle,
            });
        };
        if let Some(time) = boundary {
            note(time, false);
        }
        if let Some(time) = deadline {
            note(time, true);
        }
        boundary.is_some() || deadline.is_some()
    }

    /// Keeps the earliest; the connections of the others go back to a slot that was passed.
    #[cold]
    fn drop_latest(&mut self, due: &mut Vec<Due>) {
        let (_, slot) = self.wheel.now();
        for late in split_latest(due, WINDOW) {
            // There is room: the blocks that they come from are free.
            if self.hot[late.handle].slot == UNLINKED && self.wheel.push(slot, late.handle) {
                self.hot[late.handle].slot = slot;
            }
        }
    }

    /// Writes the records of `due`, all of which are due by `limit`.
    fn write_all<S: RecordSink, O: FlowObserver>(
        &mut self,
        due: &mut Vec<Due>,
        limit: Timestamp,
        after: After,
        sink: &mut S,
        observer: &mut O,
    ) {
        let is_sorted = O::OBSERVES || due.len() > UNSORTED_MAX || sink.is_full();
        if is_sorted {
            due.sort_unstable();
        }
        for (nth, &one) in due.iter().enumerate() {
            self.prefetch_due(due.get(nth + 1..).unwrap_or_default(), observer);
            let handle = one.handle;
            if !one.is_last {
                self.write_interim(handle, limit, sink, observer);
                if self.hot[handle].slot == UNLINKED && self.deadline(handle) > limit {
                    self.schedule(handle);
                }
            } else if after == After::Keep {
                self.write_early(one, sink, observer);
            } else {
                let key = self.timeout_key(handle, one.time);
                self.end(handle, key, EndReason::Timeout, sink, observer);
                self.remove(handle);
            }
            if is_sorted && sink.is_full() {
                sink.complete(one.key_after());
            }
        }
        due.clear();
    }

    /// Whether a handle found in a slot of the wheel is current.
    #[inline]
    fn is_linked(&self, handle: Handle, slot: u16) -> bool {
        self.hot.get(handle).is_some_and(|hot| hot.slot == slot)
    }

    #[inline]
    fn prefetch_block(&self, block: Option<&Block>) {
        for &handle in block.map(|block| &block.handles).into_iter().flatten() {
            self.hot.prefetch(handle);
            self.cold.prefetch(handle);
        }
    }

    /// Prefetches what the next of a list lead to.
    // PERF: in order of time the entries are scattered.
    #[inline]
    pub(super) fn prefetch_due<O: FlowObserver>(&self, next: &[Due], observer: &O) {
        if let Some(later) = next.get(AHEAD) {
            self.hot.prefetch(later.handle);
            self.cold.prefetch(later.handle);
            observer.prefetch(later.handle);
        }
        for (step, ahead) in (0..).zip(AHEAD_MORE) {
            if let Some(later) = next.get(ahead) {
                if step == 0
                    && let Some(hot) = self.hot.get(later.handle)
                {
                    self.index.prefetch(hot.hash);
                }
                observer.prefetch_more(later.handle, step);
            }
        }
    }
}

/// Leaves the earliest `count` in the list, and returns the others.
fn split_latest(due: &mut Vec<Due>, count: usize) -> std::vec::Drain<'_, Due> {
    let count = count.min(due.len());
    if count < due.len() {
        due.select_nth_unstable(count);
    }
    due.drain(count..)
}

impl Due {
    /// The first key after those of this record, and of everything that ends with it.
    const fn key_after(self) -> RecordKey {
        RecordKey {
            time: self.time,
            number: self.number,
            ordinal: u32::MAX,
        }
    }
}
