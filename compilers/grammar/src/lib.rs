//! Compiles grammars in flex's format to streaming scanners.
//!
//! ```text
//!  text ─► read ─► pattern ─► automaton (nfa, dfa, minimal, runs) ─► lower ─► Grammar
//!                                   │                                           │
//!                          findings (warnings, backing up)          rust: the same as source
//! ```
//!
//! Owns flex's format, our own declarations and actions (`docs/user/grammar.md`), and what a
//! grammar may cost ([`Limits`]). Guarantees: the tokens of flex 2.6.4; the same text makes the
//! same tables; any text ends in a grammar or in an error that names file, line and column, within
//! bounded time and memory.
//!
//! Deliberately does not compile C: actions are a small set of statements, and anything else is
//! refused.

mod automaton;
mod diagnostic;
mod findings;
mod fuzz;
mod limits;
mod lower;
mod pattern;
mod plan;
mod read;
mod records;
mod rust;
mod statements;
mod stems;
mod straight;
mod usage;

pub use diagnostic::{Diagnostic, Refused, Severity};
pub use findings::BackingUp;
pub use flowpin_lexer::Direction;
#[doc(hidden)]
pub use fuzz::{fuzz_grammar, fuzz_scan};
pub use limits::Limits;
pub use plan::Others;
pub use rust::as_rust;

use diagnostic::{Failure, Source};
use flowpin_lexer::Grammar;

/// A grammar that was compiled, and what its author should know.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The grammar.
    pub grammar: Grammar,
    /// What may not be meant.
    pub warnings: Vec<Diagnostic>,
    /// What makes the scanner look at bytes twice.
    pub backing_up: Vec<BackingUp>,
    /// Where things stand that only the program which runs the grammar can judge.
    pub places: Places,
}

/// Places in a grammar's text, each as a diagnostic that says nothing yet.
#[derive(Clone, Debug)]
pub struct Places {
    /// The protocol's name; the text's beginning if there is none.
    pub protocol: Diagnostic,
    /// Names of messages, in order.
    pub messages: Vec<Diagnostic>,
    /// What names the messages' files, in the same order.
    pub files: Vec<Diagnostic>,
    /// Expressions of `%identify`, in order.
    pub identify: Vec<Diagnostic>,
}

impl Places {
    fn of(source: &Source<'_>, declared: &read::Declarations) -> Self {
        let at = |at: usize| source.diagnostic(&Failure::new(at, ""), Severity::Error);
        let mut messages: Vec<_> = declared.messages.iter().map(|one| at(one.at)).collect();
        let files = declared.messages.iter().map(|one| at(stems::of(one).1));
        let mut files: Vec<_> = files.collect();
        if messages.is_empty() {
            // The record of its tokens, if it has one.
            messages.push(at(declared.protocol_at));
            files.push(at(declared.protocol_at));
        }
        Self {
            protocol: at(declared.protocol_at),
            messages,
            files,
            identify: declared.identify.iter().map(|one| at(one.2)).collect(),
        }
    }
}

/// Compiles a grammar. `file` is what errors call it.
///
/// # Errors
/// [`Refused`]: what is wrong, where, and what limit it breaks.
///
/// # Examples
///
/// ```
/// let text = b"%%\n[a-z]+   { return WORD; }\n[ \\t\\n]+\n";
/// let compiled = flowpin_grammar::compile("words.l", text, &Default::default())?;
/// assert_eq!(compiled.grammar.token_name(1), Some("WORD"));
/// # Ok::<(), flowpin_grammar::Refused>(())
/// ```
pub fn compile(file: &str, text: &[u8], limits: &Limits) -> Result<Compiled, Refused> {
    let source = Source { file, text };
    let as_refused = |failure: Failure| Refused {
        diagnostics: vec![source.diagnostic(&failure, Severity::Error)],
    };
    compile_source(&source, limits).map_err(as_refused)
}

fn compile_source(source: &Source<'_>, limits: &Limits) -> Result<Compiled, Failure> {
    let mut read = read::read(source.text, limits)?;
    if lower::tells_tokens(&read) {
        name_by_file(source.file, &mut read.declarations);
    }
    records::check(&read.declarations)?;
    stems::check(&read.declarations)?;
    let mut matched = Vec::new();
    let mut rules = Vec::new();
    for (number, rule) in (0u16..).zip(&read.rules) {
        let Some(pattern) = &rule.pattern else {
            continue;
        };
        matched.push(number);
        let holds_in = read.conditions.iter().enumerate();
        rules.push(automaton::AutomatonRule {
            pattern,
            at: rule.at,
            holds_in: holds_in
                .map(|(index, condition)| {
                    lower::holds(&rule.conditions, index, condition.is_exclusive)
                })
                .collect(),
        });
    }
    let built = automaton::build(&rules, read.conditions.len(), limits)?;
    let accelerated = automaton::accelerate(&built.minimal, &built.classes);
    let grammar = lower::lower(source, &read, &matched, &built, accelerated)?;
    let mut found = findings::unmatchable(source, &read, &matched, &built);
    found.extend(findings::matching_nothing(&read));
    found.extend(findings::empty_conditions(&read));
    found.sort_by_key(|failure| failure.at);
    let warnings = found
        .iter()
        .map(|failure| source.diagnostic(failure, Severity::Warning))
        .collect();
    Ok(Compiled {
        backing_up: findings::backing_up(source, &read, &matched, &built),
        places: Places::of(source, &read.declarations),
        grammar,
        warnings,
    })
}

/// A grammar in flex's format alone cannot say which protocol it reads: its file's name does.
fn name_by_file(file: &str, declared: &mut read::Declarations) {
    let stem = std::path::Path::new(file)
        .file_stem()
        .and_then(|stem| stem.to_str());
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let stem = stem.filter(|stem| stem.len() <= read::NAME_LEN_MAX && stem.chars().all(is_part));
    if declared.protocol.is_none() {
        declared.protocol = stem.map(str::to_owned);
    }
}
