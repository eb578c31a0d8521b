//! Frames: Ethernet, tags, tunnels, IP, TCP and UDP, lengths and checksums right.

mod checksum;
mod ends;
mod frame;
mod tunnel;

pub(crate) use ends::{Ends, flooded, scanned, scanner};
pub(crate) use frame::{Framing, Segment, flags};
