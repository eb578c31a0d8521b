//! Which bytes count where fragments overlap.
//!
//! ```text
//!  units of 8 bytes   0  1  2  3  4  5
//!  old, came first    ·  O  O  O  O  ·        for each unit that both hold:
//!  new, came later    N  N  ·  ·  ·  ·        does new win, given where both start and end?
//! ```
//!
//! The rules of each system are those that Novak observed ("Target-Based Fragmentation
//! Reassembly", 2005; the method is Shankar and Paxson's, "Active Mapping", 2003). What 4.4BSD and
//! Linux 2.x do is also known from their published sources: a fragment is trimmed by what wins over
//! it, and starts from then on where its rest starts. That decides where three overlap.

use flowpin_config::FragmentOverlap;

/// The part of a datagram that one fragment brought: units of 8 bytes, `end` exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u16,
    pub(crate) end: u16,
}

/// Whether a unit of `old` is overwritten by `new`, which came later.
#[inline]
pub(crate) const fn new_wins(policy: FragmentOverlap, old: Range, new: Range) -> bool {
    match policy {
        FragmentOverlap::First | FragmentOverlap::Refuse => false,
        FragmentOverlap::Last => true,
        FragmentOverlap::Bsd => old.start > new.start,
        FragmentOverlap::BsdRight => old.start <= new.start,
        FragmentOverlap::Linux => old.start >= new.start,
        FragmentOverlap::Windows => new.start < old.start && new.end > old.end,
        FragmentOverlap::Solaris => new.start < old.start && new.end >= old.end,
    }
}

/// Whether a fragment's start moves to where its rest starts.
pub(crate) const fn trims(policy: FragmentOverlap) -> bool {
    matches!(policy, FragmentOverlap::Bsd | FragmentOverlap::Linux)
}

/// Whether overlaps end the datagram.
pub(crate) const fn refuses(policy: FragmentOverlap) -> bool {
    matches!(policy, FragmentOverlap::Refuse)
}
