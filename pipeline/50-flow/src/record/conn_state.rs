//! Zeek's `conn_state`, derived from the states of both sides.

use crate::entry::history::Letters;
use crate::entry::{EndState, Hot};
use flowpin_record::ConnState;

/// The final state of both sides.
pub(crate) struct Outcome {
    pub(crate) client: EndState,
    pub(crate) server: EndState,
    pub(crate) history: Letters,
    /// Whether neither side sent a byte.
    pub(crate) empty: bool,
}

/// As Zeek's `base/protocols/conn` decides it for TCP.
pub(crate) fn of_tcp(outcome: &Outcome) -> ConnState {
    use EndState::{Closed, Established, Inactive, Partial, Reset, SynAckSent, SynSent};
    let (client, server) = (outcome.client, outcome.server);
    let unknown = |state| matches!(state, Inactive | Partial);
    match (client, server) {
        (SynSent | SynAckSent, Reset) => ConnState::REJ,
        (Reset, Reset) if outcome.empty => ConnState::REJ,
        (_, Reset) if unknown(client) => ConnState::RSTRH,
        (_, Reset) => ConnState::RSTR,
        (Reset, _) if !unknown(server) => ConnState::RSTO,
        (Reset, _) if is_syn_then_reset(outcome.history) => ConnState::RSTOS0,
        (Reset, _) => ConnState::OTH,
        (Closed, Closed) => ConnState::SF,
        (Closed, _) if unknown(server) => ConnState::SH,
        (Closed, _) => ConnState::S2,
        (_, Closed) if unknown(client) => ConnState::SHR,
        (_, Closed) => ConnState::S3,
        (SynSent, Inactive) => ConnState::S0,
        (Established, Established) => ConnState::S1,
        _ => ConnState::OTH,
    }
}

/// UDP and SCTP: by which sides sent at all.
pub(crate) fn of_datagrams(client_sent: bool, server_sent: bool) -> ConnState {
    match (client_sent, server_sent) {
        (true, true) => ConnState::SF,
        (true, false) => ConnState::S0,
        (false, true) => ConnState::SHR,
        (false, false) => ConnState::OTH,
    }
}

/// A SYN, then nothing of the client's handshake, no data in order and no end except a RST.
fn is_syn_then_reset(letters: Letters) -> bool {
    let history = letters.history();
    let text = history.as_str();
    let text = text.strip_prefix('^').unwrap_or(text);
    let Some(rest) = text.strip_prefix('S') else {
        return false;
    };
    let before = rest
        .find(['H', 'A', 'F', 'G', 'I', 'Q'])
        .unwrap_or(rest.len());
    rest.get(..before)
        .is_some_and(|allowed| allowed.contains('R'))
}

/// The states of the two sides, the client's first.
pub(crate) fn sides(hot: &Hot) -> (EndState, EndState) {
    let client = hot.client();
    (hot.ends[client].state(), hot.ends[client ^ 1].state())
}
