//! libFuzzer target: checksums against their definitions.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_wire::fuzz::fuzz_checksum(data));
