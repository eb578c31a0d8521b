//! A compiled scanner: an automaton over classes of bytes, and what its rules are.

use flowpin_cpu::ByteSet;
use std::borrow::Cow;

/// A start condition: an index into [`Parts::starts`]. 0 is `INITIAL`.
pub type Condition = u16;

/// A scanner's tables, loaded or generated; [`crate::Scanner`] runs them.
///
/// All that is looked up is checked when it is looked up, so that even a table that contradicts
/// itself can do no more than find wrong tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub(crate) parts: Parts,
}

/// What a [`Table`] is made of.
///
/// State 0 is none: a transition to it means that nothing longer matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The class of each byte; bytes of one class are told apart nowhere.
    pub classes: Cow<'static, [u8; 256]>,
    /// Each state has `1 << class_bits` transitions.
    pub class_bits: u8,
    /// The next state, by `state << class_bits | class`.
    pub transitions: Cow<'static, [u16]>,
    /// The states.
    pub states: Cow<'static, [State]>,
    /// Where each start condition begins.
    pub starts: Cow<'static, [Start]>,
    /// The rules, in the grammar's order.
    pub rules: Cow<'static, [Rule]>,
    /// States that are skipped through.
    pub runs: Cow<'static, [Run]>,
    /// The sets of bytes that end runs.
    pub sets: Cow<'static, [ByteSet]>,
    /// Keywords that a run may find, all runs' together.
    pub words: Cow<'static, [Word]>,
    /// The words' bytes, all words' together: a byte, and 0x20 if it is a letter in either case.
    /// Such a letter is in lower case here.
    pub word_bytes: Cow<'static, [[u8; 2]]>,
    /// Where the head of a rule with variable trailing context may end: `(state, rule)`, sorted.
    pub heads: Cow<'static, [(u16, u16)]>,
    /// Tokens longer than this are told shortened.
    pub token_len_max: u32,
    /// Whether any rule asks for the beginning of a line.
    pub uses_line_start: bool,
    /// Where to go on after a gap; none: the rest of the direction is not scanned.
    pub resync: Option<Condition>,
}

/// A state of the automaton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The rule that matches here, plus 1; 0 if none does.
    pub accept: u16,
    /// Where [`State::likely_byte`] leads.
    pub likely_next: u16,
    /// A byte that most often comes here.
    pub likely_byte: u8,
    /// The run that begins here, plus 1; 0 if none does.
    pub run: u8,
    /// Nothing longer matches: no transition leads anywhere.
    pub is_final: bool,
}

const _: () = assert!(size_of::<State>() <= 8);

/// Where a start condition begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Within a line, and at its beginning.
    pub states: [u16; 2],
    /// The rule for the end of the input, plus 1; 0 if there is none.
    pub eof_rule: u16,
}

/// A rule: what follows when it matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// What `return` gives: an index into the grammar's tokens, plus 1; 0 if nothing.
    pub token: u16,
    /// The start condition that it begins, plus 1; 0 if none.
    pub begin: u16,
    /// Its operations: `operations[from..to]` of the program.
    pub operations: (u16, u16),
    /// What is looked at and not consumed.
    pub trail: Trail,
    /// Its line in the grammar.
    pub line: u32,
}

/// How much of a match is trailing context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trail {
    /// None.
    #[default]
    None,
    /// The last bytes, so many.
    Tail(u32),
    /// All but the first bytes, so many.
    Head(u32),
    /// As many as the head leaves: the longest head counts.
    Variable,
}

/// A state that is skipped through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The bytes that end it: an index into the sets.
    pub stop: u8,
    /// Longer words are no keywords; 0 if there are none.
    pub word_len_max: u8,
    /// The state after at least one byte that was no keyword.
    pub after: u16,
    /// Its keywords: `words[words.0..][..words.1]`.
    pub words: (u16, u16),
}

/// The longest [`Word`]; the compiler makes no longer ones.
pub const WORD_LEN_MAX: usize = 48;

/// A keyword: a run over just these bytes leads elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its bytes: `word_bytes[bytes.0..][..bytes.1]`.
    pub bytes: (u32, u8),
    /// Where it leads.
    pub state: u16,
}

impl Table {
    /// A scanner of these parts.
    pub const fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// What it is made of.
    pub const fn parts(&self) -> &Parts {
        &self.parts
    }

    /// How many bytes its tables take.
    pub fn len_bytes(&self) -> usize {
        let parts = &self.parts;
        size_of_val(&*parts.transitions)
            .saturating_add(size_of_val(&*parts.states))
            .saturating_add(size_of_val(&*parts.sets))
            .saturating_add(size_of_val(&*parts.words))
            .saturating_add(size_of_val(&*parts.word_bytes))
            .saturating_add(size_of_val(&*parts.classes))
    }
}
