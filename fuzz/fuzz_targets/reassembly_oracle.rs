//! libFuzzer target: any segments of a stream, judged by the oracle.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_fuzz::fuzz_reassembly_oracle(data));
