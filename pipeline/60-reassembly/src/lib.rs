//! Turns TCP segments into bytes in order, as the receiving system would read them.
//!
//! ```text
//!  segment ──fast path───► next, acked, window ────────────────────► StreamConsumer::data
//!     │                                                        ▲        (a slice of the packet)
//!     └─slow path────────► handshake, reset, close ──► held ───┘
//!                                                    pieces after a hole, in pooled blocks
//! ```
//!
//! One [`Reassembler`] per worker, which owns whole shards. It keeps 64 bytes per connection,
//! indexed by the connection table's handles, and more only for streams with a hole. Guarantees:
//!
//! - What a consumer receives depends on the packets of the connection's shard only: not on
//!   batches, ticks or the number of workers.
//! - A hole never stalls a stream for good: it is reported as a gap as soon as the receiver has
//!   acknowledged bytes after it, when a cap is reached, or when the connection ends.
//! - A shard never holds more than its part of the memory, a stream no more than its cap. A segment
//!   costs O(log n) of the n pieces that its stream holds, for each piece that it touches.
//! - Every payload byte is delivered, held, or counted under one name ([`ReassemblyStats`]).
//! - Nothing is allocated after [`Reassembler::new`], and no packet causes a panic.
//!
//! Deliberately does not decide which packets form a connection or which side is the client (the
//! connection table does), and does not interpret bytes. Stores delivered bytes only if configured
//! ([`ReassemblyOptions::compared_bytes`]): without them, a retransmission that differs from
//! delivered bytes is not detected; one that differs from held bytes always is.

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
pub use reassembler::{CONNECTION_BYTES, Reassembler, StreamView};
pub use stats::ReassemblyStats;
