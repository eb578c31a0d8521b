//! Sequence and acknowledgement numbers: how far each stream got, and what is missing from it.

use super::{FAR_BYTES, Rare, Segment};
use crate::entry::{Bits, Cold, EndState, Extra, Hot};
use flowpin_packet::{PacketMeta, Seq, TcpFlags};
use flowpin_record::TcpState;

/// Numbers a side's stream at its first segment, and again if a SYN has another number.
pub(super) fn meet(hot: &mut Hot, cold: &mut Cold, extra: Option<&mut Extra>, segment: &Segment) {
    let me = segment.me;
    let syn = segment.has(TcpFlags::SYN);
    if is_of_other_syn(hot, segment) {
        cold.start_seq[me] = Seq(segment.seq.0.wrapping_sub(1));
        hot.next[me] = segment.seq;
        return;
    }
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
        extra.islands[me] = crate::entry::stream::Islands::NONE;
    }
    hot.bits.clear(Bits::BEHIND_ACK << me);
}

/// Whether a SYN-ACK acknowledges a SYN other than the last one seen. It need not be believed: the
/// client's next segment will show (RFC 9293 §3.5). The acknowledged number is stored in the place
/// of a FIN's number, as there is no FIN yet.
pub(super) fn answers_other_syn(hot: &Hot, segment: &Segment) -> bool {
    segment.has(TcpFlags::SYN)
        && segment.has(TcpFlags::ACK)
        && hot.ends[segment.peer].state() == EndState::SynSent
        && segment.ack != hot.next[segment.peer]
}

/// Whether the client continues from the SYN that such a SYN-ACK acknowledged.
fn is_of_other_syn(hot: &Hot, segment: &Segment) -> bool {
    let closes = TcpFlags::SYN.with(TcpFlags::RST);
    hot.tcp_state == TcpState::SynRecv
        && segment.by_client
        && !segment.flags.has_any(closes)
        && hot.ends[segment.me].state() == EndState::Established
        && segment.seq != hot.next[segment.me]
        && segment.seq == hot.control_seq[segment.me]
        && !hot.tcp_flags[segment.me].has_any(TcpFlags::FIN.with(TcpFlags::RST))
}

/// Numbers a side that was not seen by what is acknowledged to it, as if its SYN had been seen: by
/// the first acknowledgement, and by those that go further.
pub(super) fn number_silent_side(hot: &mut Hot, cold: &mut Cold, segment: &Segment) {
    let peer = segment.peer;
    if !is_numbered(hot, cold, peer) || segment.ack.is_after(hot.next[peer]) {
        cold.start_seq[peer] = Seq(segment.ack.0.wrapping_sub(1));
        hot.next[peer] = segment.ack;
    }
}

/// Whether a side's stream has a start: no stream has these two numbers, since the second follows
/// the first.
pub(super) fn is_numbered(hot: &Hot, cold: &Cold, side: usize) -> bool {
    cold.start_seq[side] != Seq(0) || hot.next[side] != Seq(0)
}

/// Advances the sender's stream, or records bytes beyond a hole.
pub(super) fn take_sequence(
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
        // Only the SYN was seen, so more than 2 GiB may lie between.
        move_next(hot, me, segment.end, Rare::WRAP, rare);
        return;
    }
    if reset {
        return;
    }
    if distance <= 0 && segment.len > 0 {
        rare.bits |= Rare::RETRANSMISSION;
    }
    if let Some(seen_end) = seen_end {
        find_missed(segment, seen_end, next, rare);
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

/// A segment contains bytes that were acknowledged before they were seen: they are not missed.
fn find_missed(segment: &Segment, seen_end: Seq, next: Seq, rare: &mut Rare) {
    let later = |one: Seq, other: Seq| if one.is_after(other) { one } else { other };
    let behind = segment.end.distance_from(next).max(0);
    let found = segment.end.distance_from(later(segment.seq, seen_end)) - behind;
    if found > 0 {
        rare.bits |= Rare::FOUND;
        rare.found = found.unsigned_abs();
    }
}

/// Whether a segment acknowledges more of the other side's stream than was seen without a hole.
pub(crate) fn acknowledges_unseen(hot: &Hot, meta: &PacketMeta, side: usize) -> bool {
    let peer = side & 1 ^ 1;
    let opens_or_resets = TcpFlags::SYN.with(TcpFlags::RST);
    meta.tcp_flags.has(TcpFlags::ACK)
        && !meta.tcp_flags.has_any(opens_or_resets)
        && hot.ends[peer].state() != EndState::Inactive
        && meta.ack.is_after(hot.next[peer])
}

/// Less is acknowledged than before, but more than was seen: either the bytes between were never
/// sent, or the acknowledgement is older than the last one, and the next one will say more.
fn take_back(hot: &mut Hot, extra: Option<&mut Extra>, segment: &Segment, rare: &mut Rare) {
    let peer = segment.peer;
    let (true, Some(extra)) = (hot.bits.has(Bits::BEHIND_ACK << peer), extra) else {
        return;
    };
    let (next, seen_end) = (hot.next[peer], extra.seen_end[peer]);
    let unsent = next.distance_from(segment.ack);
    if unsent <= 0 || seen_end.is_after(segment.ack) || !extra.islands[peer].is_empty() {
        return;
    }
    rare.bits |= Rare::UNSENT;
    rare.unsent = unsent.unsigned_abs();
    if segment.ack.0 > next.0 {
        extra.wraps[peer] = extra.wraps[peer].saturating_sub(1);
    }
    hot.next[peer] = segment.ack;
    if segment.ack == seen_end {
        hot.bits.clear(Bits::BEHIND_ACK << peer);
    }
}

/// The capture should have everything that the other side received; what it lacks is missed.
pub(super) fn take_acknowledgement(
    hot: &mut Hot,
    extra: Option<&mut Extra>,
    segment: &Segment,
    rare: &mut Rare,
) {
    let peer = segment.peer;
    let next = hot.next[peer];
    let ahead = segment.ack.distance_from(next);
    if ahead < 0 {
        return take_back(hot, extra, segment, rare);
    }
    // A zero far away is more likely a broken field than the end of a big stream.
    if ahead == 0
        || hot.ends[peer].state() == EndState::Inactive
        || segment.ack.0 == 0 && ahead.unsigned_abs() > FAR_BYTES
    {
        return;
    }
    let mut missed = ahead.unsigned_abs();
    let mut seen_end = next;
    let mut to = segment.ack;
    if let Some(extra) = extra {
        let behind = hot.bits.has(Bits::BEHIND_ACK << peer);
        let before = if behind { extra.seen_end[peer] } else { next };
        let islands = &mut extra.islands[peer];
        missed = islands.uncovered(next, segment.ack);
        seen_end = islands.end().unwrap_or(before);
        to = islands.absorb(segment.ack);
    }
    // Only between sides that completed a handshake: elsewhere acknowledgements prove nothing.
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
