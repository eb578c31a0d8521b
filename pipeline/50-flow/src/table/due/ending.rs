//! The end of the input: every connection that is left ends, in the order of the records.

use super::{Due, WINDOW, split_latest};
use crate::entry::{FREE_KEY, Handle};
use crate::observe::FlowObserver;
use crate::table::Table;
use flowpin_packet::FlowKey;
use flowpin_record::{RecordKey, RecordSink};

/// The end of the input: what is left, in the order of the records, a window at a time.
#[derive(Debug, Default)]
pub(in crate::table) struct Ending {
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
    fn ahead(&self) -> &[Due] {
        self.window.get(self.next..).unwrap_or_default()
    }
}

impl Table {
    /// Ends all connections at the end of the input: those that were due by the last tick at their
    /// deadline, the others one nanosecond after that tick. Call [`Table::tick`] with the stream's
    /// last time first.
    pub fn finish<S: RecordSink, O: FlowObserver>(&mut self, sink: &mut S, observer: &mut O) {
        while self.finish_some(usize::MAX, sink, observer).is_some() {}
    }

    /// As [`Table::finish`], but ends `count` connections per call, so that their records can be
    /// written before the next ones are made. Returns the key up to which all records were given;
    /// `None` once nothing is left. No packet may follow.
    pub fn finish_some<S: RecordSink, O: FlowObserver>(
        &mut self,
        count: usize,
        sink: &mut S,
        observer: &mut O,
    ) -> Option<RecordKey> {
        let mut ending = self.ending.take().unwrap_or_default();
        let mut last = None;
        for _ in 0..count {
            let Some(due) = self.next_end(&mut ending) else {
                break;
            };
            // PERF: in order of time the entries are scattered: prefetch them.
            self.prefetch_due(ending.ahead(), observer);
            let key = self.write_end(due, sink, observer);
            sink.complete(key);
            last = Some(key);
        }
        self.ending = Some(ending);
        last
    }

    /// The connections that are open, each with the number of its first packet: before any has
    /// ended with the input.
    pub fn open(&self) -> impl Iterator<Item = (FlowKey, u64)> + '_ {
        let handles = (0..self.hot.high_water()).filter(|&handle| self.is_open(handle));
        handles.map(|handle| (self.hot[handle].key, self.cold[handle].first_packet))
    }

    /// The next record at the end of the input.
    fn next_end(&mut self, ending: &mut Ending) -> Option<Due> {
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
    fn write_end<S: RecordSink, O: FlowObserver>(
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
