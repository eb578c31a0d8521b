//! One connection, and how far every pattern is with it.
//!
//! As a run asks loaded patterns: both directions are one buffer in order of arrival, zero bytes
//! are not there, `$` is where a datagram, a turn or the stream ends.

use flowpin_identify::{DATAGRAMS_MAX, STREAM_BYTES_MAX};
use flowpin_pattern::{Automaton, Fed, State};

/// How far the patterns are.
pub(super) struct Attempt {
    /// By pattern.
    states: Vec<State>,
    /// By pattern: bytes looked at.
    pub(super) read: Vec<u32>,
    pub(super) hits: Vec<Hit>,
    /// Who spoke last; none: nobody yet.
    turn: Option<bool>,
    /// Bytes of the client, and of the server.
    fed: [usize; 2],
    over: [bool; 2],
    datagrams: u8,
}

/// A match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) pattern: usize,
    pub(super) to_server: bool,
    pub(super) bytes: usize,
    pub(super) datagram: Option<u8>,
    pub(super) at_end: bool,
}

impl Attempt {
    pub(super) fn new(automata: &[Automaton]) -> Self {
        Self {
            states: automata.iter().map(Automaton::start).collect(),
            read: vec![0; automata.len()],
            hits: Vec::new(),
            turn: None,
            fed: [0; 2],
            over: [false; 2],
            datagrams: 0,
        }
    }

    /// The next bytes of a stream.
    pub(super) fn stream(&mut self, automata: &[Automaton], to_server: bool, bytes: &[u8]) {
        if self.over.get(side(to_server)).copied().unwrap_or(true) {
            return;
        }
        if let Some(before) = self.turn
            && before != to_server
        {
            self.end(automata, before);
        }
        self.feed(automata, to_server, bytes, None);
    }

    /// A datagram.
    pub(super) fn datagram(&mut self, automata: &[Automaton], to_server: bool, bytes: &[u8]) {
        if self.datagrams >= DATAGRAMS_MAX {
            return;
        }
        self.datagrams += 1;
        self.feed(automata, to_server, bytes, Some(self.datagrams));
        self.end(automata, to_server);
    }

    /// Nothing more comes from one side, or nothing that can be understood.
    pub(super) fn side_over(&mut self, automata: &[Automaton], to_server: bool) {
        if let Some(over) = self.over.get_mut(side(to_server)) {
            *over = true;
        }
        if let Some(turn) = self.turn {
            self.end(automata, turn);
        }
    }

    fn feed(
        &mut self,
        automata: &[Automaton],
        to_server: bool,
        bytes: &[u8],
        datagram: Option<u8>,
    ) {
        self.turn = Some(to_server);
        let Some(fed) = self.fed.get_mut(side(to_server)) else {
            return;
        };
        let before = if datagram.is_some() { 0 } else { *fed };
        let bytes = bytes
            .get(..STREAM_BYTES_MAX.saturating_sub(*fed))
            .unwrap_or(bytes);
        *fed += bytes.len();
        for (pattern, automaton) in automata.iter().enumerate() {
            let (Some(state), Some(read)) =
                (self.states.get_mut(pattern), self.read.get_mut(pattern))
            else {
                continue;
            };
            for (at, byte) in bytes.iter().enumerate() {
                if state.is_dead() {
                    break;
                }
                *read += 1;
                let fed = automaton.feed_without_nuls(state, core::slice::from_ref(byte));
                if let Fed::Match(..) = fed {
                    *state = State::DEAD;
                    self.hits.push(Hit {
                        pattern,
                        to_server,
                        bytes: before + at + 1,
                        datagram,
                        at_end: false,
                    });
                }
            }
        }
    }

    /// A turn, a datagram or the stream ends.
    fn end(&mut self, automata: &[Automaton], to_server: bool) {
        let fed = self.fed.get(side(to_server)).copied().unwrap_or(0);
        let datagram = (self.datagrams > 0).then_some(self.datagrams);
        for (pattern, (automaton, state)) in automata.iter().zip(&mut self.states).enumerate() {
            if automaton.at_end(*state).is_some() {
                *state = State::DEAD;
                self.hits.push(Hit {
                    pattern,
                    to_server,
                    bytes: fed,
                    datagram,
                    at_end: true,
                });
            }
        }
    }
}

const fn side(to_server: bool) -> usize {
    if to_server { 0 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::{Attempt, Hit};
    use flowpin_pattern::{Automaton, Limits, l7};

    fn automaton(expression: &str) -> Automaton {
        let limits = Limits::default();
        let hir = l7::parse_expression(expression, &limits).unwrap();
        Automaton::build(&[hir], true, &limits).unwrap()
    }

    /// What is told is whose bytes completed the match, and how many it took.
    #[test]
    fn a_match_is_told_where_it_ends() {
        let automata = [automaton("^ab.*yz"), automaton("^abc$"), automaton("^x")];
        let mut attempt = Attempt::new(&automata);
        attempt.stream(&automata, true, b"a\0b");
        attempt.stream(&automata, true, b"c");
        attempt.stream(&automata, false, b"--yz--");
        let hit = |pattern, to_server, bytes, at_end| Hit {
            pattern,
            to_server,
            bytes,
            datagram: None,
            at_end,
        };
        assert_eq!(
            attempt.hits,
            [hit(1, true, 4, true), hit(0, false, 4, false)]
        );
        assert_eq!(attempt.read, [8, 4, 1]);
    }

    /// A datagram's end is an end, and offsets are its own.
    #[test]
    fn datagrams_are_told_by_number() {
        let automata = [automaton("^a.*c$")];
        let mut attempt = Attempt::new(&automata);
        attempt.datagram(&automata, true, b"ab");
        attempt.datagram(&automata, false, b"bc");
        let [hit] = attempt.hits[..] else { panic!() };
        assert_eq!((hit.datagram, hit.bytes, hit.at_end), (Some(2), 2, true));
    }
}
