//! The states of both sides, and what follows from them.

use super::Segment;
use crate::entry::{Bits, Cold, EndState, Hot};
use crate::time::timeouts::Class;
use flowpin_packet::{Seq, TcpFlags};
use flowpin_record::{FlowState, TcpState};

/// Updates the states of both sides after a segment, and whether the connection is over.
pub(super) fn change_states(hot: &mut Hot, cold: &Cold, segment: &Segment) {
    let (me, peer) = (segment.me, segment.peer);
    let (syn, fin) = (segment.has(TcpFlags::SYN), segment.has(TcpFlags::FIN));
    let rst = segment.has(TcpFlags::RST);
    if syn && segment.has(TcpFlags::ACK) && !hot.closed(me) {
        take_back_early_fin(hot, peer);
    }
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
        if hot.ends[me].state() == EndState::Reset || hot.ends[peer].state() == EndState::Inactive {
            hot.bits.set(Bits::OVER);
        }
    }
    end_if_whole(hot);
}

/// Ends a connection that both sides have closed: a FIN counts once everything before it has
/// arrived, or is known to be missing.
#[inline]
pub(super) fn end_if_whole(hot: &mut Hot) {
    let is_whole = |side: usize| hot.next[side].distance_from(hot.control_seq[side]) >= 0;
    if hot.closed(0) && hot.closed(1) && is_whole(0) && is_whole(1) {
        hot.bits.set(Bits::OVER);
    }
}

/// RFC 9293 §3.10.4: a host that has only sent a SYN cannot send a FIN. The answer shows that the
/// receiver of one did not accept it.
fn take_back_early_fin(hot: &mut Hot, side: usize) {
    let end = &mut hot.ends[side];
    if end.state() == EndState::Closed && end.previous() == EndState::SynSent {
        end.undo();
        hot.bits.clear(Bits::OVER | Bits::CLOSED << side);
    }
}

/// Continues a stream that a FIN of its sender `side`, or a RST, seemed to have closed: the
/// receiver has acknowledged more of it, up to `acked`. `fin`: the side whose FIN says so, and its
/// number.
pub(crate) fn reopen(hot: &mut Hot, side: usize, acked: Seq, fin: Option<(usize, Seq)>) {
    for one in [side & 1, side & 1 ^ 1] {
        if one == side && has_closed_again(hot, one, acked) {
            continue;
        }
        let state = hot.ends[one].state();
        if state == EndState::Reset || state == EndState::Closed && one == side {
            hot.ends[one].undo();
            hot.bits.clear((Bits::CLOSED | Bits::CONTROL_IS_RST) << one);
        }
    }
    hot.bits.clear(Bits::OVER);
    if let Some((by, end)) = fin.filter(|&(by, _)| !hot.closed(by)) {
        hot.ends[by & 1].set(EndState::Closed);
        hot.bits.set(Bits::CLOSED << (by & 1));
        hot.control_seq[by & 1] = end;
    }
    if acked.is_after(hot.next[side & 1]) {
        hot.next[side & 1] = acked;
    }
    let client = hot.client();
    hot.tcp_state = match (hot.closed(client), hot.closed(client ^ 1)) {
        (true, true) => hot.tcp_state,
        (true, false) => TcpState::CloseWait,
        (false, true) => TcpState::FinWait2,
        (false, false) => TcpState::Established,
    };
    end_if_whole(hot);
    hot.class = class_of(hot);
}

/// Whether a side has sent another FIN after the one that was ignored, and just this one is
/// acknowledged.
fn has_closed_again(hot: &Hot, side: usize, acked: Seq) -> bool {
    hot.ends[side & 1].state() == EndState::Closed
        && !hot.bits.has(Bits::CONTROL_IS_RST << (side & 1))
        && hot.control_seq[side & 1] == acked
}

/// The first segment of a side.
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
            // Its SYN-ACK was captured first, and acknowledged this very SYN.
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

/// The time-out that applies from now on.
pub(super) fn class_of(hot: &Hot) -> Class {
    let (client, server) = crate::record::conn_state::sides(hot);
    if hot.bits.has(Bits::OVER) {
        Class::TcpClosed
    } else if server == EndState::Inactive
        && matches!(
            client,
            EndState::SynSent | EndState::SynAckSent | EndState::Inactive
        )
    {
        Class::Attempt
    } else if crate::record::suricata::flow_state(hot.tcp_state) == FlowState::New {
        Class::TcpNew
    } else {
        Class::TcpEstablished
    }
}

/// Whether data in order and plain acknowledgements change only sums.
pub(super) fn is_quiet(hot: &Hot, cold: &Cold, holes: bool) -> bool {
    let calm = |side: usize| match hot.ends[side].state() {
        EndState::Established | EndState::Partial => true,
        EndState::Inactive => super::sequence::is_numbered(hot, cold, side),
        _ => false,
    };
    let behind = hot.bits.has(Bits::BEHIND_ACK | (Bits::BEHIND_ACK << 1));
    let timing =
        hot.bits.has(Bits::SYN_ACK_SEEN) && !hot.bits.has(Bits::RTT_KNOWN | Bits::RTT_VOID);
    let established = hot.tcp_state == TcpState::Established;
    established && !holes && !behind && !timing && calm(0) && calm(1)
}
