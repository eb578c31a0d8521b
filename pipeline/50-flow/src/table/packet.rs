//! One packet: which connection, what it changes.

use super::{Cause, Table};
use crate::entry::{Bits, Extra, Handle, Hot, NIL, Seen};
use crate::history::{Letter, is_repeated_at};
use crate::observe::{Event, FlowObserver, Sighting};
use crate::options::EXTRA_BYTES;
use crate::tcp::{self, Rare};
use crate::timeouts::Class;
use flowpin_packet::{FlowKey, FrameBytes, PacketFlags, PacketKind, PacketMeta, TcpFlags};
use flowpin_record::{RecordSink, TcpState, Uid};

impl Table {
    /// Finds or begins the packet's connection and counts the packet on it. `hint` is where the
    /// connection was found before the batch began; it may have ended since.
    #[inline]
    pub(super) fn packet<S: RecordSink, O: FlowObserver>(
        &mut self,
        frames: FrameBytes<'_>,
        meta: &PacketMeta,
        hint: Handle,
        sink: &mut S,
        observer: &mut O,
    ) {
        if meta.kind == PacketKind::IcmpError {
            return self.icmp_error(frames, meta, hint, sink, observer);
        }
        let side = usize::from(meta.high_to_low());
        let handle = if self.is_connection(hint, frames, meta) {
            hint
        } else {
            self.find(frames, meta)
        };
        self.count_on(handle, meta.key, side, frames, meta, sink, observer);
    }

    /// Counts a packet on a connection, or on a new one if `handle` is [`NIL`] or has ended.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the packet's way, split in two")]
    pub(super) fn count_on<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        key: FlowKey,
        side: usize,
        frames: FrameBytes<'_>,
        meta: &PacketMeta,
        sink: &mut S,
        observer: &mut O,
    ) {
        let mut cause = Cause::of(meta);
        let mut handle = handle;
        let mut event = Event::Ongoing;
        if let Some(hot) = self.hot.get(handle) {
            if self.needs_look(hot, meta)
                && self.ends_before(handle, frames, meta, side, &mut cause, sink)
            {
                self.begin_again(handle, frames, meta, side, observer);
                event = Event::New;
            }
        } else {
            handle = self.begin(key, frames, meta, side, &mut cause, sink, observer);
            if handle == NIL {
                return;
            }
            event = Event::New;
        }
        self.count(handle, side, frames, meta, &mut cause, sink);
        if event == Event::New {
            self.finish_beginning(handle, frames, meta, &mut cause, sink, observer);
        }
        if O::OBSERVES {
            self.tell(handle, side, meta, event, observer);
        }
    }

    /// Whether a handle is still, or now, this packet's connection.
    #[inline]
    pub(super) fn is_connection(
        &self,
        handle: Handle,
        frames: FrameBytes<'_>,
        meta: &PacketMeta,
    ) -> bool {
        match self.hot.get(handle) {
            Some(hot) if hot.key == meta.key => {
                !meta.key.is_ipv6() || self.has_addresses(handle, frames, meta)
            }
            _ => false,
        }
    }

    /// IPv6 keys hold a digest, which anybody can make collide.
    fn has_addresses(&self, handle: Handle, frames: FrameBytes<'_>, meta: &PacketMeta) -> bool {
        let stored = self
            .cold
            .get(handle)
            .and_then(|cold| self.addresses.get(cold.addresses));
        stored.is_some_and(|stored| *stored == frames.endpoints(meta))
    }

    /// The packet's connection, or [`NIL`].
    #[inline]
    pub(super) fn find(&self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Handle {
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

    /// Adds a packet to the sums and applies it to the state.
    #[inline]
    fn count<S: RecordSink>(
        &mut self,
        handle: Handle,
        side: usize,
        frames: FrameBytes<'_>,
        meta: &PacketMeta,
        cause: &mut Cause,
        sink: &mut S,
    ) {
        let side = side & 1;
        if !add_lengths(&mut self.hot[handle], side, meta) {
            self.spill(handle, side, cause, sink);
            add_lengths(&mut self.hot[handle], side, meta);
        }
        let hot = &mut self.hot[handle];
        let mut bits = look_for_duplicate(hot, side, meta);
        if meta
            .flags
            .has_any(PacketFlags::SNAPPED.with(PacketFlags::BAD_CHECKSUM))
        {
            if meta.flags.has(PacketFlags::SNAPPED) {
                bits |= Rare::SNAPPED;
            }
            if meta.flags.has(PacketFlags::BAD_CHECKSUM) {
                // It counts, but no host accepted it: no state, no longer life.
                let rare = Rare {
                    bits: bits | Rare::BAD_CHECKSUM,
                    ..Rare::default()
                };
                return self.note(handle, side, &rare, cause, sink);
            }
        }
        if meta.kind == PacketKind::Tcp {
            hot.tcp_flags[side] = hot.tcp_flags[side].with(meta.tcp_flags);
            if is_in_order(hot, side, meta) {
                hot.next[side] = meta.seq.plus(meta.payload_len);
                hot.since = meta.stream_time;
                if bits != 0 {
                    self.note(
                        handle,
                        side,
                        &Rare {
                            bits,
                            ..Rare::default()
                        },
                        cause,
                        sink,
                    );
                }
            } else {
                self.count_segment(handle, side, meta, bits, cause, sink);
            }
            return;
        }
        if !hot.seen.has(Seen::DATA, side) || meta.kind == PacketKind::Sctp {
            let before = hot.class;
            note_datagram(hot, side, frames, meta);
            if hot.class != before {
                hot.since = meta.stream_time;
                self.schedule(handle);
            }
        }
        let hot = &mut self.hot[handle];
        if !self.rules.is_fixed(hot.class) {
            hot.since = meta.stream_time;
        }
        if bits != 0 {
            self.note(
                handle,
                side,
                &Rare {
                    bits,
                    ..Rare::default()
                },
                cause,
                sink,
            );
        }
    }

    /// A TCP segment that is not simply the next one.
    fn count_segment<S: RecordSink>(
        &mut self,
        handle: Handle,
        side: usize,
        meta: &PacketMeta,
        bits: u16,
        cause: &mut Cause,
        sink: &mut S,
    ) {
        let (hot, cold) = (&mut self.hot[handle], &mut self.cold[handle]);
        let before = hot.class;
        let mut rare = tcp::advance(hot, cold, self.extra.get_mut(hot.extra), meta, side);
        if hot.class != before || !self.rules.is_fixed(before) {
            hot.since = meta.stream_time;
        }
        if hot.class != before {
            self.schedule(handle);
        }
        rare.bits |= bits;
        if rare.bits != 0 {
            self.note(handle, side, &rare, cause, sink);
        }
    }

    /// Moves sums that would overflow to where they have 64 bits.
    #[cold]
    fn spill<S: RecordSink>(
        &mut self,
        handle: Handle,
        side: usize,
        cause: &mut Cause,
        sink: &mut S,
    ) {
        let Some(extra) = self.extra_of(handle, cause, sink) else {
            return;
        };
        let (extra, hot) = (&mut self.extra[extra], &mut self.hot[handle]);
        for (to, from) in [
            (&mut extra.packets[side], &mut hot.packets[side]),
            (&mut extra.frame_bytes[side], &mut hot.frame_bytes[side]),
            (&mut extra.ip_bytes[side], &mut hot.ip_bytes[side]),
            (&mut extra.payload_bytes[side], &mut hot.payload_bytes[side]),
        ] {
            *to += u64::from(core::mem::take(from));
        }
    }

    /// The handle of a connection's [`Extra`], which it gets now if it has none.
    pub(super) fn extra_of<S: RecordSink>(
        &mut self,
        handle: Handle,
        cause: &mut Cause,
        sink: &mut S,
    ) -> Option<Handle> {
        let Hot { extra, hash, .. } = self.hot[handle];
        if extra != NIL {
            return Some(extra);
        }
        if !self.make_room(hash, EXTRA_BYTES, handle, cause, sink) {
            return None;
        }
        let extra = self.extra.insert(Extra::EMPTY)?;
        *self.used_mut(hash) += EXTRA_BYTES;
        self.hot[handle].extra = extra;
        Some(extra)
    }

    /// Writes down what few packets do.
    #[cold]
    #[inline(never)]
    pub(super) fn note<S: RecordSink>(
        &mut self,
        handle: Handle,
        side: usize,
        rare: &Rare,
        cause: &mut Cause,
        sink: &mut S,
    ) {
        let Some(extra) = self.extra_of(handle, cause, sink) else {
            return;
        };
        let (extra, hot) = (&mut self.extra[extra], &mut self.hot[handle]);
        let (side, peer) = (side & 1, side & 1 ^ 1);
        let by_client = side == hot.client();
        let add = |bit: u16, count: &mut u32| -> bool {
            let hit = rare.bits & bit != 0;
            *count = count.saturating_add(u32::from(hit));
            hit
        };
        let counters = &mut self.counters;
        counters.duplicates += u64::from(add(Rare::DUPLICATE, &mut extra.duplicates[side]));
        counters.snapped += u64::from(add(Rare::SNAPPED, &mut extra.snapped[side]));
        counters.icmp_errors += u64::from(add(Rare::ICMP_ERROR, &mut extra.icmp_errors[side]));
        add(Rare::WRAP, &mut extra.wraps[side]);
        add(Rare::PEER_WRAP, &mut extra.wraps[peer]);
        if add(Rare::BAD_CHECKSUM, &mut extra.bad_checksums[side]) {
            counters.bad_checksums += 1;
            if is_repeated_at(extra.bad_checksums[side]) {
                hot.history.push_for(Letter::Checksum, by_client);
            }
        }
        if add(Rare::ZERO_WINDOW, &mut extra.zero_windows[side])
            && is_repeated_at(extra.zero_windows[side])
        {
            hot.history.push_for(Letter::ZeroWindow, by_client);
        }
        if add(Rare::RETRANSMISSION, &mut extra.retransmissions[side]) {
            counters.retransmissions += 1;
            if is_repeated_at(extra.retransmissions[side]) {
                hot.history.push_for(Letter::Retransmission, by_client);
            }
        }
        if add(Rare::GAP, &mut extra.gaps[peer]) {
            counters.missed_bytes += u64::from(rare.missed);
            extra.missed_bytes[peer] += u64::from(rare.missed);
            extra.seen_end[peer] = rare.seen_end;
            if is_repeated_at(extra.gaps[peer]) {
                hot.history.push_for(Letter::Gap, !by_client);
            }
        }
        if rare.bits & Rare::ISLAND != 0 {
            extra.islands[side].insert(rare.island.0, rare.island.1);
        }
    }

    /// Tells the observer.
    pub(super) fn tell<O: FlowObserver>(
        &self,
        handle: Handle,
        side: usize,
        meta: &PacketMeta,
        event: Event,
        observer: &mut O,
    ) {
        let Some(hot) = self.hot.get(handle) else {
            return;
        };
        let uid: Uid = self.parts(handle).uid(self.identity);
        let to_server = side == hot.client();
        observer.packet(&Sighting {
            meta,
            uid,
            handle,
            to_server,
            event,
        });
    }
}

/// Adds a packet's lengths; false, and nothing is added, if a sum would overflow.
#[inline]
fn add_lengths(hot: &mut Hot, side: usize, meta: &PacketMeta) -> bool {
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

/// Whether the packet is the previous one of its direction again, at most 50 ms later.
#[inline]
fn look_for_duplicate(hot: &mut Hot, side: usize, meta: &PacketMeta) -> u16 {
    let time = (meta.time.0 >> DUPLICATE_UNIT_BITS) as u16;
    let same = meta.fingerprint == hot.fingerprint[side] && meta.fingerprint != 0;
    let soon = time.wrapping_sub(hot.fingerprint_time[side]) <= DUPLICATE_UNITS;
    hot.fingerprint[side] = meta.fingerprint;
    hot.fingerprint_time[side] = time;
    if same && soon { Rare::DUPLICATE } else { 0 }
}

/// Times of duplicates are kept in 16 bits of 2²² ns (4.2 ms); 12 of them are 50 ms.
const DUPLICATE_UNIT_BITS: u32 = 22;
const DUPLICATE_UNITS: u16 = 12;

/// Whether a segment is the next one of its stream, on a connection where that changes nothing
/// but sums: most are.
#[inline]
fn is_in_order(hot: &Hot, side: usize, meta: &PacketMeta) -> bool {
    let letter = if meta.payload_len > 0 {
        Seen::DATA
    } else {
        Seen::ACK
    };
    let expected = Seen::QUIET | letter << side;
    let controls = TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST);
    let acknowledges_new =
        meta.tcp_flags.has(TcpFlags::ACK) && meta.ack.is_after(hot.next[side ^ 1]);
    debug_assert!(hot.seen.0 & Seen::QUIET == 0 || hot.tcp_state == TcpState::Established);
    hot.seen.0 & expected == expected
        && !meta.tcp_flags.has_any(controls)
        && meta.seq == hot.next[side]
        && meta.seq.0.checked_add(meta.payload_len).is_some()
        && !acknowledges_new
        && meta.window != 0
}

/// The first packet of a direction, of anything but TCP; for SCTP each, since some end it.
#[cold]
fn note_datagram(hot: &mut Hot, side: usize, frames: FrameBytes<'_>, meta: &PacketMeta) {
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
        let chunk = sctp_chunk(frames, meta);
        if hot.bits.has(Bits::OVER) || matches!(chunk, Some(SCTP_ABORT | SCTP_SHUTDOWN_COMPLETE)) {
            hot.bits.set(Bits::OVER);
            hot.class = Class::TcpClosed;
        }
    }
}

/// Type of the first chunk (RFC 9260 §3.2), which begins 12 bytes into the packet.
pub(super) fn sctp_chunk(frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<u8> {
    frames
        .frame(meta)
        .get(usize::from(meta.l4_offset) + 12)
        .copied()
}

pub(super) const SCTP_INIT: u8 = 1;
pub(super) const SCTP_INIT_ACK: u8 = 2;
const SCTP_ABORT: u8 = 6;
const SCTP_SHUTDOWN_COMPLETE: u8 = 14;
