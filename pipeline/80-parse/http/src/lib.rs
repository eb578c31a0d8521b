//! HTTP/1.x streams to requests, responses and bodies.
//!
//! ```text
//!  bytes of one direction, cut anywhere
//!     │
//!     ├─ scan ──── lines of a head: ends, colons, controls, one mask for 64 bytes
//!     ├─ syntax ── request and status lines, lengths, codings, chunk lines: pure functions
//!     ├─ parser ── the phase of each side; requests and responses paired; recovery after gaps
//!     ├─ body ──── bodies: skipped, or decoded, hashed and written to files
//!     ├─ state ─── the state between segments, in pools
//!     └─ schema ── records as structs with a field for each column
//! ```
//!
//! One [`Http`] a worker. Guarantees:
//!
//! - Records and anomalies depend on the bytes of each direction and on the order in which the
//!   sides took turns, never on segment boundaries.
//! - A byte of a head is read once, and copied only if its line was cut; a byte of an unwanted body
//!   is not read.
//! - What it keeps is charged to the budget of its shard, and every refusal has a named loss;
//!   nothing is allocated in steady state; no input causes a panic, and each byte costs bounded
//!   time.
//! - A response without its request, and a request without its response, have records too: most
//!   captures contain one direction of many connections.
//! - Where receivers may read a message differently, an [`Anomaly`] reports it, and the parser
//!   follows RFC 9112.
//!
//! It does not normalise: targets, hosts and values are kept as they were sent.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::unwrap_used
    )
)]

mod anomaly;
mod body;
mod fuzz;
mod handover;
mod options;
mod parser;
mod scan;
mod schema;
mod setup;
mod state;
mod syntax;
#[cfg(test)]
mod tests;

pub use anomaly::Anomaly;
pub use flowpin_parser::Parser;
#[doc(hidden)]
pub use fuzz::fuzz_http;
pub use options::{BodyOptions, HttpOptions};
pub use parser::Http;
#[doc(hidden)]
pub use scan::{head_fields, head_lines};
pub use schema::http as schema;
