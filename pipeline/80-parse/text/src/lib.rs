//! Runs any grammar as a parser that turns streams and datagrams into messages.
//!
//! ```text
//!  bytes ─► Scanner ─token─► actions ─► fields (of each direction)
//!                               ├─ emit ───► record
//!                               ├─ ask ────► question ─┐
//!                               ├─ answer ─────────────┴► record of both
//!                               └─ lines of a mail ─► mails ─► files, records of them
//! ```
//!
//! Owns the captured fields of each connection, and the questions that wait for their answers.
//! Guarantees: the messages depend on each direction's bytes and on the order in which the two
//! directions arrive, never on segmentation; what is kept is charged to the budget of its shard,
//! and every refusal has a [`flowpin_counters::Loss`]; nothing is allocated for each message.
//!
//! Deliberately has no knowledge of protocols, which is in `grammars/`. [`built_in()`] returns the
//! grammars compiled into the program; others are compiled when needed (`compilers/grammar`).

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]

mod actions;
pub mod built_in;
mod feed;
mod fields;
mod fuzz;
mod grammars;
mod mails;
mod memory;
mod named;
mod options;
mod pairing;
mod parser;
mod questions;
mod window;

pub use built_in::{Protocol, built_in};
#[doc(hidden)]
pub use fuzz::fuzz_text;
pub use options::TextOptions;
pub use parser::Text;
