//! libFuzzer target: any fragments.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_defrag::fuzz_defrag(data));
