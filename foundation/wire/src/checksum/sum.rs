//! The one's-complement sum of 16-bit words (RFC 1071).
//!
//! Words are added in the machine's own byte order, many at a time: RFC 1071 §2 shows that the
//! order only turns the result's bytes, which [`Sum::fold`] turns back.

/// A sum not yet folded to 16 bits. Room for 2³² words and more.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// The sum of `bytes`, the last one padded with zero if they are odd in number.
    // PERF: eight lanes of 64 bits, which LLVM turns into vector additions.
    #[inline]
    pub fn of(bytes: &[u8]) -> Self {
        let mut lanes = [0u64; LANES];
        let (blocks, rest) = bytes.as_chunks::<{ LANES * 4 }>();
        for block in blocks {
            let (words, _) = block.as_chunks::<4>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = lane.wrapping_add(u64::from(u32::from_ne_bytes(*word)));
            }
        }
        let (words, rest) = rest.as_chunks::<4>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = lane.wrapping_add(u64::from(u32::from_ne_bytes(*word)));
        }
        let last = match *rest {
            [] => 0,
            [a] => u32::from_ne_bytes([a, 0, 0, 0]),
            [a, b] => u32::from_ne_bytes([a, b, 0, 0]),
            [a, b, c, ..] => u32::from_ne_bytes([a, b, c, 0]),
        };
        // A lane holds less than 2^32 × 2^32 / 8: their sum cannot wrap for any packet.
        let total = lanes
            .iter()
            .fold(u64::from(last), |sum, &lane| sum.wrapping_add(lane));
        Self(total)
    }

    /// The sum of a few whole words: of addresses and numbers.
    #[inline]
    pub(super) fn of_words<const N: usize>(bytes: &[u8; N]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        Self(
            words
                .iter()
                .map(|&word| u64::from(u32::from_ne_bytes(word)))
                .sum(),
        )
    }

    /// The sum of one 16-bit number.
    #[inline]
    pub const fn of_number(number: u16) -> Self {
        Self(number.to_be() as u64)
    }

    /// Both sums together; `other` must have started at an even offset.
    #[inline]
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Folded to 16 bits with the carries added: all ones if a correct checksum was among the
    /// words. 0 only if all words were 0.
    #[inline]
    pub const fn fold(self) -> u16 {
        let mut sum = self.0;
        // Each round adds the upper part to the lower one; three leave a carry at most.
        sum = (sum >> 32).wrapping_add(sum & 0xffff_ffff);
        sum = (sum >> 16).wrapping_add(sum & 0xffff);
        sum = (sum >> 16).wrapping_add(sum & 0xffff);
        sum = (sum >> 16).wrapping_add(sum & 0xffff);
        #[expect(clippy::cast_possible_truncation, reason = "folded below 2^16")]
        u16::from_be(sum as u16)
    }
}

const LANES: usize = 8;

#[cfg(test)]
mod tests {
    use super::Sum;
    use proptest::prelude::*;

    /// RFC 1071 §4.1's loop, word by word.
    fn slow(bytes: &[u8]) -> u16 {
        let mut sum = 0u64;
        for pair in bytes.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            sum += u64::from(u16::from_be_bytes([pair[0], low]));
        }
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        sum as u16
    }

    /// RFC 1071 §3's example.
    #[test]
    fn the_rfcs_example_holds() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::of(&bytes).fold(), 0xddf2);
    }

    /// Carries out of carries: nothing but ones, at all small lengths, and the largest packet.
    #[test]
    fn carries_are_never_lost() {
        for len in 0..200 {
            assert_eq!(
                Sum::of(&vec![0xff; len]).fold(),
                slow(&vec![0xff; len]),
                "{len}"
            );
        }
        assert_eq!(Sum::of(&[0xff; 1 << 17]).fold(), 0xffff);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The wide sum is the slow one, for any length and wherever it is cut evenly.
        #[test]
        fn the_wide_sum_is_the_slow_one(
            bytes in prop::collection::vec(prop_oneof![Just(0xff), Just(0), any::<u8>()], 0..400),
            cut in any::<prop::sample::Index>(),
        ) {
            prop_assert_eq!(Sum::of(&bytes).fold(), slow(&bytes));
            let (head, tail) = bytes.split_at((cut.index(bytes.len() + 1)) & !1);
            prop_assert_eq!(Sum::of(head).plus(Sum::of(tail)).fold(), slow(&bytes));
        }
    }
}
