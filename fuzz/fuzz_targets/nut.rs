//! libFuzzer target: any commands and answers of NUT, cut anywhere.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_nut::fuzz_nut(data));
