//! Which connection a packet is of, and to which shard and place that pins it.
//!
//! ```text
//!  addresses, ports, protocol ──► key: the same for both directions ──► hash: shard │ place
//! ```

pub(crate) mod hash;
pub(crate) mod key;
