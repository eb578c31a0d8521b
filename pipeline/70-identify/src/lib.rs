//! Which protocol a connection speaks, from its first bytes, whatever its ports.
//!
//! ```text
//!                  ┌ patterns, one automaton ┐
//!  first bytes ──► ┤                         ├─► Yes ─► Verdict ─► bytes before it are replayed
//!  or datagram     └ leads ─► few checks     ┘    └ more bytes? ─► kept, until a limit
//! ```
//!
//! Owns the protocol table (`protocols`), what is remembered of undecided connections, and what is
//! learnt from TLS and QUIC on the way. Guarantees: a verdict depends on the bytes of each
//! direction and on whose turn it was, not on segments, workers or time; searches and bytes are
//! capped in each shard; nothing is allocated per packet; no bytes make it panic.
//!
//! Deliberately does not: reassemble, track connections, parse messages. A port is evidence beside
//! a structure, or a hint; never a verdict.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)
)]

mod candidates;
mod directed;
mod earlier;
#[cfg(test)]
mod examples;
mod fuzz;
mod identifier;
mod kept;
mod names;
#[cfg(test)]
mod noise;
pub mod protocols;
mod search;
mod successor;
mod table;
#[cfg(test)]
mod testing;
mod verdict;

pub use directed::Expression;
pub use earlier::Datagram;
pub use flowpin_signature::{
    Answer, Check, Cursor, Group, HEAD_LEN, How, Lead, Look, On, Protocol, Rule,
};
#[doc(hidden)]
pub use fuzz::fuzz_identify;
pub use identifier::{BadRule, Identifier};
pub use kept::STREAM_BYTES_MAX;
pub use names::Names;
pub use search::{Again, Search, SearchOptions, Searches, Whose};
pub use successor::may_follow_stun;
pub use table::{LOADED_FIRST, ProtocolId, RuleId};
pub use verdict::{Confidence, GaveUp, Step, Verdict};

/// Datagrams of a connection that are looked at: a search ends there.
pub const DATAGRAMS_MAX: u8 = 12;
