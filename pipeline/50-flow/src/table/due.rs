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

use super::{Table, granule_before};
use crate::GRANULE_NS;
use crate::entry::{Bits, FREE_KEY, Handle, UNLINKED};
use crate::observe::FlowObserver;
use crate::time::wheel::Block;
use flowpin_packet::{FlowKey, Shard, Timestamp};
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
        let number = self.cold[handle].first_packet;
        let boundary = self.boundary(handle).filter(|&time| time <= limit);
        let deadline = Some(self.deadline(handle)).filter(|&time| time <= limit);
        for (time, is_last) in [(boundary, false), (deadline, true)] {
            due.extend(time.map(|time| Due {
                time,
                number,
                is_last,
                handle,
            }));
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
        if O::OBSERVES || due.len() > UNSORTED_MAX || sink.is_full() {
            due.sort_unstable();
        }
        let is_sorted = due.is_sorted();
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
            if sink.is_full() && is_sorted {
                sink.complete(one.key_after());
            }
        }
        due.clear();
    }

    /// Writes the records that are due by `until`, within the granule that has begun. See
    /// [`Table::tick_exactly`].
    #[cold]
    #[inline(never)]
    pub(super) fn write_due<S: RecordSink, O: FlowObserver>(
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
    fn write_early<S: RecordSink, O: FlowObserver>(
        &mut self,
        due: Due,
        sink: &mut S,
        observer: &mut O,
    ) {
        let handle = due.handle;
        let shard = Shard::of_hash(self.hot[handle].hash).0;
        let left = self.budget.left(shard);
        let key = self.timeout_key(handle, due.time);
        self.end(handle, key, EndReason::Timeout, sink, observer);
        let freed = self.budget.left(shard).saturating_sub(left);
        let withheld = if self.budget.take(shard, freed) {
            freed
        } else {
            0
        };
        let hot = &mut self.hot[handle];
        hot.bits.set(Bits::TOLD);
        hot.bits.clear(Bits::CHANGED);
        // Its counts are written.
        hot.packets = [withheld as u32, (withheld >> 32) as u32];
    }

    /// The connection would have ended now, had its record not been written before.
    #[cold]
    pub(super) fn give_back_withheld(&mut self, handle: Handle) {
        let hot = &mut self.hot[handle];
        let [low, high] = core::mem::take(&mut hot.packets);
        let hash = hot.hash;
        self.give_back(hash, u64::from(high) << 32 | u64::from(low));
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

/// The end of the input: what is left, in the order of the records, a window at a time.
#[derive(Debug, Default)]
pub(super) struct Ending {
    window: Vec<Due>,
    /// The next one of them.
    next: usize,
    /// The last one of the window before.
    last: Option<Due>,
    /// No window follows.
    is_last: bool,
}

impl Ending {
    /// Those after the next one.
    pub(super) fn ahead(&self) -> &[Due] {
        self.window.get(self.next..).unwrap_or_default()
    }
}

impl Table {
    /// The next record at the end of the input.
    pub(super) fn next_end(&mut self, ending: &mut Ending) -> Option<Due> {
        while ending.next == ending.window.len() {
            if ending.is_last {
                return None;
            }
            self.next_window(ending);
        }
        let due = ending.window.get(ending.next).copied();
        ending.next += 1;
        due
    }

    /// Finds the next records: a window, or the 32nd part of all if that is more.
    fn next_window(&mut self, ending: &mut Ending) {
        let room = WINDOW.max(usize::try_from(self.counters.live / 32).unwrap_or(usize::MAX));
        let last = ending.window.last().copied().or(ending.last);
        ending.window.clear();
        (ending.next, ending.last, ending.is_last) = (0, last, true);
        // Right after the last packet, and so after every watermark.
        let end = self.now.plus_nanos(1);
        if last.is_none() {
            self.shards.iter().for_each(|shard| self.index.clear(shard));
            self.wheel.clear();
        }
        // In the order of memory, so that entries are read sequentially.
        for handle in (0..self.hot.high_water()).filter(|&handle| self.is_open(handle)) {
            let number = self.cold[handle].first_packet;
            let boundary = self.boundary(handle).filter(|&time| time <= self.now);
            let deadline = self.deadline(handle).min(end);
            for (time, is_last) in [(boundary, false), (Some(deadline), true)] {
                let due = time.map(|time| Due {
                    time,
                    number,
                    is_last,
                    handle,
                });
                ending.window.extend(due.filter(|&due| Some(due) > last));
            }
            if ending.window.len() >= 2 * room {
                split_latest(&mut ending.window, room);
                ending.is_last = false;
            }
        }
        if !ending.is_last {
            split_latest(&mut ending.window, room);
        }
        ending.window.sort_unstable();
    }

    /// Whether a slot has a connection.
    #[inline]
    fn is_open(&self, handle: Handle) -> bool {
        let hot = &self.hot[handle];
        // Free slots may have gone back to the system, and be zeros.
        let was_used = hot.key != FlowKey::default() || hot.packets != [0; 2];
        hot.key != FREE_KEY && was_used
    }

    /// Writes a record at the end of the input; returns the last key that it may have. The last
    /// record of a connection frees its entry; index and wheel are empty by now.
    pub(super) fn write_end<S: RecordSink, O: FlowObserver>(
        &mut self,
        due: Due,
        sink: &mut S,
        observer: &mut O,
    ) -> RecordKey {
        let handle = due.handle;
        if due.is_last {
            let key = self.timeout_key(handle, due.time);
            self.end_with_input(handle, key, sink, observer);
            self.free(handle);
        } else {
            self.write_interim(handle, self.now, sink, observer);
        }
        due.key_after()
    }
}
