//! libFuzzer target: any conversation in a built-in grammar, cut anywhere.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_text::fuzz_text(data));
