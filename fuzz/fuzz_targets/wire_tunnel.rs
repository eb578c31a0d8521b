//! libFuzzer target: any bytes as each tunnel.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_wire::fuzz::fuzz_tunnel(data));
