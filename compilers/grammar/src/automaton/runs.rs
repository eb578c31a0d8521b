//! What makes a table fast: runs, words, likely successors.
//!
//! A state that most bytes leave where it is becomes a *run*: the scanner looks for the next byte
//! that ends it, many bytes at a time. A state from which keywords and a general name begin may
//! run, too: the name's bytes are skipped at once, and the word is looked up (`words`).

use super::words::{self, WordTables};
use super::{Classes, Dfa};
use crate::pattern::Set;
use flowpin_cpu::ByteSet;
use flowpin_lexer::{RUN_SETS_MAX, Run, State};
use std::collections::{BTreeMap, BTreeSet};

/// The tables beside the transitions.
#[derive(Default)]
pub(crate) struct Accelerated {
    pub(crate) states: Vec<State>,
    pub(crate) runs: Vec<Run>,
    pub(crate) sets: Vec<ByteSet>,
    pub(crate) words: WordTables,
}

/// Finds runs, words and likely successors of a minimal automaton.
pub(crate) fn accelerate(dfa: &Dfa, classes: &Classes) -> Accelerated {
    let mut made = Accelerated::default();
    let loops: Vec<Set> = ids(dfa)
        .map(|state| bytes_to(dfa, classes, state, state))
        .collect();
    let ranks = ranks(dfa);
    let common = common(&loops);
    for state in ids(dfa) {
        let own = loops.get(usize::from(state)).copied().unwrap_or_default();
        let run = match state {
            0 => 0,
            _ if own.len() >= RUN_BYTES_MIN && !common.contains(&own.0) => 0,
            _ => made.run_of(dfa, classes, &loops, state),
        };
        let (likely_byte, likely_next) = likely(dfa, classes, &ranks, run != 0, state);
        made.states.push(State {
            accept: dfa
                .states
                .get(usize::from(state))
                .map_or(0, |state| state.accept),
            likely_next,
            likely_byte,
            run,
            is_final: dfa.row(state).iter().all(|&next| next == 0),
        });
    }
    made
}

impl Accelerated {
    /// The run that begins in a state, plus 1; 0 if none does.
    fn run_of(&mut self, dfa: &Dfa, classes: &Classes, loops: &[Set], state: u16) -> u8 {
        let own = loops.get(usize::from(state)).copied().unwrap_or_default();
        if own.len() >= RUN_BYTES_MIN {
            let run = Run {
                after: state,
                ..Run::default()
            };
            return self.add(run, own.complement());
        }
        let is_start = dfa.starts.iter().flatten().any(|&start| start == state);
        if !is_start {
            return 0;
        }
        let is_long = |next: &u16| {
            let set = loops.get(usize::from(*next));
            *next != 0 && set.is_some_and(|set| set.len() >= RUN_BYTES_MIN)
        };
        // What a name begins with, unless a keyword does, leads to the general name at once.
        let nexts: BTreeSet<u16> = dfa.row(state).iter().copied().collect();
        let grown = nexts.into_iter().filter(is_long).filter_map(|after| {
            let within = loops.get(usize::from(after)).copied().unwrap_or_default();
            let tree = words::Tree::grow(dfa, classes, state, after, within)?;
            (tree.within.len() >= RUN_BYTES_MIN).then_some((tree, after))
        });
        let best = grown
            .max_by_key(|(tree, after)| (!tree.has_tails, tree.within.len(), u16::MAX - after));
        let Some((tree, after)) = best else {
            return 0;
        };
        match self.words.add(&tree, after) {
            Some(run) => self.add(run, tree.within.complement()),
            None => 0,
        }
    }

    fn add(&mut self, mut run: Run, stop: Set) -> u8 {
        let Some(stop) = ByteSet::new(stop.0) else {
            return 0;
        };
        let known = self.sets.iter().position(|known| *known == stop);
        let index = known.unwrap_or(self.sets.len());
        let (Ok(stop_index), Ok(number)) = (
            u8::try_from(index),
            u8::try_from(self.runs.len().saturating_add(1)),
        ) else {
            return 0;
        };
        if index >= RUN_SETS_MAX {
            return 0;
        }
        if known.is_none() {
            self.sets.push(stop);
        }
        run.stop = stop_index;
        self.runs.push(run);
        number
    }
}

/// The sets that enough of all running states stay on. What ends a run is looked for in every block
/// of the input, whichever state it is in: a set of few states among many costs more than it
/// saves.
// PERF: bodies of mails by the grammar of SMTP, 6 sets -> 2: 8,712 -> 7,092 instructions a segment
// of 1,394 bytes.
fn common(loops: &[Set]) -> BTreeSet<[u64; 4]> {
    let mut counts = BTreeMap::new();
    let running = loops
        .iter()
        .skip(1)
        .filter(|own| own.len() >= RUN_BYTES_MIN);
    for own in running {
        *counts.entry(own.0).or_insert(0usize) += 1;
    }
    let all: usize = counts.values().sum();
    counts.retain(|_, count| count.saturating_mul(RARE) >= all);
    counts.into_keys().collect()
}

/// A set of fewer than one in so many running states is rare.
const RARE: usize = 24;

pub(super) fn ids(dfa: &Dfa) -> impl Iterator<Item = u16> + use<> {
    (0u16..).take(dfa.states.len())
}

/// The bytes that lead from one state to another.
fn bytes_to(dfa: &Dfa, classes: &Classes, from: u16, to: u16) -> Set {
    Set::of((0..=255u8).filter(|&byte| dfa.step(from, classes.of(byte)) == to))
}

/// A byte that is likely to come in a state, and where it leads.
///
/// Bytes that lead towards an early rule come first: the grammar's author names what is usual
/// before what is left. Behind a run, of those, the fewest that lead anywhere: they end names and
/// lines.
fn likely(dfa: &Dfa, classes: &Classes, ranks: &[u16], is_run: bool, state: u16) -> (u8, u16) {
    let next = |byte: u8| dfa.step(state, classes.of(byte));
    let rank = |next: u16| ranks.get(usize::from(next)).copied().unwrap_or(u16::MAX);
    let usual = b" \r\n:./1"
        .iter()
        .copied()
        .chain(b'a'..=b'z')
        .chain(0..=255u8);
    let best = (0u32..)
        .zip(usual)
        .filter(|&(_, byte)| next(byte) != 0)
        .min_by_key(|&(order, byte)| {
            let to = next(byte);
            let stays = to == state;
            let width = match is_run {
                true => bytes_to(dfa, classes, state, to).len(),
                false => 0,
            };
            (rank(to), stays, width, order)
        });
    let byte = best.map_or(0, |(_, byte)| byte);
    (byte, next(byte))
}

/// For each state, the first rule that can still match, there or behind more bytes.
fn ranks(dfa: &Dfa) -> Vec<u16> {
    let mut before: Vec<Vec<u16>> = vec![Vec::new(); dfa.states.len()];
    for state in ids(dfa) {
        let mut next: Vec<u16> = dfa.row(state).to_vec();
        next.sort_unstable();
        next.dedup();
        for next in next {
            if let Some(before) = before.get_mut(usize::from(next)) {
                before.push(state);
            }
        }
    }
    let mut accepting: Vec<(u16, u16)> = ids(dfa)
        .zip(&dfa.states)
        .filter_map(|(id, state)| Some((state.accept.checked_sub(1)?, id)))
        .collect();
    accepting.sort_unstable();
    // Backwards from the states of each rule, the first rule first.
    let mut ranks = vec![u16::MAX; dfa.states.len()];
    for (rule, state) in accepting {
        let mut waiting = vec![state];
        while let Some(state) = waiting.pop() {
            let Some(rank) = ranks.get_mut(usize::from(state)) else {
                continue;
            };
            if *rank == u16::MAX {
                *rank = rule;
                waiting.extend(before.get(usize::from(state)).into_iter().flatten());
            }
        }
    }
    ranks
}

/// Shorter runs are walked byte by byte: digits, blanks.
const RUN_BYTES_MIN: u32 = 24;

#[cfg(test)]
mod tests {
    use super::common;
    use crate::pattern::Set;

    /// Of few states every set counts, among many not one that a few have.
    #[test]
    fn rare_sets_are_left_out_among_many_states() {
        let lines = Set::of((0..=255u8).filter(|&byte| byte != b'\n'));
        let words = Set::of((0..=255u8).filter(|&byte| byte != b' '));
        let short = Set::of(b'a'..=b'c');
        let states = |lines_count| {
            let mut loops = vec![Set::default(), words, short];
            loops.extend(vec![lines; lines_count]);
            common(&loops)
        };
        assert!(states(3).contains(&words.0) && states(3).contains(&lines.0));
        assert!(!states(96).contains(&words.0) && states(96).contains(&lines.0));
        assert!(!states(3).contains(&short.0));
    }
}
