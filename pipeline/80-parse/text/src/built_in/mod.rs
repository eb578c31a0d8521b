//! Built-in and loaded grammars.

use crate::mails::{Shared, shared};
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
    /// The grammar itself.
    pub grammar: Cow<'static, Grammar>,
    pub(crate) scanner: Scanner,
    /// By rule: whether its action does nothing but capture texts, which only messages need.
    pub(crate) only_captures: Vec<bool>,
    /// Columns of files that events have of its mails.
    pub(crate) shared_columns: Shared,
    /// Answers are paired by captured texts, which are therefore always needed.
    pub(crate) compares: bool,
}

impl Protocol {
    /// Prepares a loaded grammar.
    pub fn loaded(grammar: Grammar) -> Arc<Self> {
        Self::new(Cow::Owned(grammar))
    }

    fn new(grammar: Cow<'static, Grammar>) -> Arc<Self> {
        let scanner = Scanner::new(grammar.table.clone());
        let rules = grammar.table.parts().rules.iter();
        let only_captures = rules.map(|rule| only_captures(&grammar, rule)).collect();
        let mut operations = grammar.program.operations.iter();
        let compares = operations.any(|one| matches!(one, Op::AnswerInOrder { .. }));
        Arc::new(Self {
            compares,
            shared_columns: shared(&grammar),
            only_captures,
            grammar,
            scanner,
        })
    }
}

fn only_captures(grammar: &Grammar, rule: &Rule) -> bool {
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
                | Op::BeforeText(_)
                | Op::Between(..)
                | Op::BetweenWith(..)
                | Op::Capture(_)
                | Op::Unfold(_)
                | Op::Append(_)
                | Op::Set(..)
                | Op::Copy(..)
        )
    })
}

/// All built-in grammars. Their scanners are made once and shared by all workers.
pub fn built_in() -> Vec<Arc<Protocol>> {
    PROTOCOLS.clone()
}

/// The grammars of [`built_in`], in the same order.
pub(crate) static GRAMMARS: [&Grammar; 3] = [&redis::GRAMMAR, &sip::GRAMMAR, &smtp::GRAMMAR];

static PROTOCOLS: LazyLock<Vec<Arc<Protocol>>> = LazyLock::new(|| {
    let grammars = GRAMMARS.iter();
    grammars
        .map(|grammar| Protocol::new(Cow::Borrowed(*grammar)))
        .collect()
});
