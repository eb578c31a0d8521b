//! libFuzzer target: any events, through observers and merger of scan detection.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_portscan::fuzz_portscan(data));
