//! Keywords that begin where a general name does.

use super::{Classes, Dfa};
use crate::pattern::Set;
use flowpin_lexer::{Run, WORD_LEN_MAX, Word};
use std::collections::{BTreeMap, BTreeSet};

/// The states between a start and the state that all other names end in.
pub(crate) struct Tree {
    /// The bytes that are run over.
    pub(crate) within: Set,
    /// The bytes of each word, and its state; only words that end in a state of their own.
    words: Vec<(Vec<[u8; 2]>, u16)>,
    /// Longer words all end in the general state.
    depth: usize,
    /// Some words go on with bytes that may come again and again, which are not run over.
    pub(crate) has_tails: bool,
}

impl Tree {
    /// Follows all bytes of `within` from `start` until they reach `after`.
    ///
    /// None if that is no tree of words: if it has none, or too many.
    pub(crate) fn grow(
        dfa: &Dfa,
        classes: &Classes,
        start: u16,
        after: u16,
        within: Set,
    ) -> Option<Self> {
        let mut within = within;
        let mut has_tails = false;
        // Bytes that lead out of the tree cannot be run over, nor those that lead where hardly any
        // go on (a line's end), or where bytes come again and again (behind a keyword and its
        // colon, to the rest of its line).
        let inner = loop {
            let inner = reachable(dfa, classes, start, after, within)?;
            let mut apart = circling(dfa, classes, &inner, after, within);
            has_tails |= !apart.is_empty();
            let is_end = |state: &u16| {
                let over = |byte: &u8| dfa.step(*state, classes.of(*byte)) == 0;
                within.bytes().filter(over).count() * 2 > within.len() as usize
            };
            apart.extend(inner.iter().copied().filter(is_end));
            apart.remove(&start);
            let leads_out = |byte: &u8| {
                let class = classes.of(*byte);
                let leaves = |&state: &u16| {
                    let next = dfa.step(state, class);
                    next == 0 || apart.contains(&next)
                };
                inner.difference(&apart).any(leaves)
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
            has_tails,
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
            // Bytes that lead to one state are one way, so that a word has few spellings.
            let mut ways: BTreeMap<u16, Set> = BTreeMap::new();
            for byte in tree.within.bytes() {
                let next = dfa.step(state, classes.of(byte));
                if next != after && inner.contains(&next) {
                    ways.entry(next).or_default().insert(byte);
                }
            }
            for (next, bytes) in ways {
                let mut longer = word.clone();
                longer.push(spelling(bytes)?);
                stack.push((next, longer));
            }
        }
        tree.words.sort();
        (!tree.has_tails || !tree.words.is_empty()).then_some(tree)
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

/// Those of the states from which bytes of `within` lead to themselves again, and those between
/// such.
fn circling(
    dfa: &Dfa,
    classes: &Classes,
    inner: &BTreeSet<u16>,
    after: u16,
    within: Set,
) -> BTreeSet<u16> {
    let used: BTreeSet<usize> = within.bytes().map(|byte| classes.of(byte)).collect();
    let mut ways = BTreeSet::new();
    for &state in inner {
        let nexts = used.iter().map(|&class| dfa.step(state, class));
        let nexts = nexts.filter(|next| *next != after && inner.contains(next));
        ways.extend(nexts.map(|next| (state, next)));
    }
    let turned: BTreeSet<(u16, u16)> = ways.iter().map(|&(from, to)| (to, from)).collect();
    let forth = with_ways_without_end(inner, &ways, &turned);
    let back = with_ways_without_end(inner, &turned, &ways);
    forth.intersection(&back).copied().collect()
}

/// The states from which ways do not end: those left when what leads nowhere has been taken out,
/// again and again. `turned` are the ways backwards.
fn with_ways_without_end(
    states: &BTreeSet<u16>,
    ways: &BTreeSet<(u16, u16)>,
    turned: &BTreeSet<(u16, u16)>,
) -> BTreeSet<u16> {
    let mut counts: BTreeMap<u16, usize> = states.iter().map(|&state| (state, 0)).collect();
    for (from, _) in ways {
        *counts.entry(*from).or_default() += 1;
    }
    let ended = counts.iter().filter(|(_, count)| **count == 0);
    let mut ended: Vec<u16> = ended.map(|(state, _)| *state).collect();
    while let Some(state) = ended.pop() {
        counts.remove(&state);
        for (_, before) in turned.range((state, 0)..=(state, u16::MAX)) {
            if let Some(count) = counts.get_mut(before) {
                *count -= 1;
                if *count == 0 {
                    ended.push(*before);
                }
            }
        }
    }
    counts.into_keys().collect()
}

/// All runs' words.
#[derive(Default)]
pub(crate) struct WordTables {
    pub(crate) words: Vec<Word>,
    pub(crate) bytes: Vec<[u8; 2]>,
}

impl WordTables {
    /// Adds a tree's words: a run that looks them up. None if the tables are full.
    pub(crate) fn add(&mut self, tree: &Tree, after: u16) -> Option<Run> {
        let first = u16::try_from(self.words.len()).ok()?;
        let count = u16::try_from(tree.words.len()).ok()?;
        first.checked_add(count)?;
        for (word, state) in &tree.words {
            let from = u32::try_from(self.bytes.len()).ok()?;
            self.bytes.extend_from_slice(word);
            self.words.push(Word {
                bytes: (from, u8::try_from(word.len()).ok()?),
                state: *state,
            });
        }
        Some(Run {
            stop: 0,
            word_len_max: u8::try_from(tree.depth.max(1)).ok()?,
            after,
            words: (first, count),
        })
    }
}

/// One byte, or a letter in either case: then a word of such can be compared eight bytes at a
/// time. As [`flowpin_lexer::Parts::word_bytes`] has it.
fn spelling(bytes: Set) -> Option<[u8; 2]> {
    let mut members = bytes.bytes();
    match (members.next(), members.next(), members.next()) {
        (Some(byte), None, _) => Some([byte, 0]),
        (Some(one), Some(other), None) if one ^ other == 0x20 => Some([one | 0x20, 0x20]),
        _ => None,
    }
}

const VISITS_MAX: usize = 2000;
