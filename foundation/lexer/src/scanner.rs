//! A table made ready to run: all that a state needs in half a cache line.
//!
//! ```text
//!  0                                       20                       32
//!  │ leap: tail, its length, what it matches │ next states, kind …   │
//! ```
//!
//! Made of the table alone, when a grammar is loaded; so generated grammars hold nothing but the
//! table either.

use crate::leap::{Leap, find_leaps};
use crate::words::WordSet;
use crate::{Condition, Parts, Rule, State, Table, Trail};
use flowpin_cpu::{ByteSet, ByteSets};

/// A scanner that is ready to run; made once, shared by all cores.
#[derive(Clone, Debug)]
pub struct Scanner {
    pub(crate) table: Table,
    pub(crate) states: Vec<HotState>,
    pub(crate) ends: Vec<EndState>,
    /// The sets of bytes that end runs.
    pub(crate) sets: ByteSets,
    pub(crate) transitions: Vec<u16>,
    pub(crate) classes: Box<[u8; 256]>,
    pub(crate) class_bits: u32,
    /// Of each run.
    pub(crate) words: Vec<WordSet>,
    pub(crate) token_len_max: usize,
    pub(crate) uses_line_start: bool,
}

/// What is to be done in a state before a byte is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StateKind {
    /// Nothing.
    #[default]
    Step,
    /// Nothing longer matches.
    Final,
    /// A run begins here.
    Run,
    /// A run over words begins here.
    Words,
    /// The same; behind most of the words, the leap leads to another run.
    WordsTail,
    /// The same; whatever word it was, the leap ends the token: only its rule hangs on the word.
    WordsAlike,
}

impl StateKind {
    /// A run over words begins here.
    pub(crate) const fn has_words(self) -> bool {
        matches!(self, Self::Words | Self::WordsTail | Self::WordsAlike)
    }
}

/// A rule that matches, and what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Match {
    /// The rule, plus 1; 0 if none does.
    pub(crate) accept: u16,
    /// What the rule returns.
    pub(crate) token: u16,
    /// The start condition that the rule begins, plus 1; 0 if none.
    pub(crate) begin: u16,
    /// Where that begins, within a line.
    pub(crate) begin_state: u16,
}

/// A state on the way through a token.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct HotState {
    /// What most often follows.
    pub(crate) leap: Leap,
    /// Where `likely_byte` leads.
    pub(crate) likely_next: u16,
    /// The state after a run over words.
    pub(crate) after: u16,
    pub(crate) likely_byte: u8,
    /// Which set of bytes ends the run.
    pub(crate) set: u8,
    pub(crate) kind: StateKind,
    /// Whose keywords: the run's number, plus 1; 0 if it has none.
    pub(crate) words: u8,
}

const _: () = assert!(size_of::<HotState>() == 32);

/// A state in which a token ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EndState {
    /// What matches.
    pub(crate) found: Match,
    /// It is a rule without trailing context.
    pub(crate) is_plain: bool,
}

impl Scanner {
    /// Makes a table ready.
    pub fn new(table: Table) -> Self {
        let parts = table.parts();
        let ends: Vec<EndState> = parts.states.iter().map(|state| end(parts, state)).collect();
        let sets = ByteSets::new(&parts.sets);
        let states = parts.states.iter().map(|state| hot(parts, &sets, state));
        let mut states: Vec<HotState> = states.collect();
        find_leaps(parts, &mut states, &ends);
        Self {
            words: word_sets(parts, &mut states),
            states,
            ends,
            sets,
            transitions: parts.transitions.to_vec(),
            classes: Box::new(*parts.classes),
            class_bits: u32::from(parts.class_bits),
            token_len_max: usize::try_from(parts.token_len_max).unwrap_or(usize::MAX),
            uses_line_start: parts.uses_line_start,
            table,
        }
    }

    /// What it was made of.
    pub const fn table(&self) -> &Table {
        &self.table
    }

    #[inline(always)]
    pub(crate) fn class(&self, byte: u8) -> u8 {
        // The index cannot be out of bounds: the compiler sees it.
        self.classes.get(usize::from(byte)).copied().unwrap_or(0)
    }

    /// The next state by the table.
    #[inline(always)]
    pub(crate) fn step(&self, state: u16, byte: u8) -> u16 {
        let class = usize::from(self.class(byte));
        let at = (usize::from(state) << (self.class_bits & 15)) | class;
        self.transitions.get(at).copied().unwrap_or(0)
    }

    #[inline(always)]
    pub(crate) fn start(&self, condition: Condition, is_line_start: bool) -> u16 {
        match self.table.parts.starts.get(usize::from(condition)) {
            Some(start) if is_line_start => start.states[1],
            Some(start) => start.states[0],
            None => 0,
        }
    }

    /// What a token that ends in a state is.
    #[inline(always)]
    pub(crate) fn end(&self, state: u16) -> EndState {
        self.ends
            .get(usize::from(state))
            .copied()
            .unwrap_or_default()
    }

    /// The rule that matches in a state, plus 1.
    pub(crate) fn accept(&self, state: u16) -> u16 {
        self.end(state).found.accept
    }

    pub(crate) fn eof_rule(&self, condition: Condition) -> Option<u16> {
        let start = self.table.parts.starts.get(usize::from(condition))?;
        start.eof_rule.checked_sub(1)
    }

    pub(crate) fn rule(&self, rule: u16) -> Rule {
        let rule = self.table.parts.rules.get(usize::from(rule));
        rule.copied().unwrap_or_default()
    }
}

/// The keywords of each run.
fn word_sets(parts: &Parts, states: &mut [HotState]) -> Vec<WordSet> {
    let mut sets = Vec::new();
    for (number, run) in (1u8..=u8::MAX).zip(parts.runs.iter()) {
        let mut set = WordSet::new(parts, run, states);
        let begin = states.iter().position(|state| state.words == number);
        let state = begin.and_then(|begin| states.get(begin));
        if state.is_some_and(|state| state.kind == StateKind::Words)
            && let Some(leap) = set.find_tail(parts, run, states)
            && let Some(state) = begin.and_then(|begin| states.get_mut(begin))
        {
            state.kind = StateKind::WordsTail;
            state.leap = leap;
        }
        sets.push(set);
    }
    sets
}

fn end(parts: &Parts, state: &State) -> EndState {
    let rule = state.accept.checked_sub(1);
    let rule = rule.and_then(|rule| parts.rules.get(usize::from(rule)));
    let begin = rule.and_then(|rule| rule.begin.checked_sub(1));
    let start = begin.and_then(|begin| parts.starts.get(usize::from(begin)));
    EndState {
        found: Match {
            accept: rule.map_or(0, |_| state.accept),
            token: rule.map_or(0, |rule| rule.token),
            begin: start.map_or(0, |_| begin.unwrap_or(0).saturating_add(1)),
            begin_state: start.map_or(0, |start| start.states[0]),
        },
        is_plain: rule.is_some_and(|rule| rule.trail == Trail::None),
    }
}

/// The bytes that end a state's run, if it is one.
pub(crate) fn stop(parts: &Parts, state: &State) -> Option<ByteSet> {
    let run = parts.runs.get(usize::from(state.run.checked_sub(1)?))?;
    parts.sets.get(usize::from(run.stop)).copied()
}

fn hot(parts: &Parts, sets: &ByteSets, state: &State) -> HotState {
    let run = state.run.checked_sub(1);
    let run = run.and_then(|run| parts.runs.get(usize::from(run)));
    let set = stop(parts, state).and_then(|stop| sets.place(&stop));
    let set = set.and_then(|set| u8::try_from(set).ok());
    let has_words = run.is_some_and(|run| run.word_len_max != 0);
    HotState {
        likely_next: state.likely_next,
        after: run.map_or(0, |run| run.after),
        likely_byte: state.likely_byte,
        set: set.unwrap_or(0),
        words: if has_words { state.run } else { 0 },
        kind: match set {
            // From state 0 nothing leads anywhere, whatever a table says.
            _ if state.is_final || state.likely_next == 0 => StateKind::Final,
            Some(_) if has_words => StateKind::Words,
            Some(_) => StateKind::Run,
            None => StateKind::Step,
        },
        ..HotState::default()
    }
}
