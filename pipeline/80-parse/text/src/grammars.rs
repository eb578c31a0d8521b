//! The grammars of a run.

use crate::built_in::{GRAMMARS, Protocol, built_in};
use flowpin_lexer::Grammar;
use flowpin_parser::ParserSetup;
use std::sync::Arc;

/// Protocols with grammars: the user's, then the built-in ones that the user's do not replace.
pub(crate) fn protocols(setup: &ParserSetup) -> Vec<Arc<Protocol>> {
    let loaded = setup.parse.loaded.iter();
    let loaded = loaded.map(|grammar| Protocol::loaded(Grammar::clone(grammar)));
    let built_in = built_in().into_iter();
    let built_in = built_in.filter(|one| !is_replaced(&one.grammar, setup));
    loaded.chain(built_in).collect()
}

/// The grammars of [`protocols`], in the same order.
pub(crate) fn grammars(setup: &ParserSetup) -> Vec<&Grammar> {
    let loaded = setup.parse.loaded.iter().map(Arc::as_ref);
    let built_in = GRAMMARS.into_iter().filter(|one| !is_replaced(one, setup));
    loaded.chain(built_in).collect()
}

fn is_replaced(built_in: &Grammar, setup: &ParserSetup) -> bool {
    let mut loaded = setup.parse.loaded.iter();
    loaded.any(|grammar| grammar.protocol == built_in.protocol)
}
