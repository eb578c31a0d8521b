//! What was odd about a fragment that was accepted.

use flowpin_packet::Reason;

/// What was odd about a fragment: a set, as a fragment may be odd in several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities(u8);

impl Oddities {
    /// It overlaps others, with the same bytes.
    pub const OVERLAP: Self = Self(1);
    /// It overlaps others, with other bytes.
    pub const OVERLAP_DIFFERS: Self = Self(1 << 1);
    /// It repeats an earlier one.
    pub const DUPLICATE: Self = Self(1 << 2);
    /// A TCP header is cut before its flags (RFC 1858 §3.1, RFC 3128).
    pub const TINY: Self = Self(1 << 3);
    /// The first fragment lacks headers (RFC 7112).
    pub const HEADER_CHAIN_CUT: Self = Self(1 << 4);
    /// A datagram's first fragment to come lies in a tunnel.
    pub const TUNNELLED: Self = Self(1 << 5);
    /// The fragment is the whole datagram (RFC 6946).
    pub const ATOMIC: Self = Self(1 << 6);
    /// It is not the last and its length is no multiple of 8; the rest was left out.
    pub const MISALIGNED: Self = Self(1 << 7);

    /// Whether there are none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are here.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets'.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The reasons to be told.
    pub fn reasons(self) -> impl Iterator<Item = Reason> {
        const ALL: [(Oddities, Reason); 8] = [
            (Oddities::OVERLAP, Reason::Overlap),
            (Oddities::OVERLAP_DIFFERS, Reason::OverlapDiffers),
            (Oddities::DUPLICATE, Reason::Duplicate),
            (Oddities::TINY, Reason::Tiny),
            (Oddities::HEADER_CHAIN_CUT, Reason::HeaderChainCut),
            (Oddities::TUNNELLED, Reason::Tunnelled),
            (Oddities::ATOMIC, Reason::Atomic),
            (Oddities::MISALIGNED, Reason::IllegalValue),
        ];
        ALL.into_iter()
            .filter(move |&(oddity, _)| self.has(oddity))
            .map(|(_, reason)| reason)
    }
}
