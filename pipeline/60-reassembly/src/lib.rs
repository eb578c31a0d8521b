//! TCP segments to bytes in order, as the receiving system would read them.
//!
//! ```text
//!  segment ──in order──► next, acked, window ─────────────────────► StreamConsumer::data
//!     │                                                        ▲        (a slice of the packet)
//!     └─anything else──► handshake, reset, close ──► held ─────┘
//!                                                    pieces behind a hole, in pooled blocks
//! ```
//!
//! One [`Reassembler`] a worker, which holds whole shards. It keeps 64 bytes a connection, in
//! step with the connection table's handles, and more only where a stream has a hole.
//! Guarantees:
//!
//! - What a consumer is told depends on the packets of the connection's shard only: not on
//!   batches, ticks or the number of workers.
//! - A hole never stalls a stream for good: it is told as a gap as soon as the receiver has
//!   acknowledged what lies behind it, when a cap is reached, or when the connection ends.
//! - A shard never holds more than its part of the memory, a stream no more than its cap. A
//!   segment costs O(log n) of the n pieces its stream holds, for each piece that it touches.
//! - Every payload byte is delivered, held, or counted under one name ([`ReassemblyStats`]).
//! - Nothing is allocated after [`Reassembler::new`], and no packet makes it panic.
//!
//! Deliberately does not: decide which packets are a connection or which side is the client (the
//! connection table does), or understand bytes. Keeps delivered ones only if asked to
//! ([`ReassemblyOptions::compared_bytes`]): without, a retransmission that differs from them is
//! not noticed; one that differs from bytes still held always is.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)
)]

mod connection;
mod consumer;
mod delivered;
mod fuzz;
mod held;
mod options;
mod policy;
mod reassembler;
mod stats;

pub use consumer::{Anomaly, Closed, Handshake, Span, StreamConsumer};
#[doc(hidden)]
pub use fuzz::fuzz_reassembly;
pub use options::{ReassemblyOptions, Urgent};
pub use policy::{Extent, Reception, new_wins, takes_reset};
pub use reassembler::Reassembler;
pub use stats::ReassemblyStats;
