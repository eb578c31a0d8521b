//! FIX 4.0 to 5.0 SP2 and FIXT 1.1: streams to messages, with their fields, sessions and orders.
//!
//! ```text
//!  bytes ──► frame ──► split ──► session ──► orders ──► record ──► MessageSink
//!   any      8=, 9=    every     sequence    latency    common columns;
//!   cut      10=       field     numbers     by 11=     all fields on request
//! ```
//!
//! One [`Fix`] a worker; one handle a connection. Guarantees:
//!
//! - What is told depends on the bytes of each direction, and on the order in which directions
//!   took turns: never on how they were cut into segments.
//! - BodyLength and CheckSum are verified for every message. One that lies about its length ends at
//!   its trailer; behind bytes that are no message, the next `8=FIX` is looked for.
//! - Passwords and what is sent to prove an identity ([`is_secret`]) are in no output.
//! - Nothing is allocated after [`Fix::new`]; a shard holds no more than its part; no bytes make
//!   it panic.
//!
//! Deliberately does not: answer, validate messages against a dictionary, or keep a session's state
//! beyond its connection.

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
mod interface;
mod message;
mod options;
mod parser;
mod reading;
mod record;
mod session;
#[cfg(test)]
mod tests;

pub use dictionary::{BadDictionary, Dictionary, FieldInfo};
#[doc(hidden)]
pub use fuzz::fuzz_fix;
pub use message::fields::{Field, Fields, Flaws};
pub use message::frame::{Frame, Window, checksum, frame};
pub use message::groups::{Place, Places};
pub use message::printed::{from_printed, to_printed};
pub use message::slots::Slot;
pub use options::FixOptions;
pub use parser::{Fix, Handle};
pub use record::columns::FIX;
pub use record::secrets::is_secret;
pub use session::sequence::{Event, Sequence};
