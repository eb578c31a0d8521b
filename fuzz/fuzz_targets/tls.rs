//! libFuzzer target: any turns as TLS, whole and byte by byte, as DTLS and as QUIC.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| flowpin_tls::fuzz_tls(data));
