//! libFuzzer target: any text as signature rules.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_rules::fuzz_rules(data));
