//! libFuzzer target: any packets, through the connection table.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_flow::fuzz_flow(data));
