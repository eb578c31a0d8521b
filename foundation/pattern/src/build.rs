//! From expressions to an automaton: determinised by `regex-automata`, then rewritten.
//!
//! The library's automata tell a match one byte late, keep going after it, and hold 4 bytes a
//! transition. Ours tells it at once and ends there, so many states fall together; a transition
//! takes 2 bytes. Its lazy automaton is used, so that what lies behind a match, which is most where
//! many patterns meet, is never determinised.

use crate::{Automaton, Refusal};
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;
use std::collections::HashMap;

/// How large compiling may become. What goes beyond is refused, naming the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States of one automaton, at most 65,535.
    pub states: usize,
    /// Memory while expanding an expression, in bytes.
    pub expanded_bytes: usize,
    /// Memory while determinising, in bytes.
    pub working_bytes: usize,
    /// Length of an expression, in bytes.
    pub expression_len: usize,
    /// The largest count in `x{m,n}`.
    pub repeats: u32,
    /// How deep groups may nest.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            states: 16_384,
            expanded_bytes: 4 << 20,
            working_bytes: 24 << 20,
            expression_len: 16_384,
            repeats: 1000,
            depth: 64,
        }
    }
}

/// The library's automaton as plain lists: states in the order in which they are reached.
pub(crate) struct Plain {
    /// One byte of each class.
    pub(crate) samples: Vec<u8>,
    /// By byte: which class.
    class_of: [usize; 256],
    /// By state: the next for each class.
    next: Vec<Vec<u32>>,
    /// By state: which pattern has matched, which one would if the bytes ended; plus one.
    accept: Vec<(u16, u16)>,
}

impl Automaton {
    /// Compiles expressions. `anchored`: they begin with the first byte, otherwise anywhere.
    ///
    /// # Errors
    /// The limit that would be broken.
    pub fn build(patterns: &[Hir], anchored: bool, limits: &Limits) -> Result<Self, Refusal> {
        finish(&determinise(patterns, anchored, limits)?, limits)
    }
}

/// Merges states and classes, and writes the tables.
pub(crate) fn finish(plain: &Plain, limits: &Limits) -> Result<Automaton, Refusal> {
    let block = merge(plain);
    let states = block.iter().max().map_or(0, |&last| last as usize + 1);
    if states > limits.states.min(usize::from(u16::MAX)) {
        return Err(Refusal::States(limits.states));
    }
    Ok(lay_out(plain, &block))
}

fn determinise(patterns: &[Hir], anchored: bool, limits: &Limits) -> Result<Plain, Refusal> {
    let nfa = thompson::Compiler::new()
        .configure(
            thompson::Config::new()
                .utf8(false)
                .which_captures(thompson::WhichCaptures::None)
                .nfa_size_limit(Some(limits.expanded_bytes)),
        )
        .build_many_from_hir(patterns)
        .map_err(|_| Refusal::Expanded(limits.expanded_bytes))?;
    let config = Config::new()
        .match_kind(MatchKind::All)
        .cache_capacity(limits.working_bytes)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(0));
    let dfa = DFA::builder()
        .configure(config)
        .build_from_nfa(nfa.clone())
        .map_err(|_| Refusal::Working(limits.working_bytes))?;
    let mut lazy = Lazy {
        cache: dfa.create_cache(),
        dfa,
        limits: *limits,
    };
    let mode = if anchored {
        Anchored::Yes
    } else {
        Anchored::No
    };
    let start = start::Config::new().anchored(mode);
    let start = lazy
        .dfa
        .start_state(&mut lazy.cache, &start)
        .map_err(|_| Refusal::Unsupported("look-behind"))?;
    let mut plain = Plain::new(classes(&nfa));
    plain.explore(&mut lazy, start)?;
    Ok(plain)
}

/// One byte of each class, and each byte's class.
fn classes(nfa: &thompson::NFA) -> (Vec<u8>, [usize; 256]) {
    let mut samples = Vec::new();
    let mut class_of = [0; 256];
    let mut seen = HashMap::new();
    for byte in 0..=u8::MAX {
        let class = nfa.byte_classes().get(byte);
        let index = *seen.entry(class).or_insert_with(|| {
            samples.push(byte);
            samples.len() - 1
        });
        if let Some(slot) = class_of.get_mut(usize::from(byte)) {
            *slot = index;
        }
    }
    (samples, class_of)
}

/// The library's automaton, determinised where one looks.
struct Lazy {
    dfa: DFA,
    cache: Cache,
    limits: Limits,
}

impl Lazy {
    fn next(&mut self, id: LazyStateID, byte: u8) -> Result<LazyStateID, Refusal> {
        self.dfa
            .next_state(&mut self.cache, id, byte)
            .map_err(|_| Refusal::Working(self.limits.working_bytes))
    }

    fn end(&mut self, id: LazyStateID) -> Result<LazyStateID, Refusal> {
        self.dfa
            .next_eoi_state(&mut self.cache, id)
            .map_err(|_| Refusal::Working(self.limits.working_bytes))
    }

    /// The first of the patterns that a state stands for, plus one.
    fn matched(&self, id: LazyStateID) -> u16 {
        if !id.is_match() {
            return 0;
        }
        (0..self.dfa.match_len(&self.cache, id))
            .map(|index| self.dfa.match_pattern(&self.cache, id, index).as_usize())
            .min()
            .and_then(|pattern| u16::try_from(pattern + 1).ok())
            .unwrap_or(0)
    }
}

impl Plain {
    /// Only the dead state.
    pub(crate) fn new((samples, class_of): (Vec<u8>, [usize; 256])) -> Self {
        Self {
            samples,
            class_of,
            next: vec![Vec::new()],
            accept: vec![(0, 0)],
        }
    }

    /// The next state, in the order in which they are reached: where it leads to for each class,
    /// which pattern has matched and which would at the end, plus one.
    pub(crate) fn push(&mut self, next: Vec<u32>, accept: (u16, u16)) {
        self.next.push(next);
        self.accept.push(accept);
    }

    /// Walks the automaton from `start`, which becomes state 1; 0 is dead.
    fn explore(&mut self, lazy: &mut Lazy, start: LazyStateID) -> Result<(), Refusal> {
        let states_max = lazy.limits.states.min(usize::from(u16::MAX));
        let mut number: HashMap<LazyStateID, u32> = HashMap::from([(start, 1)]);
        let mut queue = vec![start];
        let mut at = 0;
        while let Some(&id) = queue.get(at) {
            at += 1;
            // A match is told on the byte after it, whichever that is.
            let behind = lazy.next(id, self.samples.first().copied().unwrap_or(0))?;
            let now = lazy.matched(behind);
            let end = lazy.end(id)?;
            let end = lazy.matched(end);
            let mut row = Vec::new();
            if now == 0 {
                for &byte in &self.samples {
                    let to = lazy.next(id, byte)?;
                    if to.is_dead() {
                        row.push(0);
                        continue;
                    }
                    let fresh = u32::try_from(queue.len() + 1).unwrap_or(u32::MAX);
                    let place = *number.entry(to).or_insert(fresh);
                    if place == fresh {
                        queue.push(to);
                    }
                    row.push(place);
                }
            }
            self.push(row, (now, end));
            // Merging brings it down by less than this.
            if queue.len() > states_max + states_max / 2 {
                return Err(Refusal::States(lazy.limits.states));
            }
        }
        Ok(())
    }
}

/// Moore's refinement: by state, the number of its block, in the order of first states.
fn merge(plain: &Plain) -> Vec<u32> {
    let mut block: Vec<u32> = Vec::new();
    let mut count = 0;
    let mut seen: HashMap<(bool, (u16, u16)), u32> = HashMap::new();
    for (state, &accept) in plain.accept.iter().enumerate() {
        let next = u32::try_from(seen.len()).unwrap_or(u32::MAX);
        block.push(*seen.entry((state == 0, accept)).or_insert(next));
    }
    loop {
        let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut finer = Vec::with_capacity(block.len());
        for (row, &own) in plain.next.iter().zip(&block) {
            let mut signature = Vec::with_capacity(row.len() + 1);
            signature.push(own);
            signature.extend(
                row.iter()
                    .map(|&to| block.get(to as usize).copied().unwrap_or(0)),
            );
            let next = u32::try_from(seen.len()).unwrap_or(u32::MAX);
            finer.push(*seen.entry(signature).or_insert(next));
        }
        block = finer;
        if seen.len() == count {
            return block;
        }
        count = seen.len();
    }
}

/// Numbers the blocks (dead, accepting, live), merges byte classes, writes the table.
fn lay_out(plain: &Plain, block: &[u32]) -> Automaton {
    let count = block.iter().max().map_or(0, |&last| last as usize + 1);
    let mut first_of = vec![usize::MAX; count];
    for (state, &own) in block.iter().enumerate().rev() {
        if let Some(slot) = first_of.get_mut(own as usize) {
            *slot = state;
        }
    }
    let accept = |own: usize| {
        let state = first_of.get(own).copied().unwrap_or(0);
        plain.accept.get(state).copied().unwrap_or((0, 0))
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&own| (own != 0, accept(own).0 == 0, own));
    let mut number = vec![0u16; count];
    for (index, &own) in order.iter().enumerate() {
        if let (Some(slot), Ok(index)) = (number.get_mut(own), u16::try_from(index)) {
            *slot = index;
        }
    }
    let to = |state: u32| {
        let own = block.get(state as usize).copied().unwrap_or(0);
        number.get(own as usize).copied().unwrap_or(0)
    };
    // A column a class: classes with equal columns are one.
    let mut columns: HashMap<Vec<u16>, u8> = HashMap::new();
    let mut merged = Vec::new();
    for class in 0..plain.samples.len() {
        let column: Vec<u16> = order
            .iter()
            .map(|&own| {
                let row = first_of.get(own).and_then(|&state| plain.next.get(state));
                row.and_then(|row| row.get(class))
                    .map_or(0, |&state| to(state))
            })
            .collect();
        let next = u8::try_from(columns.len()).unwrap_or(u8::MAX);
        merged.push(*columns.entry(column).or_insert(next));
    }
    let shift = columns.len().next_power_of_two().trailing_zeros();
    let mut next = vec![0u16; count << shift];
    for (column, class) in columns {
        for (state, to) in column.into_iter().enumerate() {
            if let Some(slot) = next.get_mut(state << shift | usize::from(class)) {
                *slot = to;
            }
        }
    }
    let patterns: Vec<u16> = order
        .iter()
        .filter_map(|&own| accept(own).0.checked_sub(1))
        .collect();
    Automaton {
        classes: plain
            .class_of
            .map(|class| merged.get(class).copied().unwrap_or(0)),
        shift,
        accepting: u16::try_from(patterns.len()).unwrap_or(u16::MAX),
        start: to(1),
        patterns,
        at_end: order.iter().map(|&own| accept(own).1).collect(),
        next,
    }
}
