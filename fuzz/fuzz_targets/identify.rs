//! libFuzzer target: any turns, searched whole and in pieces.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_identify::fuzz_identify(data));
