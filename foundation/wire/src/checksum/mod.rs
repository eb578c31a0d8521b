//! Checksums: the Internet's one's-complement sum and SCTP's CRC32c, and what they say.
//!
//! ```text
//!  PseudoHeader ─┐
//!  captured     ─┼─► verify_transport ─► Good │ Bad │ Offloaded │ NotChecked
//!  wire length  ─┘
//! ```
//!
//! A packet captured on its way out often holds the partial sum that the adapter is to complete:
//! that is [`ChecksumVerdict::Offloaded`], said of the capture and not of the packet.

mod crc32c;
mod pseudo;
mod sum;
#[cfg(test)]
mod tests;
mod verify;

pub use crc32c::crc32c;
pub use pseudo::PseudoHeader;
pub use sum::Sum;
pub use verify::{ChecksumVerdict, verify_ipv4_header, verify_transport};
