//! A table made ready to run: all that a state needs in one cache line.
//!
//! ```text
//!  0        16        32                                      48                      64
//!  │ stop: low │ high │ tail, its length, the match behind it │ next states, kind …   │
//! ```
//!
//! Made of the table alone, when a grammar is loaded; so generated grammars hold nothing but the
//! table either.

use crate::leap::{Leap, find_leaps};
use crate::windows::{RUN_SETS_MAX, SPARSE, SparseSets};
use crate::words::WordSet;
use crate::{Condition, Parts, Rule, Run, State, Table, Trail};
use flowpin_cpu::{ByteSet, SparseSet};

/// A scanner that is ready to run; made once, shared by all cores.
#[derive(Clone, Debug)]
pub struct Scanner {
    pub(crate) table: Table,
    pub(crate) states: Vec<HotState>,
    pub(crate) ends: Vec<EndState>,
    pub(crate) sparse: SparseSets,
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
    /// A run begins here.
    Run,
    /// Nothing longer matches.
    Final,
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
#[repr(C, align(64))]
pub(crate) struct HotState {
    /// The bytes that end the run.
    pub(crate) stop: ByteSet,
    /// What most often follows.
    pub(crate) leap: Leap,
    /// Where `likely_byte` leads.
    pub(crate) likely_next: u16,
    /// The state after a run over words.
    pub(crate) after: u16,
    pub(crate) likely_byte: u8,
    /// Which of the sets `stop` is, and [`SPARSE`] if it is one of few bytes.
    pub(crate) set_index: u8,
    pub(crate) kind: StateKind,
    /// Whose keywords: the run's number, plus 1; 0 if it has none.
    pub(crate) words: u8,
    /// Whatever word was run over, `leap` tells how to go on, but for the rule and its token.
    pub(crate) words_leap_alike: bool,
}

const _: () = assert!(size_of::<HotState>() == 64);

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
        let mut states: Vec<HotState> =
            parts.states.iter().map(|state| hot(parts, state)).collect();
        find_leaps(parts, &mut states, &ends);
        Self {
            words: word_sets(parts, &states),
            states,
            ends,
            sparse: sparse_sets(parts),
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
fn word_sets(parts: &Parts, states: &[HotState]) -> Vec<WordSet> {
    let set = |(number, run): (u8, &Run)| {
        let alike = |state: &HotState| state.words == number && state.words_leap_alike;
        WordSet::new(parts, run, states, states.iter().any(alike))
    };
    (1u8..=u8::MAX).zip(parts.runs.iter()).map(set).collect()
}

/// Those of the sets that hold few bytes, each in its place.
fn sparse_sets(parts: &Parts) -> SparseSets {
    let mut sparse = [SparseSet::EMPTY; RUN_SETS_MAX];
    for (place, set) in sparse.iter_mut().zip(parts.sets.iter()) {
        *place = SparseSet::of(set).unwrap_or(SparseSet::EMPTY);
    }
    sparse
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

fn hot(parts: &Parts, state: &State) -> HotState {
    let run = state.run.checked_sub(1);
    let run = run.and_then(|run| parts.runs.get(usize::from(run)));
    let stop = run.and_then(|run| parts.sets.get(usize::from(run.stop)));
    HotState {
        stop: stop.copied().unwrap_or_default(),
        likely_next: state.likely_next,
        after: run.map_or(0, |run| run.after),
        likely_byte: state.likely_byte,
        set_index: match (run, stop.and_then(SparseSet::of)) {
            (Some(run), Some(_)) => run.stop | SPARSE,
            (Some(run), None) => run.stop,
            (None, _) => 0,
        },
        words: match run {
            Some(run) if run.word_len_max != 0 => state.run,
            _ => 0,
        },
        kind: match stop {
            // From state 0 nothing leads anywhere, whatever a table says.
            _ if state.is_final || state.likely_next == 0 => StateKind::Final,
            Some(_) => StateKind::Run,
            None => StateKind::Step,
        },
        ..HotState::default()
    }
}
