//! The grammars that come along, and those that are loaded.

use flowpin_lexer::{Grammar, Op, Rule, Scanner};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

#[rustfmt::skip]
mod redis;
#[rustfmt::skip]
mod sip;
#[rustfmt::skip]
mod smtp;

/// A grammar, ready to run.
#[derive(Debug)]
pub struct Protocol {
    /// What it says.
    pub grammar: Cow<'static, Grammar>,
    pub(crate) scanner: Scanner,
    /// By rule: it does nothing but capture texts, which only messages show.
    pub(crate) only_shows: Vec<bool>,
    /// Answers are told by what is captured: it is, whether anybody reads it or not.
    pub(crate) compares: bool,
}

impl Protocol {
    /// A grammar that was loaded.
    pub fn loaded(grammar: Grammar) -> Arc<Self> {
        Self::new(Cow::Owned(grammar))
    }

    fn new(grammar: Cow<'static, Grammar>) -> Arc<Self> {
        let scanner = Scanner::new(grammar.table.clone());
        let rules = grammar.table.parts().rules.iter();
        let only_shows = rules.map(|rule| only_shows(&grammar, rule)).collect();
        let mut operations = grammar.program.operations.iter();
        let compares = operations.any(|one| matches!(one, Op::AnswerInOrder { .. }));
        Arc::new(Self {
            compares,
            only_shows,
            grammar,
            scanner,
        })
    }
}

fn only_shows(grammar: &Grammar, rule: &Rule) -> bool {
    let (from, to) = rule.operations;
    let operations = &grammar.program.operations;
    let operations = operations.get(usize::from(from)..usize::from(to));
    operations.unwrap_or_default().iter().all(|operation| {
        matches!(
            operation,
            Op::Trim(..)
                | Op::Blank
                | Op::Word(_)
                | Op::Rest(_)
                | Op::After(_)
                | Op::Before(_)
                | Op::Capture(_)
                | Op::Unfold(_)
                | Op::Append(_)
                | Op::Set(..)
        )
    })
}

/// All grammars that come along. Their scanners are made once, for all workers.
pub fn built_in() -> Vec<Arc<Protocol>> {
    PROTOCOLS.clone()
}

/// Their grammars, in the same order.
pub(crate) static GRAMMARS: [&Grammar; 3] = [&redis::GRAMMAR, &sip::GRAMMAR, &smtp::GRAMMAR];

static PROTOCOLS: LazyLock<Vec<Arc<Protocol>>> = LazyLock::new(|| {
    let grammars = GRAMMARS.iter();
    grammars
        .map(|grammar| Protocol::new(Cow::Borrowed(*grammar)))
        .collect()
});
