//! Extracts the payload of WebSocket frames (RFC 6455 §5).
//!
//! ```text
//!  bytes of one direction ──► frames ──► payload of data frames, unmasked, in order
//!                               │
//!                               └─ control frames, skipped
//! ```
//!
//! One [`Carried`] per worker, which reads from the first byte after the handshake. Guarantees:
//! the payload does not depend on how the bytes were segmented; a connection takes one slot of its
//! shard's memory, and what the parser of its payload takes; nothing is allocated. After a framing
//! error, or where an extension has changed the payload, the connection is released.
//!
//! Deliberately does not:
//!
//! - decompress messages (RFC 7692). The only protocol looked for is TLS, which tunnels do not
//!   compress, and each side of each connection would need a window.
//! - keep message boundaries. A stream tunnelled through a WebSocket does not depend on them.

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

mod carried;
mod frames;
mod fuzz;
#[cfg(test)]
mod tests;

pub use carried::Carried;
#[doc(hidden)]
pub use fuzz::fuzz_websocket;
