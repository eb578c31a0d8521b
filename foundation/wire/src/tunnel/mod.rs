//! Tunnels: headers that carry packets or frames of their own.
//!
//! A tunnel on a well-known port may be something else, so these views are strict: versions,
//! reserved bits and the protocol inside must be as the standard says, or `parse` refuses.
//! Dispatch takes a refusal on a UDP port for "not this tunnel", not for a broken packet.

mod gre;
mod vxlan;

pub use gre::GreHeader;
pub use vxlan::{VxlanGpeHeader, VxlanHeader};
