//! Patterns over the first bytes of a connection, compiled into small automata.
//!
//! ```text
//!  .pat files ─► parse ─► rewrite ─┐
//!  own patterns ──────► parse ─────┴─► determinise ─► merge ─► Automaton ─► product ─► cache
//! ```
//!
//! Owns l7-filter's file format and dialect, the limits on what compiling may cost, and the
//! automata. Guarantees: the same patterns make the same tables; a pattern that would break a limit
//! is refused by name; a search needs no memory but its [`State`], and goes on where it was.
//!
//! Deliberately does not know protocols, connections or directions.

mod automaton;
mod build;
pub mod cache;
mod dialect;
mod fuzz;
mod gate;
pub mod l7;
mod product;
mod rating;
mod refusal;
mod rewrite;
mod search;
mod set;

pub use automaton::{Automaton, Fed, State};
pub use build::Limits;
pub use dialect::own;
#[doc(hidden)]
pub use fuzz::{fuzz_pattern, fuzz_pattern_set};
pub use gate::Gate;
pub use rating::{FALSE_MATCH_MAX, RATED_BYTES, Rating};
pub use refusal::Refusal;
pub use regex_syntax::hir::Hir;
pub use rewrite::{Rewrite, Rewritten, rewrite};
pub use search::{Matched, SetState};
pub use set::{Compiled, GROUPS_MAX, Group, PatternSet, Source};
