//! libFuzzer target: any expressions in one set, and any bytes to search.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_pattern::fuzz_pattern_set(data));
