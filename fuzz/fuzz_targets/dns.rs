//! libFuzzer target: any datagrams, and any streams whole and in pieces.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_dns::fuzz_dns(data));
