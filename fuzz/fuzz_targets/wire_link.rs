//! libFuzzer target: any bytes as layer 2.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_wire::fuzz::fuzz_link(data));
