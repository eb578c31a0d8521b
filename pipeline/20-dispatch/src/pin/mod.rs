//! The connection of a packet, and the shard and place that follow from it.
//!
//! ```text
//!  addresses, ports, protocol ──► key: the same for both directions ──► hash: shard │ place
//! ```

pub(crate) mod hash;
pub(crate) mod key;
