//! DNS: records against other tools' expectations.
//!
//! | module | holds |
//! | --- | --- |
//! | `formats` | the same messages in every format: their counts and numbers |
//! | `suricata` | events to the `test.yaml` beside Suricata's captures |
//! | `tshark` | events to Wireshark's dissector, message by message |
//! | `zeek` | lines to the `dns.log` that Zeek's own test suite expects |
//!
//! What differs has a row in `tests/explained/dns.tsv`. Captures are looked for in the shared
//! corpus.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod events;
#[path = "../corpus/expectations.rs"]
mod expectations;
#[path = "../corpus/explained.rs"]
mod explained;
mod formats;
mod suricata;
mod tshark;
mod written;
mod zeek;
