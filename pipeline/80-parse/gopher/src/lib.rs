//! Gopher (RFC 1436): a record for each request, with the size of its answer.
//!
//! ```text
//!  client's bytes ──► request line, capped ──┐
//!                                            ├──► one record, when the server has ended
//!  server's bytes ──► counted ───────────────┘
//! ```
//!
//! One [`Gopher`] per worker. Guarantees:
//!
//! - The record depends on the bytes of each direction, never on segmentation.
//! - A connection has one record at most: RFC 1436 §3.1 has one request for each.
//! - The request is charged to the memory of its shard until the answer is complete; no bytes cause
//!   a panic.
//!
//! Deliberately does not read the answer: nothing in it says whether it is a menu or a file.
//! Identification (`pipeline/70-identify`) has the rules.

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
mod parser;
mod request;
mod schema;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use fuzz::fuzz_gopher;
pub use parser::Gopher;
pub use schema::GOPHER;
