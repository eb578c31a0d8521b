//! What identifies a protocol by its first bytes, as data: its names and ports, patterns and
//! checks.
//!
//! Identification (`pipeline/70-identify`) searches with all of them at once. It has a table of
//! most protocols; a parser may bring the signature of its own protocol (`flowpin-parser`), so that
//! a new protocol touches its own crate alone.
//!
//! ```
//! use flowpin_signature::{Group, On, Protocol, Rule};
//!
//! static TIME_OF_DAY: Protocol = Protocol {
//!     name: "tod",
//!     groups: &[Group::Management],
//!     ports: &[4013],
//!     rules: &[Rule::pattern("tod-question", On::Tcp, r"WHAT TIME IS IT\?\r\n")],
//! };
//! assert_eq!(TIME_OF_DAY.rules.len(), 1);
//! ```

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod lead;
mod look;
mod protocol;

pub use flowpin_wire::Cursor;
pub use lead::Lead;
pub use look::{Answer, Check, Look};
pub use protocol::{Group, How, On, Protocol, Rule};

/// How much of earlier datagrams a [`Look`] has.
pub const HEAD_LEN: usize = 32;
