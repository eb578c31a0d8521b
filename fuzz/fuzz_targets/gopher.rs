//! libFuzzer target: any requests and answers of Gopher, cut anywhere.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_gopher::fuzz_gopher(data));
