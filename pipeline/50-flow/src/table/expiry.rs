//! When connections end and interim records fall due, decided exactly.
//!
//! A deadline is `since + time-out`. An interim record is due at each `start + k × interval` of
//! stream time before the deadline, if packets came since the last one. A packet at or after such a
//! moment detects that it has passed; the timer wheel detects the rest.

use super::count::SCTP_INIT;
use super::{Arrival, Cause, Table};
use crate::entry::{Bits, Handle, UNLINKED};
use crate::observe::FlowObserver;
use crate::tcp;
use crate::time::wheel::SLOTS;
use flowpin_packet::{
    FrameBytes, Lifetimes, PacketFlags, PacketKind, PacketMeta, TcpFlags, Timestamp,
};
use flowpin_record::{EndReason, RecordKey, RecordSink};

impl Table {
    /// Before a packet counts: writes the records that are due; returns whether the connection
    /// ended.
    #[inline(never)]
    pub(super) fn ends_before<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        arrival: &Arrival<'_>,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> bool {
        let meta = arrival.meta;
        if self.interim_ns != 0 {
            self.settle(arrival.frames, sink, observer);
            self.write_interim(handle, meta.stream_time, sink, observer);
        }
        let deadline = self.deadline(handle);
        if deadline <= meta.stream_time {
            self.settle(arrival.frames, sink, observer);
            self.end(
                handle,
                self.timeout_key(handle, deadline),
                EndReason::Timeout,
                sink,
                observer,
            );
            return true;
        }
        if self.is_reused(handle, arrival) {
            self.settle(arrival.frames, sink, observer);
            self.end(handle, cause.next_key(), EndReason::Reused, sink, observer);
            return true;
        }
        if self.interim_ns != 0 {
            self.expect_interim(handle, meta);
        }
        false
    }

    /// Before a packet causes a record of a connection: flushes what the observer has deferred.
    /// Where the sink has no room left, the records so far are completed in between.
    pub(super) fn settle<S: RecordSink, O: FlowObserver>(
        &mut self,
        frames: &FrameBytes<'_>,
        sink: &mut S,
        observer: &mut O,
    ) {
        if O::OBSERVES {
            observer.settle(self, frames, sink);
            while let Some(next) = observer.deferred_from() {
                self.complete(next, sink, observer);
                observer.settle(self, frames, sink);
            }
        }
    }

    /// Where the sink has no room left: completes the records of all packets before `number`, the
    /// next of which has the stream time `time` at least. Nothing is deferred.
    #[inline]
    pub(super) fn relieve<S: RecordSink, O: FlowObserver>(
        &mut self,
        time: Timestamp,
        number: u64,
        sink: &mut S,
        observer: &mut O,
    ) {
        if sink.is_full() {
            let next = RecordKey {
                time,
                number,
                ordinal: 0,
            };
            self.complete(next, sink, observer);
        }
    }

    /// All records before `next` are given, but those of time-outs.
    #[cold]
    fn complete<S: RecordSink, O: FlowObserver>(
        &mut self,
        next: RecordKey,
        sink: &mut S,
        observer: &mut O,
    ) {
        self.write_due(next.time, sink, observer);
        sink.complete(next);
    }

    /// A packet that extends the connection's lifetime makes an interim record due again, at a
    /// boundary that may be closer than the deadline.
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

    /// The time until which a connection lives without another packet.
    pub(super) fn deadline(&self, handle: Handle) -> Timestamp {
        let hot = &self.hot[handle];
        hot.since.plus_nanos(self.rules.after_ns(hot.class))
    }

    /// The key of the record that a time-out or the end of the input causes: after everything that
    /// the packet of that number may have caused at the same time.
    pub(super) fn timeout_key(&self, handle: Handle, deadline: Timestamp) -> RecordKey {
        RecordKey {
            time: deadline,
            number: self.cold[handle].first_packet,
            ordinal: END_ORDINAL,
        }
    }

    /// The boundary at which an interim record is due for the last packets, if any.
    ///
    /// A connection with a fixed deadline has none: its last record follows soon.
    pub(super) fn boundary(&self, handle: Handle) -> Option<Timestamp> {
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

    /// Writes the interim record that was due by `until`, if any.
    pub(super) fn write_interim<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        until: Timestamp,
        sink: &mut S,
        observer: &mut O,
    ) {
        let Some(boundary) = self.boundary(handle).filter(|&boundary| boundary <= until) else {
            return;
        };
        self.hot[handle].bits.clear(Bits::CHANGED);
        let cold = &mut self.cold[handle];
        let (number, nth) = (cold.first_packet, cold.interims.count());
        let key = RecordKey {
            time: boundary,
            number,
            ordinal: INTERIM_ORDINAL,
        };
        self.hand_out(handle, EndReason::Interim, nth, key, sink, observer);
    }

    /// Links a connection in the timer wheel if it would be checked too late.
    pub(super) fn schedule(&mut self, handle: Handle) {
        let due = self
            .boundary(handle)
            .unwrap_or_else(|| self.deadline(handle));
        let slot = self.hot[handle].slot;
        if due == Timestamp::MAX || self.wheel.is_in_time(slot, due) {
            return;
        }
        let mut slot = self.wheel.link(handle, due);
        if slot == UNLINKED {
            self.hot[handle].slot = UNLINKED;
            self.drop_stale();
            slot = self.wheel.link(handle, due);
        }
        self.hot[handle].slot = slot;
    }

    /// Removes useless handles from the wheel: of connections that ended or that are linked
    /// elsewhere, and the second handle of one that returned to its slot.
    #[cold]
    #[inline(never)]
    fn drop_stale(&mut self) {
        let hot = &mut self.hot;
        self.wheel.retain(|handle, slot| match hot.get_mut(handle) {
            Some(entry) if entry.slot == slot => {
                entry.slot |= SEEN_SLOT;
                true
            }
            _ => false,
        });
        self.wheel.retain(|handle, _| {
            if let Some(entry) = hot.get_mut(handle) {
                entry.slot &= !SEEN_SLOT;
            }
            true
        });
    }

    /// The last record of a connection at the end of the input.
    pub(super) fn end_with_input<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        key: RecordKey,
        sink: &mut S,
        observer: &mut O,
    ) {
        let is_due = self.deadline(handle) <= self.now;
        let reason = if is_due {
            EndReason::Timeout
        } else {
            EndReason::EndOfInput
        };
        self.end(handle, key, reason, sink, observer);
    }

    /// Writes the last record of a connection, unless that was done before.
    pub(super) fn end<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        key: RecordKey,
        reason: EndReason,
        sink: &mut S,
        observer: &mut O,
    ) {
        if self.hot[handle].bits.has(Bits::TOLD) {
            self.give_back_withheld(handle);
            return;
        }
        let over = self.hot[handle].bits.has(Bits::OVER);
        let reason = if over && reason == EndReason::Timeout {
            EndReason::Closed
        } else {
            reason
        };
        self.hand_out(handle, reason, 0, key, sink, observer);
    }
}

impl Lifetimes for Table {
    fn is_due(&self, connection: u32, time: Timestamp) -> bool {
        self.hot.get(connection).is_some() && self.deadline(connection) <= time
    }
}

/// For a connection's last record. The records that packets cause come before: ordinals from 1.
const END_ORDINAL: u32 = 1 << 23;
/// Before the last record of the same connection at the same moment.
const INTERIM_ORDINAL: u32 = END_ORDINAL - 1;

/// Marks the slot of an entry that was found there, while stale handles are dropped.
const SEEN_SLOT: u16 = 1 << 15;
const _: () = assert!(SLOTS <= SEEN_SLOT as u64);
