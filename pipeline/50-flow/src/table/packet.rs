//! One packet: finds its connection and counts it there, on the fast path or the slow one.

use super::Table;
use super::count::{
    MARKS, add_lengths, count_in_order, count_known_datagram, event_of, is_duplicate,
    is_known_datagram, milestone,
};
use crate::entry::{Bits, Handle, Hot, NIL};
use crate::index::Look;
use crate::observe::{Event, FlowObserver, Sighting};
use crate::tcp;
use flowpin_packet::{FlowKey, FrameBytes, PacketKind, PacketMeta, TcpFlags, Timestamp};
use flowpin_record::{RecordKey, RecordSink};

/// A packet and its direction, while the table handles it.
pub(super) struct Arrival<'a> {
    pub(super) frames: &'a FrameBytes<'a>,
    pub(super) meta: &'a PacketMeta,
    /// Its direction: 0 from the key's lower endpoint, 1 from the higher.
    pub(super) side: usize,
}

/// A packet that causes records. Each record gets the next ordinal.
pub(super) struct Cause<'a> {
    pub(super) frames: &'a FrameBytes<'a>,
    pub(super) time: Timestamp,
    pub(super) number: u64,
    pub(super) ordinal: u32,
}

impl<'a> Cause<'a> {
    pub(super) fn of(arrival: &Arrival<'a>) -> Self {
        Self {
            frames: arrival.frames,
            time: arrival.meta.stream_time,
            number: arrival.meta.number,
            ordinal: 0,
        }
    }

    pub(super) fn next_key(&mut self) -> RecordKey {
        self.ordinal += 1;
        RecordKey {
            time: self.time,
            number: self.number,
            ordinal: self.ordinal,
        }
    }
}

impl Table {
    /// Finds or begins the packet's connection and counts the packet on it. `hint` is where the
    /// connection was found before the batch began; it may have ended since.
    #[inline(always)]
    pub(super) fn packet<S: RecordSink, O: FlowObserver>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        hint: Handle,
        sink: &mut S,
        observer: &mut O,
    ) {
        let side = usize::from(meta.high_to_low());
        if let Some(event) = self.count_fast(hint, frames, meta, side) {
            if O::OBSERVES && !self.report_fast(hint, frames, meta, event, observer) {
                let arrival = Arrival { frames, meta, side };
                self.report(hint, &arrival, event, sink, observer);
            }
            return;
        }
        let arrival = Arrival { frames, meta, side };
        self.packet_slow(&arrival, hint, sink, observer);
    }

    /// The slow path: any packet that [`Table::count_fast`] refused.
    #[inline(always)]
    fn packet_slow<S: RecordSink, O: FlowObserver>(
        &mut self,
        arrival: &Arrival<'_>,
        hint: Handle,
        sink: &mut S,
        observer: &mut O,
    ) {
        let (frames, meta) = (arrival.frames, arrival.meta);
        let handle = if self.is_connection(hint, frames, meta) {
            hint
        } else {
            self.find(frames, meta)
        };
        if meta.kind == PacketKind::IcmpError {
            return self.icmp_error(handle, arrival, sink, observer);
        }
        self.count_on(handle, meta.key, arrival, sink, observer);
    }

    /// The fast path, for most packets: the next segment of a stream where nothing else happens, or
    /// a datagram that is not the first of its side. For anything else it returns `None` and
    /// changes nothing; the slow path decides.
    // PERF: half the instructions of the slow path, and one unpredictable branch (`flow_bench`).
    #[inline(always)]
    fn count_fast(
        &mut self,
        hint: Handle,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        side: usize,
    ) -> Option<Event> {
        let hot = self.hot.get(hint)?;
        let limit = self.quiet_ns[hot.class as usize & 15];
        let is_tcp = meta.kind == PacketKind::Tcp;
        if hot.key != meta.key
            || meta.stream_time.0.wrapping_sub(hot.since.0) >= limit
            || meta.flags.has_any(MARKS)
            || !(is_tcp && tcp::is_in_order(hot, side, meta) || is_known_datagram(hot, side, meta))
            || meta.key.is_ipv6() && !self.has_addresses(hint, frames, meta)
        {
            return None;
        }
        let hot = &mut self.hot[hint];
        if is_duplicate(hot, side, meta) || !add_lengths(hot, side, meta) {
            return None;
        }
        let is_news = if is_tcp {
            count_in_order(hot, side, meta)
        } else {
            count_known_datagram(hot, side, meta);
            false
        };
        Some(event_of(hot, side, !is_news))
    }

    /// Counts a packet on a connection, or on a new one if `handle` is [`NIL`] or has ended.
    #[inline]
    pub(super) fn count_on<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        key: FlowKey,
        arrival: &Arrival<'_>,
        sink: &mut S,
        observer: &mut O,
    ) {
        let mut cause = Cause::of(arrival);
        let mut handle = handle;
        let mut event = Event::Ongoing;
        if let Some(hot) = self.hot.get(handle) {
            if self.needs_look(hot, arrival.meta)
                && self.ends_before(handle, arrival, &mut cause, sink, observer)
            {
                self.begin_again(handle, arrival, observer);
                event = Event::New;
            }
        } else {
            handle = self.begin(key, arrival, &mut cause, sink, observer);
            if handle == NIL {
                return;
            }
            event = Event::New;
        }
        let counted = self.count(handle, arrival, &mut cause, sink, observer);
        if event != Event::New {
            event = counted;
        } else {
            self.finish_beginning(handle, arrival, &mut cause, sink, observer);
        }
        if O::OBSERVES {
            self.report(handle, arrival, event, sink, observer);
            if self.hot[handle].bits.has(ENDING)
                && let Some(to_server) = observer.reopened()
            {
                self.reopen(handle, arrival.meta, to_server);
            }
        }
    }

    /// Continues a connection whose close the receiver ignored: it lives as long as any other.
    #[cold]
    fn reopen(&mut self, handle: Handle, meta: &PacketMeta, to_server: bool) {
        let hot = &mut self.hot[handle];
        let side = usize::from(!to_server) ^ hot.client();
        let by_receiver = usize::from(meta.high_to_low()) != side;
        let acked = if by_receiver {
            meta.ack
        } else {
            hot.next[side]
        };
        let sender = usize::from(meta.high_to_low());
        let fin = meta.tcp_flags.has(TcpFlags::FIN);
        let end = meta.seq.plus(meta.payload_len).plus(1);
        tcp::reopen(hot, side, acked, fin.then_some((sender, end)));
        hot.since = hot.since.max(meta.stream_time);
        self.schedule(handle);
    }

    /// Whether a handle is the handle of this packet's connection.
    #[inline]
    fn is_connection(&self, handle: Handle, frames: &FrameBytes<'_>, meta: &PacketMeta) -> bool {
        match self.hot.get(handle) {
            Some(hot) if hot.key == meta.key => {
                !meta.key.is_ipv6() || self.has_addresses(handle, frames, meta)
            }
            _ => false,
        }
    }

    /// IPv6 keys contain a digest, which an attacker can make collide.
    // PERF: out of line, so that IPv4's fast path keeps its values in registers.
    #[inline(never)]
    fn has_addresses(&self, handle: Handle, frames: &FrameBytes<'_>, meta: &PacketMeta) -> bool {
        let stored = self
            .cold
            .get(handle)
            .and_then(|cold| self.addresses.get(cold.birth_or_addresses));
        stored.is_some_and(|stored| stored.endpoints == frames.endpoints(meta))
    }

    /// The packet's connection, or [`NIL`].
    #[inline(always)]
    pub(super) fn find(&self, frames: &FrameBytes<'_>, meta: &PacketMeta) -> Handle {
        let mut nth = 0;
        loop {
            return match self.index.look(meta.hash, nth) {
                Look::Absent => NIL,
                Look::Perhaps(handle) if self.is_connection(handle, frames, meta) => handle,
                Look::Perhaps(_) => self.search(frames, meta),
                Look::Beyond => {
                    nth += 1;
                    continue;
                }
            };
        }
    }

    /// For two connections with the same hash.
    #[cold]
    #[inline(never)]
    fn search(&self, frames: &FrameBytes<'_>, meta: &PacketMeta) -> Handle {
        self.index
            .candidates(meta.hash)
            .find(|&handle| self.is_connection(handle, frames, meta))
            .unwrap_or(NIL)
    }

    /// Whether a packet may end its connection before it counts, or make a record of it due.
    #[inline]
    fn needs_look(&self, hot: &Hot, meta: &PacketMeta) -> bool {
        let after = self.rules.after_ns(hot.class);
        let expired = meta.stream_time.0 >= hot.since.0.saturating_add(after);
        let syn = meta.kind == PacketKind::Tcp && meta.tcp_flags.has(TcpFlags::SYN);
        let over = meta.kind == PacketKind::Sctp && hot.bits.has(Bits::OVER);
        expired || syn || over || self.interim_ns != 0
    }

    /// Reports a packet on the fast path: the expected next one, or the first of its kind. Returns
    /// false for a milestone, and if the observer needs the full report.
    // PERF: apart from `report`, so that most packets need no `Sighting`.
    #[inline]
    fn report_fast<O: FlowObserver>(
        &self,
        handle: Handle,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        event: Event,
        observer: &mut O,
    ) -> bool {
        self.hot.get(handle).is_some_and(|hot| {
            let side = usize::from(meta.high_to_low());
            let place = (handle, side == hot.client());
            (event == Event::Plain || milestone(hot, side).is_none())
                && observer.packet_fast(frames, meta, event, place)
        })
    }

    /// Reports a packet to the observer.
    #[inline(never)]
    pub(super) fn report<S: RecordSink, O: FlowObserver>(
        &self,
        handle: Handle,
        arrival: &Arrival<'_>,
        event: Event,
        sink: &mut S,
        observer: &mut O,
    ) {
        let Some(hot) = self.hot.get(handle) else {
            return;
        };
        let sighting = Sighting {
            frames: *arrival.frames,
            meta: arrival.meta,
            handle,
            to_server: arrival.side == hot.client(),
            event,
            milestone: milestone(hot, arrival.side),
            table: self,
        };
        observer.packet(&sighting, sink);
    }
}

/// One side has closed the connection, or both have.
const ENDING: u16 = Bits::OVER | Bits::CLOSED | (Bits::CLOSED << 1);
