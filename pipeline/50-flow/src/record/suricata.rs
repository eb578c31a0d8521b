//! Suricata's `tcp.state` and `flow.state`, derived from the control bits.
//!
//! ```text
//!  none ─SYN► syn_sent ─SYN-ACK► syn_recv ─ACK► established ◄─ picked up in the middle
//!       client's FIN: close_wait ─server's FIN► last_ack ─client's ACK► closed
//!       server's FIN: fin_wait1 ─ACK of it► fin_wait2 ─client's FIN► time_wait ─ACK► closed
//!                     fin_wait1 ─client's FIN without it► closing ─ACK► time_wait
//!       RST, in any state but none: closed
//! ```
//!
//! The states are the server's, as in Suricata, which validates sequence numbers before it follows
//! a packet; here only packets with a bad checksum are excluded.

use flowpin_packet::TcpFlags;
use flowpin_record::{FlowState, TcpState};

/// The state after a segment. `acks_fin`: it acknowledges the other side's FIN.
// PERF: from a table of 1 KiB; as branches this was the least predictable step of a close.
#[inline]
pub(crate) fn next(state: TcpState, flags: TcpFlags, to_server: bool, acks_fin: bool) -> TcpState {
    let controls = flags.0 & 7 | (flags.0 & TcpFlags::ACK.0) >> 1;
    let event = controls | u8::from(to_server) << 4 | u8::from(acks_fin) << 5;
    NEXT[state as usize & 15][usize::from(event & 63)]
}

/// By state, and by FIN, SYN, RST, ACK, direction and `acks_fin`, one bit each.
static NEXT: [[TcpState; 64]; 16] = {
    let mut table = [[TcpState::None; 64]; 16];
    let mut state = 0;
    while state < STATES.len() {
        let mut event = 0;
        while event < 64u8 {
            let flags = TcpFlags(event & 7 | (event & 8) << 1);
            let (to_server, acks_fin) = (event & 16 != 0, event & 32 != 0);
            table[state][event as usize] = decide(STATES[state], flags, to_server, acks_fin);
            event += 1;
        }
        state += 1;
    }
    table
};

/// By their numbers.
const STATES: [TcpState; 11] = [
    TcpState::None,
    TcpState::SynSent,
    TcpState::SynRecv,
    TcpState::Established,
    TcpState::FinWait1,
    TcpState::FinWait2,
    TcpState::LastAck,
    TcpState::CloseWait,
    TcpState::Closing,
    TcpState::TimeWait,
    TcpState::Closed,
];
const _: () = {
    let mut state = 0;
    while state < STATES.len() {
        assert!(STATES[state] as usize == state);
        state += 1;
    }
};
const _: () = assert!(TcpFlags::FIN.0 | TcpFlags::SYN.0 | TcpFlags::RST.0 == 7);
const _: () = assert!(TcpFlags::ACK.0 == 16);

const fn decide(state: TcpState, flags: TcpFlags, to_server: bool, acks_fin: bool) -> TcpState {
    let (syn, ack) = (flags.has(TcpFlags::SYN), flags.has(TcpFlags::ACK));
    let (fin, rst) = (flags.has(TcpFlags::FIN), flags.has(TcpFlags::RST));
    if rst {
        return match state {
            TcpState::None => state,
            _ => TcpState::Closed,
        };
    }
    match state {
        TcpState::None => match (syn, ack, fin) {
            (true, true, _) => TcpState::SynRecv,
            (true, false, _) => TcpState::SynSent,
            (false, _, true) => TcpState::None,
            (false, ..) => TcpState::Established,
        },
        TcpState::SynSent if syn && ack && !to_server => TcpState::SynRecv,
        TcpState::SynRecv if fin => closing(to_server),
        TcpState::SynRecv if ack && !syn && to_server => TcpState::Established,
        TcpState::Established if fin => closing(to_server),
        TcpState::FinWait1 if fin && to_server && acks_fin => TcpState::TimeWait,
        TcpState::FinWait1 if fin && to_server => TcpState::Closing,
        TcpState::FinWait1 if to_server && acks_fin => TcpState::FinWait2,
        TcpState::FinWait2 if fin && to_server => TcpState::TimeWait,
        TcpState::Closing if ack && acks_fin => TcpState::TimeWait,
        TcpState::CloseWait if fin && !to_server => TcpState::LastAck,
        TcpState::LastAck if ack && to_server && !fin => TcpState::Closed,
        TcpState::TimeWait if ack && !fin => TcpState::Closed,
        other => other,
    }
}

/// The first FIN.
const fn closing(to_server: bool) -> TcpState {
    if to_server {
        TcpState::CloseWait
    } else {
        TcpState::FinWait1
    }
}

/// The flow state for a TCP state.
pub(crate) fn flow_state(state: TcpState) -> FlowState {
    match state {
        TcpState::None | TcpState::SynSent | TcpState::SynRecv => FlowState::New,
        TcpState::Established
        | TcpState::FinWait1
        | TcpState::FinWait2
        | TcpState::Closing
        | TcpState::CloseWait => FlowState::Established,
        TcpState::LastAck | TcpState::TimeWait | TcpState::Closed => FlowState::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::next;
    use flowpin_packet::TcpFlags;
    use flowpin_record::TcpState;

    const S: TcpFlags = TcpFlags::SYN;
    const A: TcpFlags = TcpFlags::ACK;
    const SA: TcpFlags = TcpFlags(0x12);
    const FA: TcpFlags = TcpFlags(0x11);

    fn run(steps: &[(TcpFlags, bool, bool)]) -> TcpState {
        steps
            .iter()
            .fold(TcpState::None, |state, &(flags, to_server, acks_fin)| {
                next(state, flags, to_server, acks_fin)
            })
    }

    /// The side that closes first decides the path through the states.
    #[test]
    fn both_ways_of_closing_end_in_closed() {
        let open = [(S, true, false), (SA, false, false), (A, true, false)];
        assert_eq!(run(&open), TcpState::Established);
        let by_client = [(FA, true, false), (FA, false, true), (A, true, true)];
        assert_eq!(
            run(&[&open[..], &by_client[..1]].concat()),
            TcpState::CloseWait
        );
        assert_eq!(
            run(&[&open[..], &by_client[..2]].concat()),
            TcpState::LastAck
        );
        assert_eq!(run(&[&open[..], &by_client[..]].concat()), TcpState::Closed);
        let by_server = [
            (FA, false, false),
            (A, true, true),
            (FA, true, true),
            (A, false, true),
        ];
        assert_eq!(
            run(&[&open[..], &by_server[..1]].concat()),
            TcpState::FinWait1
        );
        assert_eq!(
            run(&[&open[..], &by_server[..2]].concat()),
            TcpState::FinWait2
        );
        assert_eq!(
            run(&[&open[..], &by_server[..3]].concat()),
            TcpState::TimeWait
        );
        assert_eq!(run(&[&open[..], &by_server[..]].concat()), TcpState::Closed);
        let crossed = [(FA, false, false), (FA, true, false)];
        assert_eq!(run(&[&open[..], &crossed[..]].concat()), TcpState::Closing);
    }

    /// A stray RST or FIN begins nothing; a RST ends everything.
    #[test]
    fn a_reset_closes_what_was_open() {
        assert_eq!(run(&[(TcpFlags::RST, true, false)]), TcpState::None);
        assert_eq!(run(&[(FA, true, false)]), TcpState::None);
        assert_eq!(
            run(&[(S, true, false), (TcpFlags::RST, false, false)]),
            TcpState::Closed
        );
        assert_eq!(run(&[(A, false, false)]), TcpState::Established);
    }
}
