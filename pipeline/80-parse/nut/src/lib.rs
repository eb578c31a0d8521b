//! NUT (Network UPS Tools, RFC 9271): pairs commands to power supplies with their answers.
//!
//! ```text
//!  bytes ──► lines ──► commands wait ──┐
//!   any      capped                    ├──► one record for each command
//!   cut      answers, lists ───────────┘
//! ```
//!
//! One [`Nut`] per worker. Guarantees:
//!
//! - The records depend on the bytes of each direction and on the order of the directions' turns,
//!   never on segmentation.
//! - Passwords are in no output. Of unknown commands, only the first word is reported.
//! - After an accepted STARTTLS, the connection continues as TLS.
//! - What waits and what is incomplete is charged to the memory of its shard, and each connection
//!   has its maximum; no bytes cause a panic.
//!
//! Deliberately does not keep the variables of a list: the record has their number.

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
