//! Where everything enters that is inspected, and where it waits until the batch is over.
//!
//! ```text
//!  packet ─► connection table ─► scans ─► reassembly ─► push      each packet of a batch
//!                                                         │
//!              records ◄─ parse ◄─ identify ◄── flush ◄───┘       then all events, in order
//! ```
//!
//! Searching and parsing bytes is more code than the first-level cache holds, and so is all that
//! comes before: if each packet went through both in turn, each would evict the other. Events are
//! taken in the order in which they came, and before any record of a connection is made: the
//! answer is the same as without a queue. Decision 0018 has the figures.

use super::Inspect;
use crate::worker::context::{Cause, Context};
use flowpin_flow::{Sighting, Table};
use flowpin_identify::On;
use flowpin_packet::{FrameBytes, Lifetimes, PacketFlags, PacketKind, PacketMeta, Stretch};
use flowpin_reassembly::{Anomaly, Closed, Span, StreamConsumer};
use flowpin_record::{ConnRecord, RecordKey, RecordSink};

/// Something that happened on a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The next bytes of a stream.
    Bytes(Stretch),
    /// A datagram, and its length on the wire.
    Datagram(On, Stretch, u32),
    /// Bytes of a stream that the capture does not have: how many.
    Gap(u64),
    /// A byte that is read out of band.
    Urgent,
    /// A stream has ended.
    Closed,
    /// Both streams have ended.
    Over,
    /// A RST that its receiver believes.
    Reset,
    /// A closed stream goes on; whether its end was reported.
    Reopened(bool),
    /// A packet, which rules have kept under this number.
    Packet(u32),
    /// A segment is odd.
    Odd(Anomaly),
}

impl Event {
    /// Whether it may cause more records than should wait, if records of the same packet have to.
    #[inline]
    fn is_large(&self) -> bool {
        let (Self::Bytes(bytes) | Self::Datagram(_, bytes, _)) = self else {
            return false;
        };
        bytes.bytes() >= LARGE_BYTES
    }
}

/// Above what a frame of Ethernet carries; some 400 bytes of records for a byte are possible.
const LARGE_BYTES: u32 = 4 << 10;

/// An event that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    at: Span,
    event: Event,
    cause: Cause,
}

impl Queued {
    /// Whether it happened on the connection with this handle.
    pub(super) const fn is_of(&self, handle: u32) -> bool {
        self.at.handle == handle
    }
}

impl Inspect {
    /// Queues bytes of a stream. False, and nothing is queued, if they do not lie in `frames`.
    #[inline]
    pub(in crate::worker) fn push_bytes(
        &mut self,
        at: Span,
        bytes: &[u8],
        frames: &FrameBytes<'_>,
        cause: Cause,
    ) -> bool {
        let stretch = frames.find(bytes);
        if let Some(stretch) = stretch {
            self.push(at, Event::Bytes(stretch), cause);
        }
        stretch.is_some()
    }

    /// Queues a packet of a connection without streams.
    #[inline]
    pub(in crate::worker) fn push_datagram(&mut self, sighting: &Sighting<'_>) {
        let (meta, handle) = (sighting.meta, sighting.handle);
        let on = match meta.kind {
            PacketKind::Udp => On::Udp,
            PacketKind::Sctp => On::Sctp,
            _ => return,
        };
        if !self.is_wanted(handle) || meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        if let Some(stretch) = sighting.frames.find(sighting.frames.payload(meta)) {
            let event = Event::Datagram(on, stretch, meta.payload_len);
            let at = start_of(handle, sighting.to_server);
            self.push(at, event, Cause::of(meta));
        }
    }

    /// Queues a packet for rules, behind all that it causes.
    pub(in crate::worker) fn push_packet(
        &mut self,
        meta: &PacketMeta,
        handle: u32,
        to_server: bool,
    ) {
        if let Some(rules) = &mut self.rules
            && !meta.flags.has(PacketFlags::BAD_CHECKSUM)
        {
            let event = Event::Packet(rules.keep(meta));
            self.push(start_of(handle, to_server), event, Cause::of(meta));
        }
    }

    #[inline]
    fn push(&mut self, at: Span, event: Event, cause: Cause) {
        self.queue.push(Queued { at, event, cause });
    }

    /// Takes all events that wait.
    #[inline]
    pub(in crate::worker) fn flush<S: RecordSink>(
        &mut self,
        table: &Table,
        frames: &FrameBytes<'_>,
        sink: &mut S,
    ) {
        if !self.queue.is_empty() {
            self.take_events::<S, false>(table, frames, sink);
        }
    }

    /// As [`Inspect::flush`], as long as the sink has room for records; see
    /// [`Inspect::deferred_from`]. Reassembly is done with all these packets.
    #[inline]
    pub(in crate::worker) fn flush_some<S: RecordSink>(
        &mut self,
        table: &Table,
        frames: &FrameBytes<'_>,
        sink: &mut S,
    ) {
        if !self.queue.is_empty() {
            self.take_events::<S, true>(table, frames, sink);
        }
    }

    /// The first key that the events which wait may cause; none if none waits.
    #[inline]
    pub(in crate::worker) fn deferred_from(&self) -> Option<RecordKey> {
        let Queued { cause, .. } = self.queue.first()?;
        Some(RecordKey {
            time: cause.stream_time,
            number: cause.number,
            ordinal: 0,
        })
    }

    #[inline(never)]
    fn take_events<S: RecordSink, const STOPS: bool>(
        &mut self,
        table: &Table,
        frames: &FrameBytes<'_>,
        sink: &mut S,
    ) {
        let mut queue = core::mem::take(&mut self.queue);
        let mut taken = queue.len();
        for (nth, Queued { at, event, cause }) in queue.iter().enumerate() {
            if STOPS {
                let is_blind = event.is_large() && !sink.knows_time_outs(cause.stream_time);
                if nth > 0 && sink.is_full() || is_blind {
                    taken = nth;
                    break;
                }
                sink.enter_packet(cause.number);
            }
            for (step, ahead) in (0..).zip(AHEAD) {
                if let Some(later) = queue.get(nth + ahead) {
                    self.prefetch_more(later.at.handle, step, Some(table));
                }
            }
            let context = Context::of_packet(table, frames, *cause, sink);
            self.take(*at, *event, frames, context);
        }
        if taken == queue.len() {
            queue.clear();
            if let Some(rules) = &mut self.rules {
                rules.forget_packets();
            }
        } else {
            queue.drain(..taken);
        }
        self.queue = queue;
    }

    #[inline]
    fn take<S: RecordSink>(
        &mut self,
        at: Span,
        event: Event,
        frames: &FrameBytes<'_>,
        context: Context<'_, S>,
    ) {
        if let Some(mut connection) = self.connection(at.handle, context) {
            connection.take(at, event, frames);
        }
    }
}

/// Reassembly's callbacks, as events: those of a packet wait, those of a connection's end do not.
pub(in crate::worker) struct Feed<'a, S, A> {
    pub(in crate::worker) inspect: Option<&'a mut Inspect>,
    pub(in crate::worker) occasion: Occasion<'a>,
    pub(in crate::worker) sink: &'a mut S,
    pub(in crate::worker) on_anomaly: A,
    /// The stream that goes on although it was closed: whether to the server.
    pub(in crate::worker) reopened: Option<bool>,
}

/// When reassembly calls back.
#[derive(Clone, Copy)]
pub(in crate::worker) enum Occasion<'a> {
    Packet(&'a Sighting<'a>),
    /// The end of a connection, whose record will have this key.
    End(&'a ConnRecord, RecordKey),
}

impl<S: RecordSink, A> Feed<'_, S, A> {
    #[inline]
    fn enter(&mut self, at: Span, event: Event) {
        let Some(inspect) = wanted(&mut self.inspect, at.handle) else {
            return;
        };
        match (self.occasion, event) {
            (Occasion::Packet(sighting), _) => inspect.push(at, event, Cause::of(sighting.meta)),
            // The connection has ended anyway.
            (Occasion::End(..), Event::Over | Event::Reset | Event::Reopened(_)) => {}
            (Occasion::End(..), Event::Packet(_) | Event::Odd(_)) => {}
            (Occasion::End(record, key), _) => {
                let context = Context::of_end(record, key, self.sink);
                inspect.take(at, event, &NO_FRAMES, context);
            }
        }
    }
}

impl<S: RecordSink, A: FnMut(Span, Anomaly, &mut S)> StreamConsumer for Feed<'_, S, A> {
    fn is_due(&self, handle: u32) -> bool {
        match self.occasion {
            Occasion::Packet(sighting) => {
                let time = sighting.meta.stream_time;
                sighting.table().is_due(handle, time)
            }
            Occasion::End(..) => false,
        }
    }

    #[inline]
    fn data(&mut self, at: Span, bytes: &[u8]) {
        let Some(inspect) = wanted(&mut self.inspect, at.handle) else {
            return;
        };
        let context = match self.occasion {
            Occasion::Packet(sighting) => {
                let (frames, cause) = (&sighting.frames, Cause::of(sighting.meta));
                if inspect.push_bytes(at, bytes, frames, cause) {
                    return;
                }
                // Reassembly held them, and frees them after this call: they follow what waits.
                inspect.flush(sighting.table(), frames, self.sink);
                Context::of_packet(sighting.table(), frames, cause, self.sink)
            }
            Occasion::End(record, key) => Context::of_end(record, key, self.sink),
        };
        if let Some(mut connection) = inspect.connection(at.handle, context) {
            connection.bytes(at, bytes);
        }
    }

    fn gap(&mut self, at: Span, len: u64) {
        self.enter(at, Event::Gap(len));
    }

    fn urgent(&mut self, at: Span, _: u8) {
        self.enter(at, Event::Urgent);
    }

    fn closed(&mut self, at: Span, _: Closed) {
        self.enter(at, Event::Closed);
    }

    fn over(&mut self, handle: u32) {
        self.enter(start_of(handle, true), Event::Over);
    }

    fn reset(&mut self, handle: u32) {
        self.enter(start_of(handle, true), Event::Reset);
    }

    fn goes_on(&mut self, at: Span, was_reported: bool) {
        self.reopened = Some(at.to_server);
        self.enter(at, Event::Reopened(was_reported));
    }

    fn anomaly(&mut self, at: Span, what: Anomaly) {
        (self.on_anomaly)(at, what, self.sink);
        // Another connection may have to make room: not this packet's doing.
        let is_own = match self.occasion {
            Occasion::Packet(sighting) => at.handle == sighting.handle,
            Occasion::End(..) => false,
        };
        if is_own && self.inspect.as_ref().is_some_and(|one| one.has_rules()) {
            self.enter(at, Event::Odd(what));
        }
    }
}

fn wanted<'a>(inspect: &'a mut Option<&mut Inspect>, handle: u32) -> Option<&'a mut Inspect> {
    let inspect = inspect.as_deref_mut()?;
    inspect.is_wanted(handle).then_some(inspect)
}

const fn start_of(handle: u32, to_server: bool) -> Span {
    Span {
        handle,
        to_server,
        offset: 0,
    }
}

/// A connection's end has no packet.
const NO_FRAMES: FrameBytes<'_> = FrameBytes {
    piece: &[],
    extra: &[],
};

/// How many events ahead a connection's state is prefetched, by step.
// PERF: a third step, for what a parser's state leads to (transaction, kept line, page), costs more
// by its unpredictable branches than its lines' coming early saves.
const AHEAD: [usize; flowpin_flow::STEPS as usize] = [8, 4];

/// Room for the events of a batch: most packets cause one at most.
pub(super) const QUEUE_LEN: usize = 2 * crate::worker::BATCH;
