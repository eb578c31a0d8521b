//! FIX 4.0 to 5.0 SP2 and FIXT 1.1: turns streams into messages with fields, sessions and orders.
//!
//! ```text
//!  bytes ──► frame ──► split ──► session ──► orders ──► record ──► MessageSink
//!   any      8=, 9=    every     sequence    latency    common columns;
//!   cut      10=       field     numbers     by 11=     all fields on request
//! ```
//!
//! Each worker has one [`Fix`], each connection one handle. Guarantees:
//!
//! - Reports depend on the bytes of each direction and on the order in which the directions take
//!   turns, never on how the bytes were cut into segments.
//! - BodyLength and CheckSum are verified for every message. A message with a wrong length ends at
//!   its trailer; after bytes that are not a message, the parser searches for the next `8=FIX`.
//! - Passwords and data that proves an identity ([`is_secret`]) never appear in the output.
//! - What it keeps is charged to the budget of its shard, every refusal has a named loss, and no
//!   input makes the parser panic.
//!
//! Deliberately does not: respond, validate messages against a dictionary, or keep session state
//! beyond the connection.

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

mod dictionary;
mod fuzz;
mod message;
mod options;
mod parser;
mod reading;
mod record;
mod session;
mod setup;
#[cfg(test)]
mod tests;

pub use dictionary::{BadDictionary, Dictionary, FieldInfo};
#[doc(hidden)]
pub use fuzz::fuzz_fix;
pub use message::fields::{Field, Fields, Flaws};
pub use message::frame::{Frame, Window, checksum, frame};
pub use message::groups::{GroupEntry, GroupTracker};
pub use message::printed::{from_printed, to_printed};
pub use message::slots::Slot;
pub use options::FixOptions;
pub use parser::Fix;
pub use record::columns::FIX;
pub use record::secrets::is_secret;
pub use session::sequence::{Event, Sequence};
