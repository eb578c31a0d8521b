//! NUT (Network UPS Tools, RFC 9271): commands to power supplies, each with its answer.
//!
//! ```text
//!  bytes ──► lines ──► commands wait ──┐
//!   any      capped                    ├──► one record for each command
//!   cut      answers, lists ───────────┘
//! ```
//!
//! One [`Nut`] a worker. Guarantees:
//!
//! - What is reported depends on the bytes of each direction, and on the order in which directions
//!   took turns: never on how they were cut into segments.
//! - Passwords are in no output; of commands that are not known only the first word is.
//! - After STARTTLS that the server agrees to, the connection is identified again: it is TLS.
//! - A connection and a shard hold no more than their part; no bytes make it panic.
//!
//! Deliberately does not: keep the variables of a list. Their number is in the record.

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

mod fuzz;
mod lines;
mod parser;
mod schema;
mod session;
mod signature;
#[cfg(test)]
mod tests;
mod words;

#[doc(hidden)]
pub use fuzz::fuzz_nut;
pub use parser::Nut;
pub use schema::NUT;
pub use signature::SIGNATURE;
