//! Streams: the bytes of every direction against other tools, and what others expect of captures
//! made to evade reassembly.
//!
//! | module | holds `flowpin streams` to |
//! | --- | --- |
//! | `tshark` | Wireshark's `follow`, byte for byte |
//! | `tcpflow` | tcpflow's files, byte for byte and by name |
//! | `libnids` | libnids 1.26: the same connections, the same bytes |
//! | `evasion` | what Suricata, Zeek and others expect, capture by capture |
//!
//! `FLOWPIN_TEST_LONG=1` takes every capture of the categories, otherwise a fixed sample.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod evasion;
#[path = "../corpus/explained.rs"]
mod explained;
mod libnids;
mod outcome;
mod tcpflow;
mod tshark;
