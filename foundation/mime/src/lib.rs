//! MIME (RFC 2045, RFC 2046, RFC 2231, RFC 7578): what a message is made of, for every parser whose
//! protocol carries such messages.
//!
//! ```text
//!  bytes of a body ──► Multipart ──► head of a part ──► field ──► parameter: a file's name
//!                              └──► bytes of its content, its end
//! ```
//!
//! Owns the state of one body between two segments, and the head that is being read, which is
//! bounded. Guarantees: what is told depends on the bytes, never on how they were cut; no input
//! panics, and the work for a byte is bounded. Deliberately decodes no content and keeps none.

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
mod multipart;
mod parameter;

pub use field::{field, unfolded};
pub use multipart::{BOUNDARY_MAX, HEAD_MAX, Multipart, Parts};
pub use parameter::{Parameter, parameter};
