//! MIME (RFC 2045, RFC 2046, RFC 2231, RFC 7578): what a message is made of, for every parser whose
//! protocol carries such messages.
//!
//! ```text
//!  bytes of a body ──► Multipart ──► head of a part ──► field ──► parameter: a file's name
//!                              └──► bytes of its content, its end
//!  bytes of a mail ──► Mail ──► its parts, however nested, decoded
//! ```
//!
//! Owns the state of one body or mail between two segments, and the head that is being read, which
//! is bounded. Guarantees: what is told depends on the bytes, never on how they were cut; no input
//! panics, and the work for a byte is bounded. Deliberately keeps no content.

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

mod field;
mod mail;
mod multipart;
mod parameter;

pub use field::{field, unfolded};
pub use mail::{Mail, MailFlaw, MailParts, NESTED_MAX};
pub use multipart::{BOUNDARY_MAX, HEAD_MAX, Multipart, Parts};
pub use parameter::{Parameter, parameter};
