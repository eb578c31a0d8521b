//! Totals of a run, for its summary.
//!
//! ```text
//!  connection records ─┬─► connections  by protocol, state, port; quality  ┐ added up in
//!  (one a worker)      ├─► hosts        by address, by client and server;  ├ the output stage
//!                      │                bounded, see [`Tally`]             │
//!                      ├─► vlans        by the outermost two tags; likewise┘
//!                      └─► host_pairs   records, if they are wanted: in the order of keys
//! ```
//!
//! Each but the last is a sum or a maximum over the set of finished connections, so that it depends
//! neither on their order nor on how they are divided among workers. Interim records are not
//! counted.
//!
//! A new table: a file beside `vlans.rs` (with few rows by nature, as in `connections.rs`, sums are
//! enough; otherwise a [`Tally`] and its [`Loss`](flowpin_counters::Loss)), a line in
//! `engine/src/aggregates/mod.rs`, and where the summary shows it. Rankings are by bytes: what
//! ranks by anything else sorts its own sums when they are taken.

mod connections;
mod hash;
mod host_pairs;
mod hosts;
mod ports;
mod tally;
mod vlans;

pub use connections::{ConnectionSums, Connections};
pub use hash::FoldHash;
pub use host_pairs::{HostPairs, PairDecider, PairNews, PairObserver};
pub use hosts::{HostDecider, HostSums, Hosts, TopHosts};
pub use tally::{HostPair, Key, Ranked, Ranking, Sums, Tally, Words};
pub use vlans::{TopVlans, VlanDecider, VlanSums, VlanTags, Vlans};
