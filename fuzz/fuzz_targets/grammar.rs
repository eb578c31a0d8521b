//! libFuzzer target: any text as a grammar.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_grammar::fuzz_grammar(data));
