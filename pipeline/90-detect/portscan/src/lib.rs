//! Scans and floods: observed by workers, decided where their observations meet.
//!
//! ```text
//!  connection table ─began, saw, packets─► Observer ─┐ a log for each interval of 1.07 s,
//!  (one a worker)                                    │ capped by shard
//!  tick ──────────────────────────────────► Summary ─┴─► Merger ─► scan and flood records
//!                                                        (one; all workers' logs, by number)
//! ```
//!
//! A horizontal scan spreads over all workers, so no worker can decide. Guarantees:
//!
//! - Records depend on the packets and on stream time only: not on the number of workers, nor on
//!   when ticks come (`docs/decisions/0008-scans-from-summaries.md`).
//! - Memory is bounded: by shard on a worker, by source and in total in the merger. What did not
//!   fit is counted under [`flowpin_counters::Loss`] names.
//! - Under a flood of sources that ask once, sources that ask more are still found, and their
//!   counts estimated.
//!
//! Deliberately sees connections, not packets: it is called when one begins, at its first answer,
//! and once in 256 packets.

mod aggregate;
mod caps;
mod event;
mod filter;
mod fuzz;
mod hash;
mod merger;
mod note;
mod observer;
mod options;
mod sketch;
mod summary;

pub use aggregate::{ScanDecider, ScanFindings, ScanNews, Scans};
pub use caps::ScanCaps;
pub use event::{Begin, Probe, Run, Steps};
#[doc(hidden)]
pub use fuzz::fuzz_portscan;
pub use merger::Merger;
pub use observer::Observer;
pub use options::ScanOptions;
pub use summary::Summary;

/// Observations are summed up over intervals of 2³⁰ ns (1.07 s) of stream time.
pub const INTERVAL_NS: u64 = 1 << INTERVAL_SHIFT;

pub(crate) const INTERVAL_SHIFT: u32 = 30;
