//! Wire formats of layers 2 to 4: zero-copy views, every length checked.
//!
//! ```text
//!  medium::LinkFrame ─next()─► link::EthernetFrame ─next()─► link::VlanTag ─next()─►
//!      ip::Ipv4Packet ─protocol()─► transport::UdpDatagram ─port─► tunnel::VxlanHeader ─next()─► …
//! ```
//!
//! Owns what a header looks like, and nothing else: which view comes next is the caller's
//! decision (the peel loop of dispatch), told by [`Next`] and [`ip_protocol`].
//!
//! A view exists only if all its lengths hold, so its accessors cannot fail. Views of protocols
//! that carry a length take two sizes: the bytes that were *captured*, and how many bytes there
//! were on the wire. A packet that the capture cut short is not malformed: `payload()` is what
//! was captured of it, `payload_len()` what its header claims.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)
)]

mod bytes;
pub mod checksum;
mod cursor;
#[doc(hidden)]
pub mod fuzz;
pub mod ip;
pub mod ip_protocol;
pub mod link;
pub mod medium;
mod next;
pub mod transport;
pub mod tunnel;

pub use cursor::Cursor;
pub use flowpin_packet::{Layer, Malformed, Reason};
pub use next::{Next, ether_type};
