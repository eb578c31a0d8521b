//! A mark that distinguishes connections with the same key that began at the same time.
//!
//! ```text
//!   31                                    1     0
//!  │ mark: of the first packet, or counted │ follows │
//! ```
//!
//! The mark is made from the first packet's IP identification, transport checksum, length and TCP
//! sequence number. `follows` says that the previous connection of the same key began at the same
//! time; identifiers do not depend on it. See `docs/decisions/0021-uid.md`.

use flowpin_packet::PacketMeta;

/// A mark and its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Birth(pub(crate) u32);

impl Birth {
    const FOLLOWS: u32 = 1;
    /// The unit of the mark.
    const STEP: u32 = 2;

    /// From the first packet alone, as for nearly all connections.
    #[inline]
    pub(crate) const fn of(meta: &PacketMeta) -> Self {
        // The fingerprint contains the identification, the checksum and the length.
        Self::marked((meta.seq.0 as u64) << 32 | meta.fingerprint as u64)
    }

    /// For a packet whose time is also the start of the previous connection of the same key.
    ///
    /// The second connection keeps its own mark if that differs; from then on they are counted,
    /// since the marks before the last one are forgotten.
    pub(crate) const fn after(self, before: Self) -> Self {
        if before.0 & Self::FOLLOWS == 0 && before.mark() != self.mark() {
            return Self(self.0 | Self::FOLLOWS);
        }
        Self(before.0.wrapping_add(Self::STEP) | Self::FOLLOWS)
    }

    /// For a packet so late that an equal connection may have been forgotten: its number is unique.
    pub(crate) const fn numbered(self, number: u64) -> Self {
        Self::marked((self.mark() as u64).rotate_left(40) ^ number)
    }

    /// The part that identifiers depend on.
    #[inline]
    pub(crate) const fn mark(self) -> u32 {
        self.0 >> 1
    }

    /// The upper bits of a product depend on all bits of the factor.
    #[inline]
    const fn marked(word: u64) -> Self {
        let mixed = (word ^ word >> 29).wrapping_mul(SPREAD);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(SPREAD);
        Self((mixed >> 32) as u32 & !Self::FOLLOWS)
    }
}

/// An arbitrary odd word (digits of pi).
const SPREAD: u64 = 0x243f_6a88_85a3_08d3;

#[cfg(test)]
mod tests {
    use super::Birth;
    use flowpin_packet::{PacketMeta, Seq};
    use std::collections::HashSet;

    fn of(seq: u32, fingerprint: u32) -> Birth {
        Birth::of(&PacketMeta {
            seq: Seq(seq),
            fingerprint,
            ..PacketMeta::default()
        })
    }

    /// Packets that differ slightly have different marks, even if only their numbers differ.
    #[test]
    fn neighbours_have_different_marks() {
        let mut marks = HashSet::new();
        for seq in 0..64 {
            for fingerprint in 0..64 {
                assert!(marks.insert(of(seq, fingerprint).mark()));
                assert!(marks.insert(of(seq << 26, fingerprint << 26 | 0x1_0000).mark()));
            }
        }
        for number in 0..4096 {
            assert!(marks.insert(of(1, 1).numbered(number).mark()));
        }
    }

    /// However often a key begins again at the same time, with the same packets or others: each
    /// connection has its own mark, and the second one is identified by its own packet.
    #[test]
    fn those_that_follow_are_told_apart() {
        let orders: [&[u32]; 4] = [
            &[1, 1, 1, 1],
            &[1, 2, 1, 2, 1],
            &[1, 1, 2, 1],
            &[1, 2, 3, 1],
        ];
        for order in orders {
            let mut marks = HashSet::new();
            let mut before: Option<Birth> = None;
            for &seq in order {
                let own = of(seq, 7);
                let birth = before.map_or(own, |before| own.after(before));
                assert!(marks.insert(birth.mark()), "{order:?}");
                before = Some(birth);
            }
            assert!(marks.contains(&of(order[1], 7).mark()), "{order:?}");
        }
    }
}
