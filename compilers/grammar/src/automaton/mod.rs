//! From patterns to tables.
//!
//! ```text
//!  patterns ─► nfa ─► classes ─► dfa (subsets) ─► minimise ─► runs, words ─► Table
//! ```
//!
//! Own, because what is needed is flex's: rules that hold in some start conditions only, the first
//! of equally long matches, heads of trailing context, and states that two bytes can save.

mod classes;
mod dfa;
mod minimise;
mod nfa;
mod runs;
mod words;

pub(crate) use classes::Classes;
pub(crate) use dfa::Dfa;
pub(crate) use nfa::{Nfa, RuleTrail};
pub(crate) use runs::{Accelerated, accelerate};

use crate::diagnostic::Failure;
use crate::limits::Limits;
use crate::pattern::Pattern;

/// A rule, as the automaton sees it.
pub(crate) struct AutomatonRule<'a> {
    pub(crate) pattern: &'a Pattern,
    /// Where its pattern stands, for errors.
    pub(crate) at: usize,
    /// By start condition: whether it holds there.
    pub(crate) holds_in: Vec<bool>,
}

/// The automaton of rules: not yet minimal, and then minimal.
pub(crate) struct Built {
    pub(crate) classes: Classes,
    pub(crate) subsets: Dfa,
    pub(crate) minimal: Dfa,
    pub(crate) trails: Vec<RuleTrail>,
}

/// Builds the automaton.
pub(crate) fn build(
    rules: &[AutomatonRule<'_>],
    condition_count: usize,
    limits: &Limits,
) -> Result<Built, Failure> {
    let nfa = Nfa::build(rules, condition_count, limits)?;
    let classes = Classes::in_use(&nfa);
    let subsets = Dfa::build(&nfa, &classes, limits)?;
    let minimal = minimise::minimise(&subsets);
    Ok(Built {
        classes,
        subsets,
        minimal,
        trails: nfa.trails,
    })
}
