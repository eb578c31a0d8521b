//! Writers for captures: what `flowpin slice` and the test kit produce.

mod pcap;
mod pcapng;

pub use pcap::{PcapWriter, Precision};
pub use pcapng::PcapngWriter;

/// The snap length that written captures announce: as much as readers take.
pub const SNAP_LEN: u32 = crate::format::CAPTURED_LEN_MAX;

use std::io;

/// What a packet's bytes and times must be to be written.
fn check(wire_len: u32, bytes: &[u8]) -> io::Result<u32> {
    let captured_len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    if captured_len > SNAP_LEN || captured_len > wire_len {
        let text =
            format!("a packet of {captured_len} captured bytes of {wire_len} cannot be written");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(captured_len)
}
