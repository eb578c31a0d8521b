//! One TCP segment applied to its connection: states, history, sequence numbers.
//!
//! ```text
//!              client's SYN        server's SYN(-ACK)
//!  Inactive ───────────────► SynSent ───────────────► Established (both)
//!     │ no SYN: Partial                FIN ► Closed    RST ► Reset
//!     │ ACK of a SYN-ACK: Established
//! ```
//!
//! The rules are those that users of Zeek know, written from its observable behaviour. Deliberate
//! differences:
//!
//! - a SYN-ACK before its SYN (captured out of order) is one established connection, since it
//!   acknowledges that SYN;
//! - both sides sending SYN at once is one connection (RFC 9293 §3.5), not two;
//! - a packet with a bad checksum counts, but changes no state (Zeek does not count it);
//! - a RST or FIN that its receiver ignores, as far as the [`FlowObserver`](crate::FlowObserver)
//!   knows, changes no state either, and a close that turns out to have been ignored is undone.
//!
//! Forbidden: leaving `Reset`; leaving `Closed` except for `Reset`, unless undone; a bad checksum
//! changing state.

mod fast_path;
mod reuse;
mod sequence;
mod states;

pub(crate) use fast_path::{is_in_order, mark_letter, take_fast};
pub(crate) use reuse::is_reuse;
pub(crate) use sequence::acknowledges_unseen;
pub(crate) use states::reopen;

use crate::entry::history::Letter;
use crate::entry::{Bits, Cold, EndState, Extra, Hot, Seen};
use flowpin_packet::{PacketMeta, Seq, TcpFlags};

/// Effects that few segments have: they go to the connection's [`Extra`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rare {
    pub(crate) bits: u16,
    /// Bytes of the other side's stream that this segment acknowledges and that were not seen.
    pub(crate) missed: u32,
    /// Where the other side's stream ended before that, as far as seen.
    pub(crate) seen_end: Seq,
    /// Bytes counted as missed that arrived after all.
    pub(crate) found: u32,
    /// Bytes of the other side's stream counted as missed that were never sent.
    pub(crate) unsent: u32,
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
    /// The same for the other side's stream.
    pub(crate) const PEER_WRAP: u16 = 1 << 9;
    pub(crate) const FOUND: u16 = 1 << 10;
    pub(crate) const UNSENT: u16 = 1 << 11;
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
        // SYN and FIN have a sequence number each (RFC 9293 §3.4); a RST's payload is not part of
        // the stream.
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

    /// Half of the sequence space: numbers of SYNs and RSTs further away are not believed.
    const fn is_far(&self, distance: i32) -> bool {
        self.flags.has_any(TcpFlags::SYN.with(TcpFlags::RST)) && distance.unsigned_abs() > FAR_BYTES
    }
}

const FAR_BYTES: u32 = 1 << 20;

/// The slow path: applies a segment that the fast path refused. Returns what must go to the
/// connection's [`Extra`].
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
    if reuse::is_challenged(hot, cold, meta, me) {
        write_history(hot, cold, &segment);
        if !segment.has(TcpFlags::ACK) {
            reuse::note_challenge(hot, segment.me);
        }
        return rare;
    }
    if hot.seen.is_challenged() {
        reuse::take_answer(hot, &segment);
    }
    let answers_other = sequence::answers_other_syn(hot, &segment);
    sequence::meet(hot, cold, extra.as_deref_mut(), &segment);
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
        sequence::number_silent_side(hot, cold, &segment);
    }
    sequence::take_sequence(hot, cold, extra.as_deref_mut(), &segment, &mut rare);
    states::change_states(hot, cold, &segment);
    if answers_other {
        hot.control_seq[segment.peer] = segment.ack;
    } else if acknowledges && !segment.has(TcpFlags::RST) {
        sequence::take_acknowledgement(hot, extra.as_deref_mut(), &segment, &mut rare);
    }
    let acks_fin = acknowledges
        && hot.tcp_flags[segment.peer].has(TcpFlags::FIN)
        && segment.ack.distance_from(hot.control_seq[segment.peer]) >= 0;
    hot.tcp_state =
        crate::record::suricata::next(hot.tcp_state, segment.flags, segment.by_client, acks_fin);
    hot.class = states::class_of(hot);
    let holes = rare.bits & Rare::ISLAND != 0
        || extra.is_some_and(|extra| extra.islands.iter().any(|islands| !islands.is_empty()));
    let is_quiet = states::is_quiet(hot, cold, holes) && !hot.seen.is_challenged();
    hot.seen.set_quiet(is_quiet);
    rare
}

/// A RST or FIN that its receiver ignores: a letter of the history, and nothing else.
pub(crate) fn pass_over(hot: &mut Hot, meta: &PacketMeta, me: usize) {
    let (seen, letter) = if meta.tcp_flags.has(TcpFlags::RST) {
        (Seen::RST, Letter::Rst)
    } else {
        (Seen::FIN, Letter::Fin)
    };
    if hot.seen.mark(seen, me) {
        hot.history.push_for(letter, me == hot.client());
    }
}

/// Each kind of segment once per side; SYN, FIN and RST again if their number differs.
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

/// From the SYN to the client's first ACK: one round trip, wherever on the path the capture was
/// made. A repeated SYN counts from its last copy; a repeated SYN-ACK makes the time unknowable.
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
            know_rtt(hot, cold, meta);
        }
        _ => {}
    }
}

/// From the last SYN to now: the round trip, unless it is longer than four seconds.
fn know_rtt(hot: &mut Hot, cold: &mut Cold, meta: &PacketMeta) {
    let last_syn = cold.start.0.saturating_add(cold.rtt.into());
    let whole = meta.time.0.checked_sub(last_syn);
    match whole.and_then(|ns| ns.try_into().ok()) {
        Some(ns) => {
            cold.rtt = ns;
            hot.bits.set(Bits::RTT_KNOWN);
        }
        None => hot.bits.set(Bits::RTT_VOID),
    }
}
