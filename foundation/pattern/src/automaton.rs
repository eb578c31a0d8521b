//! A compiled group of patterns: one table, walked a byte at a time, left and resumed anywhere.
//!
//! ```text
//!  state    0        1 ..= accepting      accepting + 1 ..
//!           dead     a pattern matched    more bytes decide
//!
//!  next state = next[state << shift | class of the byte]
//! ```
//!
//! The search ends at the first match, so nothing leads out of an accepting state. States and
//! classes are merged as far as they can be; numbers follow from the patterns alone.

/// Where a search stands: all that has to be kept between two segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State(pub(crate) u16);

impl State {
    /// The state of a search that can no longer match.
    pub const DEAD: Self = Self(0);

    /// Whether no further byte can lead to a match.
    #[inline]
    pub const fn is_dead(self) -> bool {
        self.0 == 0
    }
}

/// What some bytes led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// A pattern matched, by its place in the group, this many bytes into what was fed.
    Match(u16, usize),
    /// None can match any more.
    Dead,
    /// More bytes are needed.
    More,
}

/// Some patterns as one automaton.
///
/// ```
/// use flowpin_pattern::{Automaton, Fed, Limits, own};
/// let patterns = [own("SSH-[12]\\.").unwrap(), own("RFB 00[0-9]").unwrap()];
/// let automaton = Automaton::build(&patterns, true, &Limits::default()).unwrap();
/// let mut state = automaton.start();
/// assert_eq!(automaton.feed(&mut state, b"RFB 0"), Fed::More);
/// assert_eq!(automaton.feed(&mut state, b"03.008\n"), Fed::Match(1, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    pub(crate) classes: [u8; 256],
    pub(crate) shift: u32,
    /// The last accepting state; those after it are live.
    pub(crate) accepting: u16,
    pub(crate) start: u16,
    /// By accepting state, less one: which pattern.
    pub(crate) patterns: Vec<u16>,
    /// By state: which pattern matches if the bytes end here, plus one.
    pub(crate) at_end: Vec<u16>,
    pub(crate) next: Vec<u16>,
}

impl Automaton {
    /// Where a search begins.
    #[inline]
    pub const fn start(&self) -> State {
        State(self.start)
    }

    /// Goes on with `bytes`.
    #[inline]
    pub fn feed(&self, state: &mut State, bytes: &[u8]) -> Fed {
        self.walk(state, bytes, |_| true)
    }

    /// Goes on with `bytes`, as if those that are 0 were not there.
    #[inline]
    pub fn feed_without_nuls(&self, state: &mut State, bytes: &[u8]) -> Fed {
        self.walk(state, bytes, |byte| byte != 0)
    }

    #[inline]
    fn walk(&self, state: &mut State, bytes: &[u8], wanted: impl Fn(u8) -> bool) -> Fed {
        let mut at = state.0;
        if at > self.accepting {
            for (index, &byte) in bytes.iter().enumerate() {
                if !wanted(byte) {
                    continue;
                }
                at = self.step(at, byte);
                if at <= self.accepting {
                    *state = State(at);
                    return self.outcome(at, index.saturating_add(1));
                }
            }
            *state = State(at);
        }
        self.outcome(at, 0)
    }

    /// The bytes that lead away from the start, if they are at most three and all others stay
    /// there.
    pub(crate) fn wakes(&self) -> Option<[u8; 3]> {
        let leaves = |&byte: &u8| self.step(self.start, byte) != self.start;
        let away: Vec<u8> = (1..=u8::MAX).filter(leaves).take(4).collect();
        let is_live = self.start > self.accepting;
        match (is_live, away.as_slice()) {
            (true, &[one]) => Some([one; 3]),
            (true, &[one, two]) => Some([one, two, two]),
            (true, &[one, two, three]) => Some([one, two, three]),
            _ => None,
        }
    }

    /// As [`Automaton::feed_without_nuls`], where only these bytes lead away from the start.
    pub(crate) fn feed_waking(&self, state: &mut State, bytes: &[u8], wakes: [u8; 3]) -> Fed {
        let [one, two, three] = wakes;
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let asleep = if state.0 == self.start {
                memchr::memchr3(one, two, three, rest)
            } else {
                Some(0)
            };
            let awake = asleep.and_then(|len| rest.get(len..)).unwrap_or_default();
            let Some(&byte) = awake.first() else {
                return Fed::More;
            };
            at = bytes.len().saturating_sub(awake.len()).saturating_add(1);
            if byte != 0 {
                state.0 = self.step(state.0, byte);
                if state.0 <= self.accepting {
                    return self.outcome(state.0, at);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn step(&self, at: u16, byte: u8) -> u16 {
        let class = self.classes.get(usize::from(byte)).copied().unwrap_or(0);
        let place = usize::from(at) << self.shift | usize::from(class);
        self.next.get(place).copied().unwrap_or(0)
    }

    fn outcome(&self, at: u16, index: usize) -> Fed {
        match usize::from(at).checked_sub(1) {
            None => Fed::Dead,
            Some(place) => match self.patterns.get(place) {
                Some(&pattern) => Fed::Match(pattern, index),
                None => Fed::More,
            },
        }
    }

    /// Which pattern matches if the bytes end here (a pattern that ends in `$`, or one that
    /// matched already).
    #[inline]
    pub fn at_end(&self, state: State) -> Option<u16> {
        self.at_end
            .get(usize::from(state.0))
            .and_then(|&pattern| pattern.checked_sub(1))
    }

    /// Whether some pattern can begin with this byte.
    #[inline]
    pub fn may_begin(&self, byte: u8) -> bool {
        self.start <= self.accepting || self.step(self.start, byte) != 0
    }

    /// How many patterns it was made from, as far as they can match first.
    pub fn pattern_count(&self) -> u16 {
        let by_state = self.patterns.iter().map(|&one| one.saturating_add(1));
        by_state
            .chain(self.at_end.iter().copied())
            .max()
            .unwrap_or(0)
    }

    /// How many states.
    pub fn states(&self) -> usize {
        self.at_end.len()
    }

    /// Memory of the tables, in bytes.
    pub fn bytes(&self) -> usize {
        let words = self.patterns.len() + self.at_end.len() + self.next.len();
        words * 2 + self.classes.len()
    }

    /// How many classes of bytes are told apart.
    pub fn class_count(&self) -> usize {
        self.classes
            .iter()
            .max()
            .map_or(0, |&class| usize::from(class) + 1)
    }
}
