//! libFuzzer target: any bytes through a scanner, cut anywhere.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_grammar::fuzz_scan(data));
