//! libFuzzer target: any bytes as each transport.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_wire::fuzz::fuzz_transport(data));
