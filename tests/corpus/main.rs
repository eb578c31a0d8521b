//! Tests of the whole command: bundled captures always, the public corpus where it is there.
//!
//! | module | holds the command to |
//! | --- | --- |
//! | `captures` | what is known about our own recordings |
//! | `promise` | the same bytes for any pipeline, run and secret; every packet accounted for |
//! | `damage` | flipped bytes and cut files: no panic, bounded memory, a prefix |
//! | `eve_types` | the fields and types of Suricata's events |
//! | `suricata_verify` | all events that Suricata expects, by the judge beside the corpus |
//! | `tshark` | Wireshark's conversation statistics |
//! | `zeek` | Zeek's expected `conn.log` |
//! | `zeek_logs` | all logs that Zeek expects, by the judge beside the corpus |
//! | `fragments` | what others expect of captures with fragments |
//! | `hellos` | Wireshark's view of TLS and QUIC hellos, JA4 made from it |
//! | `community_id` | the reference implementation in Python |
//!
//! `FLOWPIN_TEST_LONG=1` runs everything on every capture; otherwise a fixed sample.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod captures;
mod community_id;
mod damage;
mod eve_types;
mod explained;
mod fragments;
mod hellos;
mod promise;
mod records;
mod suricata_verify;
mod tshark;
mod zeek;
mod zeek_logs;
