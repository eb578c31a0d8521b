//! IPv4 and IPv6 fragments to whole datagrams: one engine, in the in-order step.
//!
//! ```text
//!  dispatch ──FragmentRef──► insert ──► held
//!                              │   └──► lone: over a cap, goes on by its addresses
//!                              ▼
//!                           complete ──► assemble ──Datagram──► dispatch again
//! ```
//!
//! It stands in front of the hash, because only the first fragment has ports: without it the
//! fragments of one datagram would go to different workers.
//!
//! Owns the fragments that wait, in pooled blocks. Guarantees: memory, datagrams and fragments per
//! datagram never exceed their caps; each fragment takes time proportional to its length, however
//! many others wait; every fragment is absorbed, held, lone, refused or lost for a named reason
//! ([`DefragStats`]); results depend on the fragments and their stream time only, not on the
//! secret. Nothing is allocated once the pools have grown to what the input needs.
//!
//! When memory is full the oldest datagram goes. A flood of fragments that never complete so
//! pushes out itself, and a real datagram, whose fragments come close together, still completes.
//!
//! Deliberately does not: look into the payload, or decide what a fragment is (dispatch does;
//! it also passes "atomic" IPv6 fragments, RFC 6946, without coming here).

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)
)]

mod assemble;
mod check;
mod defragmenter;
mod fuzz;
mod oddities;
mod options;
mod room;
mod stats;
mod store;
#[cfg(test)]
mod tests;

pub use assemble::Ready;
pub use defragmenter::{Defragmenter, Inserted};
#[doc(hidden)]
pub use fuzz::fuzz_defrag;
pub use oddities::Oddities;
pub use options::DefragOptions;
pub use stats::DefragStats;
