//! One TCP segment applied to its connection: states, history, sequence numbers.
//!
//! ```text
//!              client's SYN        server's SYN(-ACK)
//!  Inactive ───────────────► SynSent ───────────────► Established (both)
//!     │ no SYN: Partial                FIN ► Closed    RST ► Reset
//!     │ ACK of a SYN-ACK: Established
//! ```
//!
//! The rules are those that Zeek's users know, written from its observable behaviour. Where they
//! differ on purpose:
//!
//! - a SYN-ACK before its SYN (captured out of order) is one established connection, since the
//!   SYN is the one that it acknowledges;
//! - both sides sending SYN at once is one connection (RFC 9293 §3.5), not two;
//! - a packet with a bad checksum counts, but changes no state (Zeek does not count it).
//!
//! Forbidden: leaving `Reset`; leaving `Closed` but for `Reset`; a bad checksum changing state.

use crate::entry::{Bits, Cold, EndState, Extra, Hot, Seen};
use crate::history::Letter;
use crate::timeouts::Class;
use flowpin_packet::{PacketMeta, Seq, TcpFlags};
use flowpin_record::TcpState;

/// What few segments do: it goes to the connection's [`Extra`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rare {
    pub(crate) bits: u16,
    /// Bytes of the other side's stream that this segment acknowledges and nobody saw.
    pub(crate) missed: u32,
    /// Where the other side's stream was seen to end before that.
    pub(crate) seen_end: Seq,
    /// Bytes beyond a hole.
    pub(crate) island: (Seq, Seq),
}

impl Rare {
    pub(crate) const DUPLICATE: u16 = 1;
    pub(crate) const SNAPPED: u16 = 1 << 1;
    pub(crate) const BAD_CHECKSUM: u16 = 1 << 2;
    pub(crate) const ICMP_ERROR: u16 = 1 << 3;
    pub(crate) const ZERO_WINDOW: u16 = 1 << 4;
    pub(crate) const RETRANSMISSION: u16 = 1 << 5;
    pub(crate) const GAP: u16 = 1 << 6;
    pub(crate) const ISLAND: u16 = 1 << 7;
    /// `next` of the sender's stream passed 2³² → 0.
    pub(crate) const WRAP: u16 = 1 << 8;
    /// That of the other side's.
    pub(crate) const PEER_WRAP: u16 = 1 << 9;
}

/// A segment, its sender and the other side.
struct Segment {
    flags: TcpFlags,
    seq: Seq,
    end: Seq,
    ack: Seq,
    len: u32,
    /// The sender's index, and the other's.
    me: usize,
    peer: usize,
    by_client: bool,
}

impl Segment {
    fn new(meta: &PacketMeta, hot: &Hot, me: usize) -> Self {
        let flags = meta.tcp_flags;
        // SYN and FIN take a number each (RFC 9293 §3.4); a RST's payload is not of the stream.
        let data = if flags.has(TcpFlags::RST) {
            0
        } else {
            meta.payload_len
        };
        let controls = u32::from(flags.has(TcpFlags::SYN)) + u32::from(flags.has(TcpFlags::FIN));
        Self {
            flags,
            seq: meta.seq,
            end: meta.seq.plus(data).plus(controls),
            ack: meta.ack,
            len: meta.payload_len,
            me: me & 1,
            peer: me & 1 ^ 1,
            by_client: me == hot.client(),
        }
    }

    const fn has(&self, flag: TcpFlags) -> bool {
        self.flags.has(flag)
    }

    /// Half of the sequence space or a slip: such numbers in SYN and RST are not believed.
    const fn is_far(&self, distance: i32) -> bool {
        self.flags.has_any(TcpFlags::SYN.with(TcpFlags::RST)) && distance.unsigned_abs() > FAR_BYTES
    }
}

const FAR_BYTES: u32 = 1 << 20;

/// Applies a segment that is neither in order nor plain, or that belongs to a connection which is
/// not quiet. Returns what must go to the connection's [`Extra`].
pub(crate) fn advance(
    hot: &mut Hot,
    cold: &mut Cold,
    extra: Option<&mut Extra>,
    meta: &PacketMeta,
    me: usize,
) -> Rare {
    let segment = Segment::new(meta, hot, me);
    let mut extra = extra;
    let mut rare = Rare::default();
    meet(hot, cold, extra.as_deref_mut(), &segment);
    write_history(hot, cold, &segment);
    if meta.window == 0
        && !segment.has(TcpFlags::RST)
        && hot.ends[segment.peer].state() != EndState::Closed
        && hot.ends[segment.me].state() != EndState::Reset
    {
        rare.bits |= Rare::ZERO_WINDOW;
    }
    time_handshake(hot, cold, meta, &segment);
    let acknowledges = segment.has(TcpFlags::ACK);
    if acknowledges && hot.ends[segment.peer].state() == EndState::Inactive {
        // Number the silent side as if its SYN had been seen.
        cold.start_seq[segment.peer] = Seq(segment.ack.0.wrapping_sub(1));
        hot.next[segment.peer] = segment.ack;
    }
    take_sequence(hot, cold, extra.as_deref_mut(), &segment, &mut rare);
    change_states(hot, cold, &segment);
    if acknowledges && !segment.has(TcpFlags::RST) {
        take_acknowledgement(hot, extra.as_deref_mut(), &segment, &mut rare);
    }
    let acks_fin = acknowledges
        && hot.tcp_flags[segment.peer].has(TcpFlags::FIN)
        && segment.ack.distance_from(hot.control_seq[segment.peer]) >= 0;
    hot.tcp_state =
        crate::suricata::next(hot.tcp_state, segment.flags, segment.by_client, acks_fin);
    hot.class = class_of(hot);
    let holes = rare.bits & Rare::ISLAND != 0
        || extra.is_some_and(|extra| extra.islands.iter().any(|islands| !islands.is_empty()));
    hot.seen.set_quiet(is_quiet(hot, holes));
    rare
}

/// Numbers a side's stream at its first segment, and anew where a SYN says otherwise.
fn meet(hot: &mut Hot, cold: &mut Cold, extra: Option<&mut Extra>, segment: &Segment) {
    let me = segment.me;
    let syn = segment.has(TcpFlags::SYN);
    let start = match hot.ends[me].state() {
        EndState::Inactive if syn => segment.seq,
        EndState::Inactive => Seq(segment.seq.0.wrapping_sub(1)),
        EndState::Closed => return,
        EndState::Reset if hot.ends[me].previous() != EndState::Inactive => return,
        _ if syn && segment.seq != cold.start_seq[me] => segment.seq,
        _ => return,
    };
    cold.start_seq[me] = start;
    hot.next[me] = start.plus(1);
    if let Some(extra) = extra {
        extra.wraps[me] = 0;
        extra.islands[me] = crate::stream::Islands::NONE;
    }
    hot.bits.clear(Bits::BEHIND_ACK << me);
}

/// Each kind of segment once a side; SYN, FIN and RST again if their number is another.
fn write_history(hot: &mut Hot, cold: &Cold, segment: &Segment) {
    let me = segment.me;
    let mut write = |letter| hot.history.push_for(letter, segment.by_client);
    let (syn, fin) = (segment.has(TcpFlags::SYN), segment.has(TcpFlags::FIN));
    let rst = segment.has(TcpFlags::RST);
    let control_is_rst = hot.bits.has(Bits::CONTROL_IS_RST << me);
    match (syn, fin, rst) {
        (_, true, true) => {
            if hot.seen.mark(Seen::INCONSISTENT, me) {
                write(Letter::Inconsistent);
            }
        }
        (true, true, false) | (true, false, true) => {
            if hot.seen.mark(Seen::MULTI_FLAG, me) {
                write(Letter::MultiFlag);
            }
        }
        (true, false, false) => {
            if hot.seen.mark(Seen::SYN, me) || segment.seq != cold.start_seq[me] {
                let answer = segment.has(TcpFlags::ACK);
                write(if answer { Letter::SynAck } else { Letter::Syn });
            }
        }
        (false, true, false) => {
            let other = !control_is_rst && segment.end != hot.control_seq[me];
            if hot.seen.mark(Seen::FIN, me) || other {
                write(Letter::Fin);
            }
        }
        (false, false, true) => {
            let other = control_is_rst && segment.seq != hot.control_seq[me];
            if hot.seen.mark(Seen::RST, me) || other {
                write(Letter::Rst);
            }
        }
        (false, false, false) if segment.len > 0 => {
            if hot.seen.mark(Seen::DATA, me) {
                write(Letter::Data);
            }
        }
        (false, false, false) => {
            if segment.has(TcpFlags::ACK) && hot.seen.mark(Seen::ACK, me) {
                write(Letter::Ack);
            }
        }
    }
    if rst {
        hot.control_seq[me] = segment.seq;
        hot.bits.set(Bits::CONTROL_IS_RST << me);
    } else if fin && !control_is_rst {
        hot.control_seq[me] = segment.end;
    }
}

/// SYN to the client's first ACK: one round trip, wherever on the path the capture was made.
/// A SYN sent again counts from its last copy; a SYN-ACK sent again makes it unknowable.
fn time_handshake(hot: &mut Hot, cold: &mut Cold, meta: &PacketMeta, segment: &Segment) {
    if hot.bits.has(Bits::RTT_KNOWN | Bits::RTT_VOID) {
        return;
    }
    let (syn, ack) = (segment.has(TcpFlags::SYN), segment.has(TcpFlags::ACK));
    let since_start = meta.time.0.checked_sub(cold.start.0);
    let answered = hot.bits.has(Bits::SYN_ACK_SEEN);
    match (segment.by_client, syn, ack) {
        (true, true, false) if !answered => match since_start.and_then(|ns| ns.try_into().ok()) {
            Some(ns) => cold.rtt = ns,
            None => hot.bits.set(Bits::RTT_VOID),
        },
        (false, true, true) if answered => hot.bits.set(Bits::RTT_VOID),
        (false, true, true) => hot.bits.set(Bits::SYN_ACK_SEEN),
        (true, false, true) if answered && !segment.has(TcpFlags::RST) => {
            let whole = since_start.and_then(|ns| ns.checked_sub(cold.rtt.into()));
            match whole.and_then(|ns| ns.try_into().ok()) {
                Some(ns) => {
                    cold.rtt = ns;
                    hot.bits.set(Bits::RTT_KNOWN);
                }
                None => hot.bits.set(Bits::RTT_VOID),
            }
        }
        _ => {}
    }
}

/// Moves the sender's stream on, or notes what lies beyond a hole.
fn take_sequence(
    hot: &mut Hot,
    cold: &Cold,
    extra: Option<&mut Extra>,
    segment: &Segment,
    rare: &mut Rare,
) {
    let me = segment.me;
    let next = hot.next[me];
    let behind = hot.bits.has(Bits::BEHIND_ACK << me);
    let islands_end = extra.as_ref().and_then(|extra| extra.islands[me].end());
    let seen_end = extra
        .as_ref()
        .filter(|_| behind)
        .map(|extra| extra.seen_end[me]);
    let distance = segment
        .end
        .distance_from(islands_end.or(seen_end).unwrap_or(next));
    let reset = hot.ends[me].state() == EndState::Reset;
    let lone_fin = segment.has(TcpFlags::FIN) && next == cold.start_seq[me].plus(1);
    if segment.is_far(distance) {
        return;
    }
    if lone_fin && segment.end.distance_from(next) < 0 {
        // Nothing but the SYN was seen, so more than 2 GiB may lie between.
        move_next(hot, me, segment.end, Rare::WRAP, rare);
        return;
    }
    if reset {
        return;
    }
    if distance <= 0 && segment.len > 0 {
        rare.bits |= Rare::RETRANSMISSION;
    }
    if segment.end.distance_from(next) <= 0 {
        if let (true, true, Some(extra)) = (behind, distance > 0, extra) {
            extra.seen_end[me] = segment.end;
        }
        return;
    }
    hot.bits.clear(Bits::BEHIND_ACK << me);
    let one_sided = hot.ends[segment.peer].state() == EndState::Inactive;
    if segment.seq.distance_from(next) <= 0 || one_sided || segment.has(TcpFlags::RST) {
        let mut to = segment.end;
        if let Some(extra) = extra {
            to = extra.islands[me].absorb(to);
        }
        move_next(hot, me, to, Rare::WRAP, rare);
    } else {
        rare.island = (segment.seq, segment.end);
        rare.bits |= Rare::ISLAND;
    }
}

/// What the other side received, the capture should have: if not, it is missed.
fn take_acknowledgement(
    hot: &mut Hot,
    extra: Option<&mut Extra>,
    segment: &Segment,
    rare: &mut Rare,
) {
    let peer = segment.peer;
    let next = hot.next[peer];
    let ahead = segment.ack.distance_from(next);
    // A zero far away is more likely a broken field than the end of a big stream.
    if ahead <= 0
        || hot.ends[peer].state() == EndState::Inactive
        || segment.ack.0 == 0 && ahead.unsigned_abs() > FAR_BYTES
    {
        return;
    }
    let mut missed = ahead.unsigned_abs();
    let mut seen_end = next;
    let mut to = segment.ack;
    if let Some(extra) = extra {
        let islands = &mut extra.islands[peer];
        missed = islands.uncovered(next, segment.ack);
        seen_end = islands.end().unwrap_or(next);
        to = islands.absorb(segment.ack);
    }
    // Only between sides that shook hands: elsewhere acknowledgements prove nothing.
    if missed > 0 && hot.ends[peer].is_clean() && hot.ends[segment.me].is_clean() {
        rare.bits |= Rare::GAP;
        rare.missed = missed;
        rare.seen_end = seen_end;
        if segment.ack.is_after(seen_end) {
            hot.bits.set(Bits::BEHIND_ACK << peer);
        }
    }
    move_next(hot, peer, to, Rare::PEER_WRAP, rare);
}

fn move_next(hot: &mut Hot, side: usize, to: Seq, wrap: u16, rare: &mut Rare) {
    if to.0 < hot.next[side].0 {
        rare.bits |= wrap;
    }
    hot.next[side] = to;
}

/// The states of both sides after a segment, and whether the connection is over.
fn change_states(hot: &mut Hot, cold: &Cold, segment: &Segment) {
    let (me, peer) = (segment.me, segment.peer);
    let (syn, fin) = (segment.has(TcpFlags::SYN), segment.has(TcpFlags::FIN));
    let rst = segment.has(TcpFlags::RST);
    let peer_end = hot.ends[peer];
    let mut closes = false;
    match hot.ends[me].state() {
        EndState::Inactive => {
            leave_inactive(hot, cold, segment);
            closes = fin || rst;
        }
        EndState::SynSent | EndState::SynAckSent => {
            if fin {
                hot.ends[me].set(EndState::Closed);
            }
            if rst {
                hot.ends[me].set(EndState::Reset);
            }
            closes = fin || rst;
        }
        state @ (EndState::Established | EndState::Partial) => {
            let fresh = state == EndState::Partial && peer_end.state() == EndState::Inactive;
            if syn && fresh && !segment.has(TcpFlags::ACK) {
                hot.ends[me].set(EndState::SynSent);
            }
            if fin && !rst {
                hot.ends[me].set(EndState::Closed);
                // FIN, then RST, then our FIN: that was a normal end.
                if peer_end.state() == EndState::Reset && peer_end.previous() == EndState::Closed {
                    hot.ends[peer].set(EndState::Closed);
                }
            }
            if rst {
                hot.ends[me].set(EndState::Reset);
            }
            closes = fin || rst;
        }
        EndState::Closed => {
            if rst && peer_end.state() != EndState::Closed {
                hot.ends[me].set(EndState::Reset);
                hot.bits.set(Bits::OVER);
            }
        }
        EndState::Reset => {}
    }
    if closes && !hot.closed(me) {
        hot.bits.set(Bits::CLOSED << me);
        if hot.ends[me].state() == EndState::Reset
            || hot.closed(peer)
            || hot.ends[peer].state() == EndState::Inactive
        {
            hot.bits.set(Bits::OVER);
        }
    }
}

/// A side's first segment.
fn leave_inactive(hot: &mut Hot, cold: &Cold, segment: &Segment) {
    let (me, peer) = (segment.me, segment.peer);
    let other = hot.ends[peer].state();
    let acknowledges = segment.has(TcpFlags::ACK);
    if segment.has(TcpFlags::SYN) {
        if !segment.by_client {
            if matches!(other, EndState::SynSent | EndState::SynAckSent) {
                hot.ends[peer].set(EndState::Established);
            }
            hot.ends[me].set(EndState::Established);
        } else if other == EndState::Established && segment.seq == cold.start_seq[me] {
            // Its SYN-ACK was captured first; that one acknowledged this very SYN.
            hot.ends[me].set(EndState::Established);
        } else if acknowledges {
            hot.ends[me].set(EndState::SynAckSent);
        } else {
            hot.ends[me].set(EndState::SynSent);
        }
    }
    if segment.has(TcpFlags::FIN) {
        hot.ends[me].set(EndState::Closed);
    }
    if segment.has(TcpFlags::RST) {
        hot.ends[me].set(EndState::Reset);
    }
    let controls = TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST);
    if segment.flags.has_any(controls) {
        return;
    }
    if !segment.by_client && segment.len == 0 && other == EndState::SynSent {
        // Some servers acknowledge a SYN before they answer it.
    } else if acknowledges && other == EndState::Established {
        hot.ends[me].set(EndState::Established);
    } else {
        hot.ends[me].set(EndState::Partial);
    }
}

/// The time-out that holds from now on.
fn class_of(hot: &Hot) -> Class {
    let (client, server) = crate::conn_state::sides(hot);
    if hot.bits.has(Bits::OVER) {
        Class::TcpClosed
    } else if server == EndState::Inactive
        && matches!(
            client,
            EndState::SynSent | EndState::SynAckSent | EndState::Inactive
        )
    {
        Class::Attempt
    } else if crate::suricata::flow_state(hot.tcp_state) == flowpin_record::FlowState::New {
        Class::TcpNew
    } else {
        Class::TcpEstablished
    }
}

/// Whether data in order and plain acknowledgements change nothing but sums.
fn is_quiet(hot: &Hot, holes: bool) -> bool {
    let calm = |side: usize| {
        matches!(
            hot.ends[side].state(),
            EndState::Established | EndState::Partial | EndState::Inactive
        )
    };
    !holes && calm(0) && calm(1) && hot.tcp_state == TcpState::Established
}

/// Whether a SYN begins another connection on the same addresses and ports.
///
/// Zeek's rule: a SYN whose number is not the client's, or any SYN once a side has closed; a
/// SYN-ACK only while no client was seen. A SYN sent again has the same number, so it is not one.
/// (tshark begins another stream at any SYN with another number, also after a SYN-ACK, but not at
/// the same number after a close.)
pub(crate) fn is_reuse(hot: &Hot, cold: &Cold, meta: &PacketMeta, me: usize) -> bool {
    let client = hot.client();
    let closed = hot.closed(0) || hot.closed(1);
    if meta.tcp_flags.has(TcpFlags::ACK) {
        return hot.ends[client].state() == EndState::Inactive
            && hot.ends[client ^ 1].state() != EndState::Inactive
            && (closed || meta.seq != cold.start_seq[client ^ 1]);
    }
    if hot.ends[0].state() == EndState::Inactive && hot.ends[1].state() == EndState::Inactive {
        // Only bad checksums so far.
        return false;
    }
    if me != client
        && hot.ends[client].state() == EndState::SynSent
        && hot.ends[me].state() == EndState::Inactive
    {
        // RFC 9293 §3.5: both open at once.
        return false;
    }
    closed || meta.seq != cold.start_seq[client]
}
