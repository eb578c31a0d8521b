//! libFuzzer target: any turns, whole and in pieces; any text as a dictionary.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_fix::fuzz_fix(data));
