//! TLS, DTLS and QUIC: records against other tools' expectations.
//!
//! | module | holds |
//! | --- | --- |
//! | `suricata` | events to the `test.yaml` beside Suricata's captures |
//! | `zeek` | lines to the `ssl`, `x509` and `quic.log` that Zeek's own test suite expects |
//!
//! What differs has a row in `tests/explained/tls.tsv`. Hellos are held to Wireshark's view in
//! `tests/corpus`. Captures are looked for in the shared corpus.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../corpus/expectations.rs"]
mod expectations;
#[path = "../corpus/explained.rs"]
mod explained;
mod suricata;
#[path = "../dns/written.rs"]
mod written;
mod zeek;
