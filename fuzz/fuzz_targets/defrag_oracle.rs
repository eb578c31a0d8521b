//! libFuzzer target: fragments of one datagram, against the slow oracle.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_fuzz::fuzz_defrag_oracle(data));
