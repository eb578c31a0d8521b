//! A SYN on an existing connection: a new connection, a repetition, or not to be believed.
//!
//! ```text
//!  SYN with another number, while the connection is …
//!    not yet answered, or over (both FINs)         begins a new connection
//!    a few packets of one side, without a SYN      begins a new connection
//!    open, and silent for a minute                 begins a new connection: its hosts forgot it
//!    open                                          answered by a challenge ACK (RFC 5961 §4.2);
//!                                                  belongs to it and changes nothing
//!    … and then a SYN-ACK with another number      begins a new connection: the host had forgotten
//!                                                  this one, if it has not continued it since
//!    open until a RST, which may not have counted  the same: an attacker can forge both
//!    … and then a SYN-ACK with another number      begins a new connection: the host had forgotten
//! ```
//!
//! Zeek begins a new connection at any SYN with another number, and at any SYN once one side has
//! closed. Suricata does so only after both have closed (its `LAST_ACK`), and reports the others as
//! anomalies, as reassembly does here. Without forgery, a SYN into an open connection means that
//! its end was not captured: then the SYN counts on the old connection and its answer begins the
//! new one. (tshark begins a new stream at any SYN with another number.)

use super::{FAR_BYTES, Segment};
use crate::entry::{Bits, Cold, EndState, Hot, Seen};
use flowpin_packet::{PacketMeta, TcpFlags};
use flowpin_record::TcpState;

/// How long a connection must be silent until its hosts have forgotten it: the time for which
/// systems keep a closed one (RFC 9293 §3.4.2 asks for four minutes; Linux uses one, BSD half of
/// that).
const SILENCE_NS: u64 = 60_000_000_000;

/// Whether a SYN begins a new connection with the same addresses and ports.
pub(crate) fn is_reuse(hot: &Hot, cold: &Cold, meta: &PacketMeta, me: usize) -> bool {
    let client = hot.client();
    let is_over = is_over(hot);
    if meta.tcp_flags.has(TcpFlags::RST) {
        // RFC 9293 §3.10.7: nobody reads its SYN.
        return false;
    }
    if !meta.tcp_flags.has(TcpFlags::ACK) && is_remnant(hot, me & 1) {
        return true;
    }
    if was_reset_open(hot) && !meta.tcp_flags.has(TcpFlags::ACK) {
        return false;
    }
    if meta.tcp_flags.has(TcpFlags::ACK) {
        // Only while no client was seen; or the answer to a SYN that was not believed.
        let alone = hot.ends[client].state() == EndState::Inactive
            && hot.ends[client ^ 1].state() != EndState::Inactive;
        let other = meta.seq != cold.start_seq[me & 1];
        let answers = me != client || hot.bits.has(Bits::MIDSTREAM);
        let challenged = hot.seen.is_challenged() && other && answers;
        // Both sides had sent a SYN, but this is the answer of a host that had sent none.
        let crossed = hot.tcp_state == TcpState::SynSent
            && hot.ends[client ^ 1].state() != EndState::Inactive;
        return challenged
            || crossed && other && me == client
            || alone && (is_over || meta.seq != cold.start_seq[client ^ 1]);
    }
    if hot.ends[0].state() == EndState::Inactive && hot.ends[1].state() == EndState::Inactive {
        // Only bad checksums so far.
        return false;
    }
    if me != client
        && hot.ends[client].state() == EndState::SynSent
        && hot.ends[me].state() == EndState::Inactive
    {
        // RFC 9293 §3.5: both sides open at once.
        return false;
    }
    if is_open(hot) {
        // Also with the same number: no copy of the first SYN arrives this late.
        return meta.stream_time.nanos_since(hot.since) >= SILENCE_NS;
    }
    is_over || meta.seq != cold.start_seq[client]
}

/// Whether a SYN or SYN-ACK that begins nothing also changes nothing (RFC 5961 §4.2).
pub(super) fn is_challenged(hot: &Hot, cold: &Cold, meta: &PacketMeta, me: usize) -> bool {
    let me = me & 1;
    let other = meta.seq != cold.start_seq[me];
    // Of two SYN-ACKs the last one counts, until the client has answered.
    let opening = hot.tcp_state == TcpState::SynRecv && meta.tcp_flags.has(TcpFlags::ACK);
    let seen = hot.ends[me].state() != EndState::Inactive;
    let is_challenged = is_open(hot) && !opening && seen && other;
    meta.tcp_flags.has(TcpFlags::SYN) && (is_challenged || was_reset_open(hot))
}

/// Notes a SYN that was not believed: a SYN-ACK of the server may show that its host has forgotten
/// the connection. Where no handshake was seen, either side may be the server.
pub(super) fn note_challenge(hot: &mut Hot, me: usize) {
    if me == hot.client() || hot.bits.has(Bits::MIDSTREAM) {
        hot.seen.set_challenged();
    }
}

/// A server that continues an open connection after such a SYN has not forgotten it: it does not
/// answer the SYN. (RFC 5961 §4.2 asks it for a challenge ACK.)
pub(super) fn take_answer(hot: &mut Hot, segment: &Segment) {
    let closes = TcpFlags::SYN.with(TcpFlags::RST);
    let far = segment
        .seq
        .distance_from(hot.next[segment.me])
        .unsigned_abs()
        > FAR_BYTES;
    let is_answer = !segment.by_client && !segment.flags.has_any(closes) && !far;
    if is_answer && is_open(hot) && !hot.bits.has(Bits::MIDSTREAM) {
        hot.seen.0 &= !Seen::CHALLENGED;
    }
}

/// Whether only a RST says that the connection is over, and it was open before.
fn was_reset_open(hot: &Hot) -> bool {
    let end = |side: usize| (hot.ends[side].state(), hot.ends[side].previous());
    let was_open = |side| match end(side) {
        (EndState::Reset, before) => before != EndState::Inactive,
        (state, _) => matches!(
            state,
            EndState::Established | EndState::Partial | EndState::Closed
        ),
    };
    // Its client has answered the SYN-ACK: each attempt of a scan is a connection.
    let client = hot.client();
    let answered = hot.seen.has(Seen::ACK, client) || hot.seen.has(Seen::DATA, client);
    let is_reset = [0, 1].iter().any(|&side| end(side).0 == EndState::Reset);
    is_reset && answered && was_open(0) && was_open(1)
}

/// The synchronized states of RFC 9293, except those in which both sides have closed; and
/// SYN-RECEIVED, in which a SYN gets the same answer (§3.10.7.4).
fn is_open(hot: &Hot) -> bool {
    let synchronized = matches!(
        hot.tcp_state,
        TcpState::SynRecv
            | TcpState::Established
            | TcpState::FinWait1
            | TcpState::FinWait2
            | TcpState::CloseWait
            | TcpState::Closing
    );
    synchronized && !is_over(hot)
}

/// Whether it has few packets of one side only, and no SYN: rather the end of an earlier
/// connection, or packets that nobody accepts, than one that a SYN cannot touch.
fn is_remnant(hot: &Hot, me: usize) -> bool {
    // RSTs that are not believed leave their side as it was.
    let silent = |side: usize| hot.ends[side].state() == EndState::Inactive;
    let speaker = usize::from(silent(0));
    // A SYN-ACK was first: it may have overtaken the SYN of the other side, but not of its own.
    let is_stray = me == speaker && silent(hot.client());
    let is_begun = !hot.bits.has(Bits::MIDSTREAM) && !is_stray;
    !is_begun && silent(0) != silent(1) && hot.packets[speaker] <= REMNANT_PACKETS
}

/// One-sided captures that begin in mid-connection have more than this before anybody can know.
const REMNANT_PACKETS: u32 = 3;

fn is_over(hot: &Hot) -> bool {
    hot.bits.has(Bits::OVER) || hot.closed(0) && hot.closed(1)
}

impl Seen {
    /// A SYN was not believed.
    const CHALLENGED: u16 = 1 << 15;

    pub(super) const fn is_challenged(self) -> bool {
        self.0 & Self::CHALLENGED != 0
    }

    /// What follows takes the slow path, until it shows who is right.
    const fn set_challenged(&mut self) {
        self.0 |= Self::CHALLENGED;
        self.set_quiet(false);
    }
}
