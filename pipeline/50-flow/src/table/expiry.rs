//! When connections end and interim records fall due, decided exactly.
//!
//! A deadline is `since + time-out`. An interim record is due at each `start + k × interval` of
//! stream time before the deadline if packets came since the last one. A packet at or after such
//! a moment finds it passed; the timer wheel finds the rest.

use super::count::SCTP_INIT;
use super::{Arrival, Cause, Table};
use crate::entry::{Bits, Handle, NIL, UNLINKED};
use crate::tcp;
use crate::{BATCH_MAX, GRANULE_NS};
use flowpin_packet::{PacketFlags, PacketKind, PacketMeta, TcpFlags, Timestamp};
use flowpin_record::{EndReason, RecordKey, RecordSink};

impl Table {
    /// Before a packet counts: writes what has fallen due, and whether the connection has ended.
    #[inline(never)]
    pub(super) fn ends_before<S: RecordSink>(
        &mut self,
        handle: Handle,
        arrival: &Arrival<'_>,
        cause: &mut Cause,
        sink: &mut S,
    ) -> bool {
        let meta = arrival.meta;
        if self.interim_ns != 0 {
            self.write_interim(handle, meta.stream_time, sink);
        }
        let deadline = self.deadline(handle);
        if deadline <= meta.stream_time {
            self.end(
                handle,
                self.timeout_key(handle, deadline),
                EndReason::Timeout,
                sink,
            );
            return true;
        }
        if self.is_reused(handle, arrival) {
            self.end(handle, cause.next_key(), EndReason::Reused, sink);
            return true;
        }
        if self.interim_ns != 0 {
            self.expect_interim(handle, meta);
        }
        false
    }

    /// A packet that lengthens the connection's life makes an interim record due again: at a
    /// boundary that may be nearer than the deadline.
    fn expect_interim(&mut self, handle: Handle, meta: &PacketMeta) {
        let hot = &mut self.hot[handle];
        if hot.bits.has(Bits::CHANGED)
            || self.rules.is_fixed(hot.class)
            || meta.flags.has(PacketFlags::BAD_CHECKSUM)
        {
            return;
        }
        hot.bits.set(Bits::CHANGED);
        hot.since = hot.since.max(meta.stream_time);
        self.schedule(handle);
    }

    fn is_reused(&self, handle: Handle, arrival: &Arrival<'_>) -> bool {
        let meta = arrival.meta;
        let hot = &self.hot[handle];
        match meta.kind {
            _ if meta.flags.has(PacketFlags::BAD_CHECKSUM) => false,
            PacketKind::Tcp if meta.tcp_flags.has(TcpFlags::SYN) => {
                tcp::is_reuse(hot, &self.cold[handle], meta, arrival.side)
            }
            PacketKind::Sctp if hot.bits.has(Bits::OVER) => arrival.sctp_chunk() == Some(SCTP_INIT),
            _ => false,
        }
    }

    /// Until when a connection lives without another packet.
    pub(super) fn deadline(&self, handle: Handle) -> Timestamp {
        let hot = &self.hot[handle];
        hot.since.plus_nanos(self.rules.after_ns(hot.class))
    }

    /// The key of the record that a time-out or the input's end causes: behind all that the
    /// packet of that number may have caused at the same time.
    pub(super) fn timeout_key(&self, handle: Handle, deadline: Timestamp) -> RecordKey {
        RecordKey {
            time: deadline,
            number: self.cold[handle].first_packet,
            ordinal: END_ORDINAL,
        }
    }

    /// The boundary at which the last packets are due in an interim record, if they are.
    ///
    /// Those whose deadline is fixed have none: their last record follows soon.
    fn boundary(&self, handle: Handle) -> Option<Timestamp> {
        let hot = &self.hot[handle];
        if self.interim_ns == 0 || !hot.bits.has(Bits::CHANGED) || self.rules.is_fixed(hot.class) {
            return None;
        }
        let start = self.cold[handle].start;
        let passed = hot.since.nanos_since(start) / self.interim_ns;
        let boundary = start
            .0
            .checked_add(self.interim_ns.checked_mul(passed + 1)?)?;
        let deadline = hot.since.plus_nanos(self.rules.after_ns(hot.class));
        (boundary < deadline.0).then_some(Timestamp(boundary))
    }

    /// Writes the interim record that was due by `until`, if one was.
    pub(super) fn write_interim<S: RecordSink>(
        &mut self,
        handle: Handle,
        until: Timestamp,
        sink: &mut S,
    ) {
        let Some(boundary) = self.boundary(handle).filter(|&boundary| boundary <= until) else {
            return;
        };
        self.hot[handle].bits.clear(Bits::CHANGED);
        let cold = &mut self.cold[handle];
        cold.interims = cold.interims.saturating_add(1);
        let (number, nth) = (cold.first_packet, cold.interims);
        let key = RecordKey {
            time: boundary,
            number,
            ordinal: INTERIM_ORDINAL,
        };
        let record = self
            .parts(handle)
            .record(self.identity, EndReason::Interim, nth);
        self.counters.recorded(&record);
        sink.conn(key, &record);
    }

    /// Links a connection in the timer wheel if it would be looked at too late.
    pub(super) fn schedule(&mut self, handle: Handle) {
        let due = self
            .boundary(handle)
            .unwrap_or_else(|| self.deadline(handle));
        let slot = self.hot[handle].slot;
        if due == Timestamp::MAX || self.wheel.is_in_time(slot, due) {
            return;
        }
        if slot != UNLINKED {
            self.wheel.unlink(handle, slot);
        }
        self.hot[handle].slot = self.wheel.link(handle, due);
    }

    /// Ends what is due by the end of a granule.
    pub(super) fn collect_until<S: RecordSink>(&mut self, granule: u64, sink: &mut S) {
        let limit = Timestamp(granule.saturating_mul(GRANULE_NS));
        for slot in self.wheel.go_to(granule) {
            self.collect_slot(slot, limit, sink);
        }
    }

    /// Writes the last records of what is due by now, within the granule that has begun. The
    /// entries stay until the granule's end: when a full shard has room must not depend on when
    /// this is called.
    pub(super) fn tell_now<S: RecordSink>(&mut self, sink: &mut S) {
        let mut handle = self.wheel.next_up();
        while handle != NIL {
            let next = self.wheel.after(handle);
            self.hot.prefetch(next);
            self.write_interim(handle, self.now, sink);
            let deadline = self.deadline(handle);
            if deadline <= self.now {
                let key = self.timeout_key(handle, deadline);
                self.end(handle, key, EndReason::Timeout, sink);
                self.hot[handle].bits.set(Bits::TOLD);
            }
            handle = next;
        }
    }

    fn collect_slot<S: RecordSink>(&mut self, slot: u16, limit: Timestamp, sink: &mut S) {
        let mut next = self.wheel.take(slot);
        while next != NIL {
            // PERF: their entries lie anywhere. A batch is asked for before it is looked at.
            let mut batch = [NIL; BATCH_MAX];
            for handle in &mut batch {
                *handle = next;
                self.hot.prefetch(next);
                self.cold.prefetch(next);
                next = self.wheel.after(next);
            }
            for handle in batch.into_iter().take_while(|&handle| handle != NIL) {
                self.collect(handle, limit, sink);
            }
        }
    }

    /// Looks at a connection that the timer wheel gave back.
    fn collect<S: RecordSink>(&mut self, handle: Handle, limit: Timestamp, sink: &mut S) {
        self.hot[handle].slot = UNLINKED;
        self.write_interim(handle, limit, sink);
        let deadline = self.deadline(handle);
        if deadline <= limit {
            self.end(
                handle,
                self.timeout_key(handle, deadline),
                EndReason::Timeout,
                sink,
            );
            self.remove(handle);
        } else {
            self.schedule(handle);
        }
    }

    /// The keys of all last records when the input has ended, in order. Writes the interim records
    /// that are due before.
    pub(super) fn all_ends<S: RecordSink>(&mut self, sink: &mut S) -> Vec<(RecordKey, Handle)> {
        let mut handles: Vec<Handle> = self
            .shards
            .iter()
            .flat_map(|shard| self.index.handles(shard))
            .collect();
        // As they lie in memory: entries are read one behind the other.
        handles.sort_unstable();
        // Right behind the last packet, and so behind every watermark.
        let input_end = self.now.plus_nanos(1);
        let mut ends = Vec::with_capacity(handles.len());
        for handle in handles {
            self.write_interim(handle, self.now, sink);
            let time = self.deadline(handle).min(input_end);
            ends.push((self.timeout_key(handle, time), handle));
        }
        // PERF: time and number as one word; no two connections have the same number.
        ends.sort_unstable_by_key(|(key, _)| u128::from(key.time.0) << 64 | u128::from(key.number));
        ends
    }

    /// The last record of a connection when the input has ended. Frees its entry; the index and
    /// the wheel are cleared as a whole.
    pub(super) fn end_with_input<S: RecordSink>(
        &mut self,
        handle: Handle,
        key: RecordKey,
        sink: &mut S,
    ) {
        let is_due = self.deadline(handle) <= self.now;
        let reason = if is_due {
            EndReason::Timeout
        } else {
            EndReason::EndOfInput
        };
        self.end(handle, key, reason, sink);
        self.free(handle);
    }

    /// Writes the last record of a connection, unless that was done ahead.
    pub(super) fn end<S: RecordSink>(
        &mut self,
        handle: Handle,
        key: RecordKey,
        reason: EndReason,
        sink: &mut S,
    ) {
        if self.hot[handle].bits.has(Bits::TOLD) {
            return;
        }
        let over = self.hot[handle].bits.has(Bits::OVER);
        let reason = if over && reason == EndReason::Timeout {
            EndReason::Closed
        } else {
            reason
        };
        let record = self.parts(handle).record(self.identity, reason, 0);
        self.counters.recorded(&record);
        sink.conn(key, &record);
    }
}

/// Of a connection's last record. What packets cause comes before: ordinals from 1.
const END_ORDINAL: u32 = 1 << 23;
/// Before the last record of the same connection at the same moment.
const INTERIM_ORDINAL: u32 = END_ORDINAL - 1;
