//! The states of both sides, and what follows from them.

use super::Segment;
use crate::entry::{Bits, Cold, EndState, Hot};
use crate::time::timeouts::Class;
use flowpin_packet::TcpFlags;
use flowpin_record::{FlowState, TcpState};

/// The states of both sides after a segment, and whether the connection is over.
pub(super) fn change_states(hot: &mut Hot, cold: &Cold, segment: &Segment) {
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

/// Whether data in order and plain acknowledgements change nothing but sums.
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
