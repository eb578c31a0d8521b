//! Keywords that begin where a general name does, and their hash tables.

use super::{Classes, Dfa};
use crate::pattern::Set;
use flowpin_lexer::{Run, Word};
use std::collections::{BTreeMap, BTreeSet};

/// The states between a start and the state that all other names end in.
pub(crate) struct Tree {
    /// The bytes that are run over.
    pub(crate) within: Set,
    /// Classes of each word, and its state; only words that end in a state of their own.
    words: Vec<(Vec<u8>, u16)>,
    /// Longer words all end in the general state.
    depth: usize,
}

impl Tree {
    /// Follows all bytes of `within` from `start` until they reach `after`.
    ///
    /// None if that is no tree of words: if it never ends, or has too many.
    pub(crate) fn grow(
        dfa: &Dfa,
        classes: &Classes,
        start: u16,
        after: u16,
        within: Set,
    ) -> Option<Self> {
        let mut within = within;
        // Bytes that lead out of the tree cannot be run over.
        let inner = loop {
            let inner = reachable(dfa, classes, start, after, within)?;
            let leads_out = |byte: &u8| {
                let class = classes.of(*byte);
                inner.iter().any(|&state| dfa.step(state, class) == 0)
            };
            let out = Set::of(within.bytes().filter(leads_out));
            if out.is_empty() {
                break inner;
            }
            within = within.minus(out);
        };
        let classes_within: BTreeSet<usize> = within.bytes().map(|byte| classes.of(byte)).collect();
        let outside: BTreeSet<usize> = within
            .complement()
            .bytes()
            .map(|byte| classes.of(byte))
            .collect();
        // A class may not lie on both sides: `within` is made of whole classes.
        if classes_within.intersection(&outside).next().is_some() {
            return None;
        }
        let is_special = |state: u16| {
            dfa.states.get(usize::from(state)) != dfa.states.get(usize::from(after))
                || outside
                    .iter()
                    .any(|&class| dfa.step(state, class) != dfa.step(after, class))
        };
        let mut tree = Self {
            within,
            words: Vec::new(),
            depth: 0,
        };
        let mut stack = vec![(start, Vec::new())];
        let mut visits = 0;
        while let Some((state, word)) = stack.pop() {
            visits += 1;
            if visits > VISITS_MAX || word.len() > WORD_LEN_MAX {
                return None;
            }
            tree.depth = tree.depth.max(word.len());
            if state != start && is_special(state) {
                tree.words.push((word.clone(), state));
            }
            for &class in &classes_within {
                let next = dfa.step(state, class);
                if next != after && inner.contains(&next) {
                    let mut longer = word.clone();
                    longer.push(u8::try_from(class).ok()?);
                    stack.push((next, longer));
                }
            }
        }
        tree.words.sort();
        Some(tree)
    }
}

/// The states that bytes of `within` reach from `start`, without those behind `after`. None if
/// there are too many.
fn reachable(
    dfa: &Dfa,
    classes: &Classes,
    start: u16,
    after: u16,
    within: Set,
) -> Option<BTreeSet<u16>> {
    let mut seen = BTreeSet::from([start]);
    let mut stack = vec![start];
    let used: BTreeSet<usize> = within.bytes().map(|byte| classes.of(byte)).collect();
    while let Some(state) = stack.pop() {
        for &class in &used {
            let next = dfa.step(state, class);
            if next != 0 && next != after && seen.insert(next) {
                stack.push(next);
            }
        }
        if seen.len() > VISITS_MAX {
            return None;
        }
    }
    let is_left = |state: u16| used.iter().any(|&class| dfa.step(state, class) == after);
    seen.iter().any(|&state| is_left(state)).then_some(seen)
}

/// All runs' words.
#[derive(Default)]
pub(crate) struct WordTables {
    pub(crate) words: Vec<Word>,
    pub(crate) classes: Vec<u8>,
    pub(crate) slots: Vec<u16>,
}

impl WordTables {
    /// Adds a tree's words: a run that looks them up. None if the tables are full.
    pub(crate) fn add(&mut self, tree: &Tree, after: u16) -> Option<Run> {
        let slot_count = (tree.words.len() * 2).next_power_of_two().max(2);
        let mask = slot_count - 1;
        let hash = factors(tree, mask);
        let first_slot = u16::try_from(self.slots.len()).ok()?;
        let mask_short = u16::try_from(mask).ok()?;
        u16::try_from(self.slots.len() + slot_count).ok()?;
        u16::try_from(self.words.len() + tree.words.len() + 1).ok()?;
        let mut slots = vec![0u16; slot_count];
        for (word, state) in &tree.words {
            let slot = slots.get_mut(hash_of(word, hash) & mask)?;
            let from = u32::try_from(self.classes.len()).ok()?;
            self.classes.extend_from_slice(word);
            self.words.push(Word {
                classes: (from, u8::try_from(word.len()).ok()?),
                state: *state,
                next: *slot,
            });
            *slot = u16::try_from(self.words.len()).ok()?;
        }
        self.slots.extend(slots);
        Some(Run {
            stop: 0,
            word_len_max: u8::try_from(tree.depth.max(1)).ok()?,
            after,
            slots: (first_slot, mask_short),
            hash,
        })
    }
}

/// As the run-time computes it.
fn hash_of(word: &[u8], factors: [u8; 3]) -> usize {
    let first = word.first().copied().unwrap_or(0);
    let last = word.last().copied().unwrap_or(0);
    let [len_factor, first_factor, last_factor] = factors;
    (word.len() * usize::from(len_factor))
        ^ (usize::from(first) * usize::from(first_factor))
        ^ (usize::from(last) * usize::from(last_factor))
}

/// The factors that put the fewest words into one slot.
fn factors(tree: &Tree, mask: usize) -> [u8; 3] {
    let mut best = ([1, 3, 5], usize::MAX);
    for len_factor in [1u8, 3, 5, 7, 9, 11, 13] {
        for first_factor in (1..64u8).step_by(2) {
            for last_factor in (1..64u8).step_by(6) {
                let hash = [len_factor, first_factor, last_factor];
                let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
                for (word, _) in &tree.words {
                    *counts.entry(hash_of(word, hash) & mask).or_default() += 1;
                }
                let worst: usize = counts.values().map(|count| count * count).sum();
                if worst < best.1 {
                    best = (hash, worst);
                }
            }
        }
    }
    best.0
}

const VISITS_MAX: usize = 2000;
const WORD_LEN_MAX: usize = 48;
