//! libFuzzer target: any frame, header by header.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_wire::fuzz::fuzz_stack(data));
