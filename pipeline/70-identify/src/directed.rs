//! Expressions over what one direction says first: those that grammars bring.

use flowpin_pattern::{Automaton, Fed, Hir, Limits, Refusal, State};

/// An expression, and what finds it.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The protocol that speaks so.
    pub protocol: String,
    /// What it is.
    pub hir: Hir,
    /// Whether the client's bytes are asked, and the server's.
    pub sides: [bool; 2],
}

/// Those of each direction as one automaton.
#[derive(Debug, Default)]
pub(crate) struct Directed {
    pub(crate) protocols: Vec<String>,
    sides: [Option<Side>; 2],
}

#[derive(Debug)]
struct Side {
    automaton: Automaton,
    /// By pattern of the automaton: which expression it is.
    of: Vec<u16>,
}

impl Directed {
    /// Compiles all.
    pub(crate) fn new(all: &[Expression], limits: &Limits) -> Result<Self, Refusal> {
        let side = |which: usize| {
            let asked = |one: &&(u16, &Expression)| one.1.sides.get(which) == Some(&true);
            let numbered: Vec<(u16, &Expression)> = (0u16..).zip(all).collect();
            let of: Vec<u16> = numbered.iter().filter(asked).map(|one| one.0).collect();
            let patterns: Vec<Hir> = numbered
                .iter()
                .filter(asked)
                .map(|one| one.1.hir.clone())
                .collect();
            if patterns.is_empty() {
                return Ok(None);
            }
            let automaton = Automaton::build(&patterns, false, limits)?;
            Ok(Some(Side { automaton, of }))
        };
        Ok(Self {
            protocols: all.iter().map(|one| one.protocol.clone()).collect(),
            sides: [side(0)?, side(1)?],
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.protocols.is_empty()
    }

    pub(crate) fn start(&self) -> [State; 2] {
        let start = |side: &Option<Side>| {
            side.as_ref()
                .map_or(State::DEAD, |side| side.automaton.start())
        };
        let [client, server] = &self.sides;
        [start(client), start(server)]
    }

    /// Goes on with bytes of one direction (zeros are left out): which expression fits, and how
    /// many of them it needed.
    pub(crate) fn feed(
        &self,
        which: usize,
        state: &mut State,
        bytes: &[u8],
    ) -> Option<(u16, usize)> {
        let side = self.sides.get(which)?.as_ref()?;
        if state.is_dead() {
            return None;
        }
        match side.automaton.feed_without_nuls(state, bytes) {
            Fed::Match(pattern, len) => {
                *state = State::DEAD;
                Some((*side.of.get(usize::from(pattern))?, len))
            }
            Fed::Dead => {
                *state = State::DEAD;
                None
            }
            Fed::More => None,
        }
    }

    /// What `$` waits for.
    pub(crate) fn at_end(&self, which: usize, state: State) -> Option<u16> {
        let side = self.sides.get(which)?.as_ref()?;
        let pattern = side.automaton.at_end(state)?;
        side.of.get(usize::from(pattern)).copied()
    }
}
