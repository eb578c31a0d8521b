//! libFuzzer target: any expression, compiled or refused, and any bytes to search.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_pattern::fuzz_pattern(data));
