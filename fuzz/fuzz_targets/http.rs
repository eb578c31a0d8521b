//! libFuzzer target: any turns, gaps and ends, read whole and in pieces.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_http::fuzz_http(data));
