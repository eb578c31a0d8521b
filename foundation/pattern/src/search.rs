//! Searching with a set: all its automata side by side, those behind the gate once it has opened.

use crate::gate::LETTERS;
use crate::{Fed, GROUPS_MAX, Group, PatternSet, State};

/// Where a search over a set stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetState {
    states: [State; GROUPS_MAX],
    /// The groups that may still match, a bit each; the states of others mean nothing.
    live: u32,
    gate: u32,
    /// Nothing but zeros has come.
    is_fresh: bool,
    /// The gate has not opened yet.
    is_shut: bool,
    /// The last bytes that were not zero, the latest in the lowest place, and how many there were.
    recent: u32,
    recent_count: u8,
}

/// A match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Which pattern, by its place in the set.
    pub pattern: u16,
    /// How many of the bytes fed last were needed.
    pub len: usize,
    /// Only a hint.
    pub is_hint: bool,
}

impl SetState {
    /// A search that cannot match any more.
    pub const OVER: Self = Self {
        states: [State::DEAD; GROUPS_MAX],
        live: 0,
        gate: 0,
        is_fresh: false,
        is_shut: false,
        recent: 0,
        recent_count: 0,
    };

    /// Remembers what the gate may want to show again.
    fn remember(&mut self, bytes: &[u8]) {
        let mut latest = [0u8; LETTERS];
        let from_end = bytes.iter().rev().copied().filter(|&byte| byte != 0);
        let mut count = 0u8;
        for (slot, byte) in latest.iter_mut().zip(from_end) {
            *slot = byte;
            count += 1;
        }
        let fresh = latest.iter().take(usize::from(count)).rev();
        self.recent = fresh.fold(self.recent, |word, &byte| word << 8 | u32::from(byte));
        self.recent_count = self.recent_count.saturating_add(count).min(4);
    }

    /// What was remembered, the oldest first.
    fn recent(&self) -> ([u8; LETTERS], usize) {
        let count = usize::from(self.recent_count).min(LETTERS);
        (self.recent.to_be_bytes(), LETTERS - count)
    }
}

impl PatternSet {
    /// A search that has seen nothing.
    pub fn start(&self) -> SetState {
        let mut search = SetState {
            is_fresh: true,
            ..SetState::OVER
        };
        for ((state, group), bit) in search.states.iter_mut().zip(&self.groups).zip(bits()) {
            if !group.is_gated {
                *state = group.automaton.start();
                search.live |= bit;
            }
        }
        if let Some(gate) = &self.gate {
            (search.gate, search.is_shut) = (gate.start, true);
        }
        search
    }

    /// Goes on with `bytes` (zeros are left out). The match that needs the fewest bytes is told,
    /// of equals the earlier group's; one that decides before one that hints.
    pub fn feed(&self, search: &mut SetState, bytes: &[u8]) -> Option<Matched> {
        let mut best: Option<Matched> = None;
        // PERF: most groups end at the first letter: known of all of them at once.
        if search.is_fresh
            && let Some(letter) = bytes.iter().find(|&&byte| byte != 0)
        {
            search.is_fresh = false;
            search.live &= self.begun.get(usize::from(*letter)).copied().unwrap_or(0);
        }
        let mut left = search.live;
        while left != 0 {
            let number = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let (Some(group), Some(state)) =
                (self.groups.get(number), search.states.get_mut(number))
            else {
                break;
            };
            let fed = group.feed(state, bytes);
            if fed != Fed::More {
                search.live &= !bit(number);
            }
            if let Fed::Match(pattern, len) = fed {
                // Told once.
                prefer(&mut best, group.matched(pattern, len));
            }
        }
        if let Some(gate) = &self.gate
            && search.is_shut
        {
            match gate.feed(&mut search.gate, bytes) {
                Some(len) => self.open(search, bytes, len, &mut best),
                None => search.remember(bytes),
            }
        }
        best
    }

    /// Some pattern may have begun, in the letters that end `len` bytes into `bytes`.
    #[cold]
    fn open(&self, search: &mut SetState, bytes: &[u8], len: usize, best: &mut Option<Matched>) {
        search.is_shut = false;
        let (before, after) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        search.remember(before);
        let (recent, from) = search.recent();
        let recent = recent.get(from..).unwrap_or_default();
        let gated = self.groups.iter().zip(&mut search.states).zip(bits());
        for ((group, state), bit) in gated.filter(|((group, _), _)| group.is_gated) {
            *state = group.automaton.start();
            search.live |= bit;
            let found = match group.feed(state, recent) {
                // All that it needs ends where the gate opened: else it had opened before.
                Fed::Match(pattern, _) => Some((pattern, 0)),
                Fed::More | Fed::Dead => match group.feed(state, after) {
                    Fed::Match(pattern, more) => Some((pattern, more)),
                    Fed::More | Fed::Dead => None,
                },
            };
            if let Some((pattern, more)) = found {
                search.live &= !bit;
                prefer(best, group.matched(pattern, len + more));
            }
        }
    }

    /// A turn, datagram or stream ends here: what `$` waits for. The search may go on.
    pub fn at_end(&self, search: &SetState) -> Option<Matched> {
        let groups = self.groups.iter().zip(&search.states).zip(bits());
        let mut live = groups.filter(|(_, bit)| search.live & bit != 0);
        live.find_map(|((group, &state), _)| {
            let pattern = group.automaton.at_end(state)?;
            Some(group.matched(pattern, 0))
        })
    }

    /// Whether nothing can match any more.
    pub fn is_over(&self, search: &SetState) -> bool {
        !search.is_shut && search.live == 0
    }
}

/// The bit of each group in turn.
fn bits() -> impl Iterator<Item = u32> {
    (0..GROUPS_MAX).map(bit)
}

fn bit(number: usize) -> u32 {
    1u32.wrapping_shl(u32::try_from(number).unwrap_or(0))
}

const _: () = assert!(GROUPS_MAX <= 32);

/// Keeps the better of two matches; of equals the one that is there.
fn prefer(best: &mut Option<Matched>, found: Matched) {
    let is_better = best.is_none_or(|best| (found.is_hint, found.len) < (best.is_hint, best.len));
    if is_better {
        *best = Some(found);
    }
}

impl Group {
    #[inline]
    fn feed(&self, state: &mut State, bytes: &[u8]) -> Fed {
        match self.wakes {
            Some(wakes) if !state.is_dead() => self.automaton.feed_waking(state, bytes, wakes),
            _ => self.automaton.feed_without_nuls(state, bytes),
        }
    }

    fn matched(&self, pattern: u16, len: usize) -> Matched {
        Matched {
            pattern: self
                .patterns
                .get(usize::from(pattern))
                .copied()
                .unwrap_or(u16::MAX),
            len,
            is_hint: self.is_hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, PatternSet, Rewrite, Source, own};
    use proptest::prelude::*;

    const TAILS: &[&str] = &["", "$", "a", "x$", ".*ax", ".*b$", "[ab]x"];

    fn set(texts: &[String]) -> PatternSet {
        let sources: Vec<Source> = texts
            .iter()
            .map(|text| Source {
                name: text.clone(),
                hir: own(text).unwrap(),
            })
            .collect();
        PatternSet::build(&sources, Rewrite::Exact, &Limits::default()).0
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// The gate changes no match, wherever the bytes are cut.
        #[test]
        fn a_gate_lets_everything_through(
            tails in prop::collection::vec(prop::sample::select(TAILS), 1..5),
            data in prop::collection::vec(prop::sample::select(b"abbaabbax\0".as_slice()), 0..40),
            cut in 1usize..12,
        ) {
            let heads = ["abba", "baab", "xxabba", "abbaab"];
            let texts: Vec<String> = tails
                .iter()
                .zip(heads)
                .map(|(tail, head)| format!("{head}{tail}"))
                .collect();
            let gated = set(&texts);
            prop_assume!(gated.groups.iter().any(|group| group.is_gated));
            let awake = gated.clone().without_gate();
            let (mut one, mut other) = (gated.start(), awake.start());
            for part in data.chunks(cut) {
                prop_assert_eq!(gated.feed(&mut one, part), awake.feed(&mut other, part));
                prop_assert_eq!(gated.at_end(&one), awake.at_end(&other));
            }
        }
    }
}
