//! Counts a packet on its connection.

use super::{Arrival, Cause, Table};
use crate::entry::history::Letter;
use crate::entry::{Bits, Handle, Hot, Seen};
use crate::observe::Event;
use crate::observe::FlowObserver;
use crate::tcp::{self, Rare};
use crate::time::timeouts::Class;
use flowpin_packet::{PacketFlags, PacketKind, PacketMeta, TcpFlags};
use flowpin_record::RecordSink;

impl Table {
    /// The slow path: adds a packet to the sums and applies it to the state. Returns the same event
    /// as the fast path: which path a packet takes depends on the ends of batches, and must not
    /// show.
    #[inline]
    pub(super) fn count<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        arrival: &Arrival<'_>,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> Event {
        let (meta, side) = (arrival.meta, arrival.side & 1);
        let mut is_plain = true;
        if !add_lengths(&mut self.hot[handle], side, meta) {
            is_plain = false;
            self.spill(handle, side, cause, sink, observer);
            add_lengths(&mut self.hot[handle], side, meta);
        }
        let hot = &mut self.hot[handle];
        let mut rare = Rare::default();
        if is_duplicate(hot, side, meta) {
            rare.bits |= Rare::DUPLICATE;
        }
        remember(hot, side, meta);
        if meta.flags.has_any(MARKS) {
            if meta.flags.has(PacketFlags::SNAPPED) {
                rare.bits |= Rare::SNAPPED;
            }
            if meta.flags.has(PacketFlags::BAD_CHECKSUM) {
                // It counts, but no host accepted it: it changes no state and does not extend the
                // lifetime.
                rare.bits |= Rare::BAD_CHECKSUM;
                self.note(handle, side, &rare, cause, sink, observer);
                return Event::Ongoing;
            }
        }
        if meta.kind != PacketKind::Tcp {
            is_plain &= is_known_datagram(hot, side, meta);
            self.count_datagram(handle, arrival);
        } else if tcp::is_in_order(hot, side, meta) {
            is_plain &= !count_in_order(hot, side, meta);
        } else {
            is_plain = false;
            hot.tcp_flags[side] = hot.tcp_flags[side].with(meta.tcp_flags);
            self.count_segment(handle, arrival, &mut rare, observer);
        }
        if rare.bits != 0 {
            is_plain = false;
            self.note(handle, side, &rare, cause, sink, observer);
        }
        event_of(&self.hot[handle], side, is_plain)
    }

    /// A TCP segment that is not the expected next one.
    fn count_segment<O: FlowObserver>(
        &mut self,
        handle: Handle,
        arrival: &Arrival<'_>,
        rare: &mut Rare,
        observer: &mut O,
    ) {
        let (meta, side) = (arrival.meta, arrival.side & 1);
        let (hot, cold) = (&mut self.hot[handle], &mut self.cold[handle]);
        let before = hot.class;
        if !tcp::take_fast(hot, cold, meta, side) {
            let place = (handle, side == hot.client());
            if meta.tcp_flags.has_any(TcpFlags::RST.with(TcpFlags::FIN))
                && observer.ignores(arrival.frames, meta, place)
            {
                return tcp::pass_over(hot, meta, side);
            }
            let unseen = tcp::acknowledges_unseen(hot, meta, side)
                && observer.ignores(arrival.frames, &without_fin(meta), place);
            let heard;
            let meta = if unseen {
                let ack = hot.next[side ^ 1];
                heard = PacketMeta { ack, ..*meta };
                &heard
            } else {
                meta
            };
            let duplicate = rare.bits;
            *rare = tcp::advance(hot, cold, self.extra.get_mut(hot.extra), meta, side);
            rare.bits |= duplicate;
        }
        if hot.class != before || !self.rules.is_fixed(before) {
            hot.since = hot.since.max(meta.stream_time);
        }
        if hot.class != before {
            self.schedule(handle);
        }
    }

    /// A packet of a protocol other than TCP.
    #[inline]
    fn count_datagram(&mut self, handle: Handle, arrival: &Arrival<'_>) {
        let hot = &mut self.hot[handle];
        let before = hot.class;
        if !hot.seen.has(Seen::DATA, arrival.side) || arrival.meta.kind == PacketKind::Sctp {
            note_datagram(hot, arrival);
        }
        if hot.class != before || !self.rules.is_fixed(before) {
            hot.since = hot.since.max(arrival.meta.stream_time);
        }
        if hot.class != before {
            self.schedule(handle);
        }
    }
}

/// A segment without its FIN.
fn without_fin(meta: &PacketMeta) -> PacketMeta {
    PacketMeta {
        tcp_flags: TcpFlags(meta.tcp_flags.0 & !TcpFlags::FIN.0),
        ..*meta
    }
}

/// The effect of a packet on an existing connection.
#[inline]
pub(super) fn event_of(hot: &Hot, side: usize, is_plain: bool) -> Event {
    if is_plain && milestone(hot, side).is_none() {
        Event::Plain
    } else {
        Event::Ongoing
    }
}

/// The packets of a direction that are reported as more than [`Event::Plain`]: the eighth, and one
/// in 256.
// PERF: each costs as much as three others; one in eight was 2 % of all cycles.
#[inline]
pub(super) fn milestone(hot: &Hot, side: usize) -> Option<u32> {
    let packets = hot.packets[side & 1];
    let is_one = packets.is_multiple_of(8) && (packets == 8 || packets.is_multiple_of(256));
    is_one.then_some(packets)
}

/// Adds the lengths of a packet; false, with nothing added, if a sum would overflow.
#[inline(always)]
pub(super) fn add_lengths(hot: &mut Hot, side: usize, meta: &PacketMeta) -> bool {
    let packets = u64::from(hot.packets[side]) + 1;
    let frame = u64::from(hot.frame_bytes[side]) + u64::from(meta.wire_len);
    let ip = u64::from(hot.ip_bytes[side]) + u64::from(meta.ip_len);
    let payload = u64::from(hot.payload_bytes[side]) + u64::from(meta.payload_len);
    if (packets | frame | ip | payload) >> 32 != 0 {
        return false;
    }
    hot.packets[side] = packets as u32;
    hot.frame_bytes[side] = frame as u32;
    hot.ip_bytes[side] = ip as u32;
    hot.payload_bytes[side] = payload as u32;
    hot.end = hot.end.max(meta.time);
    true
}

/// Counts a segment that changes only sums and perhaps the history: see [`tcp::is_in_order`].
/// Returns whether the history changed.
#[inline(always)]
pub(super) fn count_in_order(hot: &mut Hot, side: usize, meta: &PacketMeta) -> bool {
    remember(hot, side, meta);
    hot.tcp_flags[side] = hot.tcp_flags[side].with(meta.tcp_flags);
    hot.next[side] = meta.seq.plus(meta.payload_len);
    hot.since = hot.since.max(meta.stream_time);
    tcp::mark_letter(hot, side, meta)
}

/// Whether a datagram changes only sums and the lifetime of its connection.
#[inline]
pub(super) fn is_known_datagram(hot: &Hot, side: usize, meta: &PacketMeta) -> bool {
    meta.kind == PacketKind::Udp && hot.seen.has(Seen::DATA, side)
}

/// Counts such a datagram ([`is_known_datagram`]). No UDP time-out is fixed.
#[inline]
pub(super) fn count_known_datagram(hot: &mut Hot, side: usize, meta: &PacketMeta) {
    remember(hot, side, meta);
    hot.since = hot.since.max(meta.stream_time);
}

/// Whether the packet repeats the previous one of its direction, at most 50 ms later.
#[inline]
pub(super) fn is_duplicate(hot: &Hot, side: usize, meta: &PacketMeta) -> bool {
    let later = duplicate_time(meta).wrapping_sub(hot.fingerprint_time[side]);
    mark(meta) == hot.fingerprint[side]
        && meta.fingerprint != 0
        && later <= DUPLICATE_UNITS
        && !tells_nothing(meta)
}

/// What is the same for a packet that was captured twice. The sequence numbers are in it, too:
/// where the sender's adapter was to complete the checksum, that is the same for all segments of a
/// length, and IPv6 has no identification.
#[inline]
const fn mark(meta: &PacketMeta) -> u32 {
    let numbers = meta.seq.0.wrapping_add(meta.ack.0.rotate_left(16));
    let control = (meta.window as u32) << 8 | meta.tcp_flags.0 as u32;
    let other = control.rotate_left(24);
    meta.fingerprint.wrapping_add(numbers).wrapping_add(other)
}

/// Whether nothing tells the packet from others of its length.
fn tells_nothing(meta: &PacketMeta) -> bool {
    meta.kind != PacketKind::Tcp && meta.flags.has(PacketFlags::OFFLOADED_CHECKSUM)
}

/// Stores the facts that identify a duplicate of this packet.
#[inline]
fn remember(hot: &mut Hot, side: usize, meta: &PacketMeta) {
    hot.fingerprint[side] = mark(meta);
    hot.fingerprint_time[side] = duplicate_time(meta);
}

#[inline]
const fn duplicate_time(meta: &PacketMeta) -> u16 {
    (meta.time.0 >> DUPLICATE_UNIT_BITS) as u16
}

/// Flags of packets that leave a mark on their connection.
pub(super) const MARKS: PacketFlags = PacketFlags::SNAPPED.with(PacketFlags::BAD_CHECKSUM);

/// Times of duplicates are kept in 16 bits of 2²² ns (4.2 ms); 12 of them are 50 ms.
const DUPLICATE_UNIT_BITS: u32 = 22;
const DUPLICATE_UNITS: u16 = 12;

/// The first packet of a direction, for protocols other than TCP; for SCTP every packet, since some
/// of them end the connection.
#[cold]
fn note_datagram(hot: &mut Hot, arrival: &Arrival<'_>) {
    let (meta, side) = (arrival.meta, arrival.side);
    let lettered = matches!(meta.kind, PacketKind::Udp | PacketKind::Sctp);
    if hot.seen.mark(Seen::DATA, side) && lettered {
        let by_client = side == hot.client();
        hot.history.push_for(Letter::Data, by_client);
    }
    let both = hot.seen.has(Seen::DATA, 0) && hot.seen.has(Seen::DATA, 1);
    hot.class = match (meta.kind, both) {
        (PacketKind::Udp, false) => Class::UdpNew,
        (PacketKind::Udp, true) => Class::UdpEstablished,
        (PacketKind::Icmp | PacketKind::IcmpError, false) => Class::IcmpNew,
        (PacketKind::Icmp | PacketKind::IcmpError, true) => Class::IcmpEstablished,
        (_, false) => Class::OtherNew,
        (_, true) => Class::OtherEstablished,
    };
    if meta.kind == PacketKind::Sctp {
        let chunk = arrival.sctp_chunk();
        if hot.bits.has(Bits::OVER) || matches!(chunk, Some(SCTP_ABORT | SCTP_SHUTDOWN_COMPLETE)) {
            hot.bits.set(Bits::OVER);
            hot.class = Class::TcpClosed;
        }
    }
}

impl Arrival<'_> {
    /// Type of the first chunk (RFC 9260 §3.2), which begins 12 bytes into the packet.
    pub(super) fn sctp_chunk(&self) -> Option<u8> {
        let chunk = usize::from(self.meta.l4_offset) + 12;
        self.frames.frame(self.meta).get(chunk).copied()
    }
}

pub(super) const SCTP_INIT: u8 = 1;
pub(super) const SCTP_INIT_ACK: u8 = 2;
const SCTP_ABORT: u8 = 6;
const SCTP_SHUTDOWN_COMPLETE: u8 = 14;
