//! Several automata as one: walked side by side, each state of the whole is what they are in.
//!
//! Much cheaper than determinising all expressions together, since each part was already
//! determinised and merged by itself, and most parts die within a few bytes: only those that live
//! are written down.

use crate::build::{Plain, finish};
use crate::{Automaton, Limits, Refusal};
use std::collections::HashMap;

/// The parts that live, in order: part in the upper half, its state in the lower.
type Living = Box<[u32]>;

impl Automaton {
    /// One automaton that finds what any of `parts`, each of one pattern, finds; patterns are
    /// numbered by part.
    ///
    /// # Errors
    /// The limit on states would be broken.
    pub fn together(parts: &[&Self], limits: &Limits) -> Result<Self, Refusal> {
        let mut plain = Plain::new(classes(parts));
        let start: Living = numbered(parts)
            .map(|(part, one)| pack(part, one.start))
            .collect();
        let mut number: HashMap<Living, u32> = HashMap::from([(start.clone(), 1)]);
        let mut queue = vec![start];
        let states_max = limits.states.min(usize::from(u16::MAX));
        let mut next = Vec::new();
        let mut at = 0;
        while let Some(living) = queue.get(at).cloned() {
            at += 1;
            let now = first(parts, &living, |one, state| one.accepts(state));
            let end = first(parts, &living, |one, state| one.ends(state));
            let mut row = Vec::new();
            if now == 0 {
                for class in 0..plain.samples.len() {
                    let byte = plain.samples.get(class).copied().unwrap_or(0);
                    next.clear();
                    for &one in &living {
                        let (part, state) = unpack(one);
                        let to = parts.get(part).map_or(0, |one| one.step(state, byte));
                        if to != 0 {
                            next.push(one & PART | u32::from(to));
                        }
                    }
                    let to = match number.get(next.as_slice()) {
                        _ if next.is_empty() => 0,
                        Some(&known) => known,
                        None => {
                            let fresh = u32::try_from(queue.len() + 1).unwrap_or(u32::MAX);
                            let living: Living = next.as_slice().into();
                            number.insert(living.clone(), fresh);
                            queue.push(living);
                            fresh
                        }
                    };
                    row.push(to);
                }
            }
            plain.push(row, (now, end));
            // Merging brings it down by less than this.
            if queue.len() > states_max + states_max / 2 {
                return Err(Refusal::States(limits.states));
            }
        }
        finish(&plain, limits)
    }

    /// One if the state is an accepting one.
    fn accepts(&self, state: u16) -> bool {
        (1..=self.accepting).contains(&state)
    }

    fn ends(&self, state: u16) -> bool {
        self.at_end
            .get(usize::from(state))
            .is_some_and(|&end| end > 0)
    }
}

/// The first part of which `is` holds, plus one.
fn first(parts: &[&Automaton], living: &[u32], is: impl Fn(&Automaton, u16) -> bool) -> u16 {
    let found = living
        .iter()
        .map(|&one| unpack(one))
        .find(|&(part, state)| {
            let part = parts.get(part);
            part.is_some_and(|part| is(part, state))
        });
    found.map_or(0, |(part, _)| u16::try_from(part + 1).unwrap_or(u16::MAX))
}

/// Bytes that all parts treat alike are one class: a byte of each class, and each byte's class.
fn classes(parts: &[&Automaton]) -> (Vec<u8>, [usize; 256]) {
    let mut samples = Vec::new();
    let mut class_of = [0; 256];
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    for (byte, slot) in (0..=u8::MAX).zip(&mut class_of) {
        let alike = |one: &&Automaton| one.classes.get(usize::from(byte)).copied().unwrap_or(0);
        let signature = parts.iter().map(alike).collect();
        *slot = *seen.entry(signature).or_insert_with(|| {
            samples.push(byte);
            samples.len() - 1
        });
    }
    (samples, class_of)
}

fn numbered<'a>(parts: &[&'a Automaton]) -> impl Iterator<Item = (u32, &'a Automaton)> {
    (0..).zip(parts.iter().copied())
}

const PART: u32 = 0xffff_0000;

const fn pack(part: u32, state: u16) -> u32 {
    part << 16 | state as u32
}

const fn unpack(one: u32) -> (usize, u16) {
    ((one >> 16) as usize, (one & !PART) as u16)
}

#[cfg(test)]
mod tests {
    use crate::{Automaton, Limits, own};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Put together or determinised together: the same tables, whatever the order in which
        /// states are reached.
        #[test]
        fn the_parts_together_are_the_whole(
            texts in prop::collection::vec("[ab.]{1,3}([ab]|\\.\\*|x\\+|c?)[abc]{1,2}\\$?", 1..5),
            anchored in any::<bool>(),
            data in prop::collection::vec(prop::sample::select(b"abcx".as_slice()), 0..12),
        ) {
            let limits = Limits::default();
            let hirs: Vec<_> = texts.iter().map(|text| own(text).unwrap()).collect();
            let parts: Vec<_> = hirs
                .iter()
                .map(|hir| Automaton::build(std::slice::from_ref(hir), anchored, &limits).unwrap())
                .collect();
            let whole = Automaton::build(&hirs, anchored, &limits).unwrap();
            let together = Automaton::together(&parts.iter().collect::<Vec<_>>(), &limits).unwrap();
            prop_assert_eq!(whole.states(), together.states());
            prop_assert_eq!(whole.class_count(), together.class_count());
            let (mut one, mut other) = (whole.start(), together.start());
            prop_assert_eq!(whole.feed(&mut one, &data), together.feed(&mut other, &data));
            prop_assert_eq!(whole.at_end(one), together.at_end(other));
        }
    }
}
