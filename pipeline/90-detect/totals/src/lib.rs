//! Totals of a run, for its summary.
//!
//! ```text
//!  connection records ─┬─► connections   by protocol, state, port; quality   ┐ summed up
//!  (one a worker)      ├─► talkers       by address          ┐ bounded, see  ├ in the output
//!                      └─► host pairs    by client, server   ┘ [`Tally`]     ┘ stage
//! ```
//!
//! Each is a sum or a maximum over the set of finished connections, so that it depends neither on
//! their order nor on how they are divided among workers. Interim records are not counted.
//!
//! A new table of addresses: a file beside `talkers.rs`, a line in `engine/src/aggregates.rs`, and
//! where the summary shows it.

mod connections;
mod hash;
mod host_pairs;
mod ports;
mod tables;
mod talkers;
mod tally;

pub use connections::{ConnectionSums, Connections};
pub use hash::FoldHash;
pub use host_pairs::HostPairs;
pub use talkers::Talkers;
pub use tally::{HostPair, Key, Ranked, Ranking, Tally};
