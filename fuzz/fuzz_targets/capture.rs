//! libFuzzer target: any bytes as a capture file.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_capture::fuzz_capture(data));
