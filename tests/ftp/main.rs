//! FTP: records against other tools' expectations, and against what clients noted.
//!
//! | module | holds |
//! | --- | --- |
//! | `clients` | data connections to what the clients' own sockets said |
//! | `names` | what names a data connection, and what does not: made-up conversations |
//! | `suricata` | events to the `test.yaml` beside Suricata's captures |
//! | `tshark` | events to Wireshark's dissector, line by line |
//! | `zeek` | lines to the `ftp.log` and `conn.log` that Zeek's own test suite expects |
//!
//! What differs has a row in `tests/explained/ftp.tsv`. Captures are looked for in the shared
//! corpus.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clients;
mod events;
#[path = "../corpus/expectations.rs"]
mod expectations;
#[path = "../corpus/explained.rs"]
mod explained;
mod names;
mod suricata;
mod tshark;
#[path = "../dns/written.rs"]
mod written;
mod zeek;
