//! libFuzzer target: any bytes as IP.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_wire::fuzz::fuzz_ip(data));
