//! The connection table: direction, states, expiry, eviction.
//!
//! ```text
//!  PacketMeta ──hash──► index ──handle──► entry (128 bytes hot, 40 cold)
//!                                           │        ▲
//!        tick ──► timer wheel ──────────────┴────────┘ ──► ConnRecord ──► RecordSink
//! ```
//!
//! Each worker has one [`Table`], which owns whole shards. Most packets take the fast path
//! (`table/packet.rs`, `tcp/fast_path.rs`); a property test compares it with the slow path.
//! Guarantees:
//!
//! - Records depend only on the packets of a shard and on stream time: not on the number of tables,
//!   the dispatch secret, the batches, or the times of ticks.
//! - A connection ends exactly at its deadline, whether a packet or a tick detects that.
//! - A shard never uses more than its part of the memory. If it is full, its stalest 1/16 end
//!   early, and that is counted.
//! - Nothing is allocated after [`Table::new`], and no packet causes a panic.
//!
//! Deliberately does not store bytes or reassemble, knows no application protocol, and does not
//! know how packets were encapsulated: it asks its [`FlowObserver`].

mod counters;
mod entry;
mod fuzz;
mod index;
mod observe;
mod options;
mod record;
mod shards;
mod table;
mod tcp;
mod time;

pub use counters::{FlowCounters, Transport};
pub use flowpin_config::Timeouts;
#[doc(hidden)]
pub use fuzz::fuzz_flow;
pub use observe::{Event, FlowObserver, NO_VLAN, Peers, STEPS, Sighting};
pub use options::{BATCH_MAX, FlowOptions};
pub use shards::ShardSet;
pub use table::{Lifetime, Table};

/// What the observer takes at most of a shard when it reads again what it kept of a connection,
/// whichever packet causes that.
pub const REPLAYED_BYTES_MAX: u32 = 48 << 10;

/// Stream time between two slots of the timer wheel; watermarks are multiples of it (67 ms).
pub const GRANULE_NS: u64 = 1 << 26;
