//! libFuzzer target: any conversations of SSH, cut anywhere.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_ssh::fuzz_ssh(data));
