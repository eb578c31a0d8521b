//! libFuzzer target: any frame, through dispatch.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_dispatch::fuzz_dispatch(data));
