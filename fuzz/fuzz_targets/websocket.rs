//! libFuzzer target: any frames of a WebSocket, cut anywhere.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_websocket::fuzz_websocket(data));
