//! HTTP/1.x streams to requests, responses and bodies.
//!
//! ```text
//!  bytes of one direction, cut anywhere
//!     │
//!     ├─ scan ──── lines of a head: ends, colons, controls, one mask for 64 bytes
//!     ├─ syntax ── request and status lines, lengths, codings, chunk lines: pure functions
//!     ├─ parser ── where a message is and ends; pairs, hands over, finds the way back
//!     ├─ state ─── what is remembered between segments, in pools
//!     └─ body ──── decoding, hashes, files: of bodies that somebody asked for
//! ```
//!
//! One [`Http`] a worker. Guarantees:
//!
//! - Records and anomalies depend on the bytes of each direction and on whose turn it was, never
//!   on how the bytes were cut.
//! - A byte of a head is looked at once, copied only where a line was cut; a byte of a body that
//!   nobody asked for is not looked at.
//! - Memory is capped in each shard, every cap has a named loss; nothing is allocated in steady
//!   state; no bytes make it panic, and each costs bounded time.
//! - A response without its request, and a request without its response, have records too: most
//!   captures hold one direction of many connections.
//! - Two receivers may read one message differently; where they do, an [`Anomaly`] says so, and
//!   the reading is that of RFC 9112.
//!
//! Deliberately does not: normalise. Targets, hosts and values are kept as they were sent.

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
mod interface;
mod options;
mod parser;
mod scan;
mod schema;
mod state;
mod stats;
mod syntax;
#[cfg(test)]
mod tests;

pub use anomaly::Anomaly;
#[doc(hidden)]
pub use fuzz::fuzz_http;
pub use options::{BodyOptions, HttpOptions};
pub use parser::{Handle, Http};
#[doc(hidden)]
pub use scan::{head_fields, head_lines};
pub use schema::{FILES, http as schema};
pub use stats::HttpStats;
