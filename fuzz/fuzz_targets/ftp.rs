//! libFuzzer target: any turns of a control connection, whole and in pieces.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_ftp::fuzz_ftp(data));
