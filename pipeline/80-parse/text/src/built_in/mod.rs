//! The grammars that come along, and those that are loaded.

use flowpin_lexer::{Grammar, Scanner};
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
}

impl Protocol {
    /// A grammar that was loaded.
    pub fn loaded(grammar: Grammar) -> Arc<Self> {
        Self::new(Cow::Owned(grammar))
    }

    fn new(grammar: Cow<'static, Grammar>) -> Arc<Self> {
        let scanner = Scanner::new(grammar.table.clone());
        Arc::new(Self { grammar, scanner })
    }
}

/// All grammars that come along. Their scanners are made once, for all workers.
pub fn built_in() -> Vec<Arc<Protocol>> {
    PROTOCOLS.clone()
}

static PROTOCOLS: LazyLock<Vec<Arc<Protocol>>> = LazyLock::new(|| {
    let grammars = GRAMMARS.iter();
    grammars
        .map(|grammar| Protocol::new(Cow::Borrowed(*grammar)))
        .collect()
});

static GRAMMARS: [&Grammar; 3] = [&redis::GRAMMAR, &sip::GRAMMAR, &smtp::GRAMMAR];
