//! Peels tunnels, pins each packet to its shard, keeps stream time.
//!
//! ```text
//!                ┌── fast path: ordinary TCP and UDP ──┐
//!  Frame ──► dispatch                                  ├──► PacketMeta: key, shard, lengths
//!                └── slow path: the peel loop ─────────┤
//!                        ▲                             └──► FragmentRef ─► defragmentation ─┐
//!                        └── dispatch_datagram ◄────────────────────────────── Datagram ────┘
//! ```
//!
//! Owns the in-order step's knowledge of packets: which bytes are the innermost IP packet, its
//! canonical key ([`flowpin_packet::FlowKey`]), its shard, stream time ([`Clock`]), and what the
//! capture itself is worth ([`Quality`]).
//!
//! Guarantees: both directions of a connection, and ICMP errors about it, have one key and one
//! shard, under any tunnel; the shard depends on `id_seed` and the packet only. No input makes it
//! panic, allocate, or loop for longer than the frame is long.
//!
//! Deliberately does not: keep state per connection, reassemble (`flowpin-defrag` does; the engine
//! joins them), or look at payload.

#![deny(clippy::indexing_slicing)]

mod clock;
mod dispatcher;
mod encapsulation;
mod fast_path;
mod fuzz;
mod headers;
mod peel;
mod pin;
mod quality;
mod slow_path;
#[cfg(test)]
mod tests;
mod transport;

pub use clock::{Clock, ClockStats, ClockWords, TimesSeen};
pub use dispatcher::{DispatchOptions, Dispatched, Dispatcher, slow_reason};
pub use encapsulation::{NO_VLAN, is_tunnel_port, tunnel_uid, tunnels, vlans};
pub use fast_path::SlowReason;
pub use flowpin_wire::checksum::ChecksumVerdict;
#[doc(hidden)]
pub use fuzz::fuzz_dispatch;
pub use headers::{Header, Headers, Seen, headers};
pub use peel::TunnelLayer;
pub use quality::{NonIpCounts, Quality};
pub use transport::checksum::verify;
pub use transport::decode;
