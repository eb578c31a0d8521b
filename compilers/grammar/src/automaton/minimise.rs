//! Minimisation (Hopcroft's partition refinement).

use super::dfa::{Dfa, DfaState};
use std::collections::{BTreeMap, HashMap};

/// The smallest automaton that finds the same tokens.
///
/// States from which nothing can match become state 0; the others are numbered in the order in
/// which they are reached from the starts, so that the same grammar has the same tables.
pub(crate) fn minimise(dfa: &Dfa) -> Dfa {
    let block_of = Partition::refined(dfa).block_of;
    let dead = block_of.first().copied().unwrap_or(0);
    let block = |state: u16| block_of.get(usize::from(state)).copied().unwrap_or(dead);
    let mut numbers: HashMap<u32, u16> = HashMap::from([(dead, 0)]);
    let mut samples = vec![0u16];
    let mut number = |state: u16, samples: &mut Vec<u16>| {
        let fresh = u16::try_from(samples.len()).unwrap_or(0);
        *numbers.entry(block(state)).or_insert_with(|| {
            samples.push(state);
            fresh
        })
    };
    let starts = dfa
        .starts
        .iter()
        .map(|pair| pair.map(|start| number(start, &mut samples)))
        .collect();
    let mut minimal = Dfa {
        class_count: dfa.class_count,
        starts,
        ..Dfa::default()
    };
    let mut at = 0;
    while let Some(&sample) = samples.get(at) {
        for &next in dfa.row(sample) {
            let next = number(next, &mut samples);
            minimal.next.push(next);
        }
        let state = dfa.states.get(usize::from(sample));
        minimal.states.push(match state {
            // What is beaten was reported already, and may differ within a block.
            Some(state) => DfaState {
                beaten: Vec::new(),
                ..state.clone()
            },
            None => DfaState::default(),
        });
        at += 1;
    }
    minimal
}

struct Partition {
    block_of: Vec<u32>,
    blocks: Vec<Vec<u16>>,
}

impl Partition {
    fn refined(dfa: &Dfa) -> Self {
        let mut partition = Self::by_meaning(dfa);
        let classes = dfa.class_count;
        let inverse = Inverse::of(dfa);
        let mut is_waiting: Vec<bool> = vec![true; partition.blocks.len()];
        let mut waiting: Vec<u32> = (0..).take(partition.blocks.len()).collect();
        while let Some(splitter) = waiting.pop() {
            if let Some(flag) = is_waiting.get_mut(splitter as usize) {
                *flag = false;
            }
            let members = partition
                .blocks
                .get(splitter as usize)
                .cloned()
                .unwrap_or_default();
            for class in 0..classes {
                let mut touched: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
                for &member in &members {
                    for &from in inverse.before(member, class) {
                        let block = partition.block_of.get(usize::from(from));
                        touched
                            .entry(block.copied().unwrap_or(0))
                            .or_default()
                            .push(from);
                    }
                }
                for (block, moved) in touched {
                    let Some(fresh) = partition.split(block, &moved) else {
                        continue;
                    };
                    // Hopcroft: if the whole waits already, both halves must; if not, the
                    // smaller is enough.
                    let whole_waits = is_waiting.get(block as usize) == Some(&true);
                    let next = match !whole_waits && partition.is_smaller(block, fresh) {
                        true => block,
                        false => fresh,
                    };
                    is_waiting.push(false);
                    if let Some(flag) = is_waiting.get_mut(next as usize) {
                        *flag = true;
                    }
                    waiting.push(next);
                }
            }
        }
        partition
    }

    fn by_meaning(dfa: &Dfa) -> Self {
        let mut known: BTreeMap<(u16, &[u16]), u32> = BTreeMap::new();
        let mut blocks: Vec<Vec<u16>> = Vec::new();
        let mut block_of = Vec::new();
        for (id, state) in (0u16..).zip(&dfa.states) {
            let fresh = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
            let block = *known
                .entry((state.accept, &state.heads))
                .or_insert_with(|| {
                    blocks.push(Vec::new());
                    fresh
                });
            if let Some(members) = blocks.get_mut(block as usize) {
                members.push(id);
            }
            block_of.push(block);
        }
        Self { block_of, blocks }
    }

    /// Moves some states of a block to a fresh one, unless they are all of it.
    fn split(&mut self, block: u32, moved: &[u16]) -> Option<u32> {
        let fresh = u32::try_from(self.blocks.len()).ok()?;
        let members = self.blocks.get_mut(block as usize)?;
        if moved.len() == members.len() {
            return None;
        }
        for &state in moved {
            if let Some(place) = self.block_of.get_mut(usize::from(state)) {
                *place = fresh;
            }
        }
        let block_of = &self.block_of;
        members.retain(|&state| block_of.get(usize::from(state)) == Some(&block));
        self.blocks.push(moved.to_vec());
        Some(fresh)
    }

    fn is_smaller(&self, one: u32, other: u32) -> bool {
        let len = |block: u32| self.blocks.get(block as usize).map_or(0, Vec::len);
        len(one) < len(other)
    }
}

/// For each state and class, the states that lead there.
struct Inverse {
    from: Vec<u16>,
    begins: Vec<u32>,
    class_count: usize,
}

impl Inverse {
    fn of(dfa: &Dfa) -> Self {
        let slots = dfa.states.len() * dfa.class_count;
        let mut begins = vec![0u32; slots + 1];
        let slot = |at: usize, next: u16| {
            usize::from(next) * dfa.class_count + at.checked_rem(dfa.class_count).unwrap_or(0)
        };
        for (at, &next) in dfa.next.iter().enumerate() {
            if let Some(count) = begins.get_mut(slot(at, next) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for begin in &mut begins {
            sum += *begin;
            *begin = sum;
        }
        let mut free = begins.clone();
        let mut from = vec![0u16; dfa.next.len()];
        for (at, &next) in dfa.next.iter().enumerate() {
            let Some(place) = free.get_mut(slot(at, next)) else {
                continue;
            };
            if let Some(from) = from.get_mut(*place as usize) {
                let state = at.checked_div(dfa.class_count).unwrap_or(0);
                *from = u16::try_from(state).unwrap_or(0);
            }
            *place += 1;
        }
        Self {
            from,
            begins,
            class_count: dfa.class_count,
        }
    }

    fn before(&self, state: u16, class: usize) -> &[u16] {
        let slot = usize::from(state) * self.class_count + class;
        let begin = self.begins.get(slot).copied().unwrap_or(0) as usize;
        let end = self.begins.get(slot + 1).copied().unwrap_or(0) as usize;
        self.from.get(begin..end).unwrap_or_default()
    }
}
