//! libFuzzer target: any segments of a few connections.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_reassembly::fuzz_reassembly(data));
