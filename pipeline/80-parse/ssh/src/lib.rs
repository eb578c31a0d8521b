//! Secure Shell (RFC 4253): a record for each connection, with the version and software of both
//! sides and what they offer for the key exchange.
//!
//! ```text
//!  each side:  lines ──► SSH-2.0-software comments ──► first packet: KEXINIT ──┐
//!                                                                              ├──► one record
//!  the other side:  likewise ──────────────────────────────────────────────────┘
//! ```
//!
//! One [`Ssh`] per worker. Guarantees:
//!
//! - The record depends on the bytes of each direction, never on segmentation.
//! - A connection has one record at most, and is released with it: what follows is encrypted.
//! - What is held is charged to the memory of its shard; no bytes cause a panic.
//!
//! Deliberately does not read the key exchange itself, nor version 1 behind its first line.
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
mod offer;
mod parser;
mod report;
mod schema;
mod side;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use fuzz::fuzz_ssh;
pub use parser::Ssh;
pub use schema::SSH;
