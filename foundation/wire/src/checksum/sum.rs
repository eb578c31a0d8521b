//! The one's-complement sum of 16-bit words (RFC 1071).
//!
//! Eight bytes are added at a time, as little-endian numbers with the carry added back: RFC 1071
//! §2 shows that neither changes more than the order of the result's bytes, which [`Sum::fold`]
//! turns back.

/// A sum not yet folded to 16 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// The sum of `bytes`, the last one padded with zero if they are odd in number.
    // PERF: branches on nothing but the number of blocks: the tail is read as the last 32 (or 8)
    // bytes with those masked out that were added before. 70 cycles instead of 94 for lengths as
    // they are mixed in traffic, against eight lanes of 64 bits and a tail case by case; a block
    // takes 2 cycles, so that wider vectors would save little (AMD EPYC, `examples/checksum_cost`).
    #[inline]
    pub fn of(bytes: &[u8]) -> Self {
        let Some(last) = bytes.last_chunk::<BLOCK>() else {
            return Self::of_few(bytes);
        };
        let (blocks, tail) = bytes.as_chunks::<BLOCK>();
        let mut sums = [0; 4];
        for block in blocks {
            add(&mut sums, words_of(block));
        }
        let masks = MASKS
            .get(tail.len()..)
            .and_then(|masks| masks.first_chunk());
        let [a, b, c, d] = words_of(last);
        let [e, f, g, h] = words_of(masks.unwrap_or(&[0; BLOCK]));
        let mut tail_sums = [0; 4];
        add(&mut tail_sums, [a & e, b & f, c & g, d & h]);
        // An odd tail starts at an odd place in the last block, where words are the wrong way
        // round: times 2^8 turns their bytes in a sum modulo 2^16 - 1.
        let turned = joined(tail_sums).folded_to_32() << ((bytes.len() & 1) << 3);
        joined(sums).plus(Self(turned))
    }

    /// The sum of less than a block.
    #[inline]
    fn of_few(bytes: &[u8]) -> Self {
        let (words, tail) = bytes.as_chunks::<8>();
        let whole = words.iter().fold(Self(0), |sum, word| {
            sum.plus(Self(u64::from_le_bytes(*word)))
        });
        let tail_bits = u32::try_from(tail.len() << 3).unwrap_or(0);
        let fresh = match bytes.last_chunk() {
            // The last eight bytes without those that were added before.
            Some(last) => {
                let shift = 64u32.wrapping_sub(tail_bits);
                u64::from_le_bytes(*last).checked_shr(shift).unwrap_or(0)
            }
            None => (tail.iter().rev()).fold(0, |word, &byte| (word << 8) | u64::from(byte)),
        };
        whole.plus(Self(fresh))
    }

    /// The sum of a few whole words: of addresses and numbers.
    #[inline]
    pub(super) fn of_words<const N: usize>(bytes: &[u8; N]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        Self(
            words
                .iter()
                .map(|&word| u64::from(u32::from_le_bytes(word)))
                .sum(),
        )
    }

    /// The sum of one 16-bit number.
    #[inline]
    pub const fn of_number(number: u16) -> Self {
        Self(number.swap_bytes() as u64)
    }

    /// Both sums together; `other` must have started at an even offset.
    #[inline]
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(other.0);
        Self(sum.wrapping_add(carry as u64))
    }

    /// Folded to 16 bits with the carries added: all ones if a correct checksum was among the
    /// words. 0 only if all words were 0.
    #[inline]
    pub const fn fold(self) -> u16 {
        let mut sum = self.folded_to_32();
        // Below 2^33; each round adds the upper part to the lower one.
        sum = (sum >> 16).wrapping_add(sum & 0xffff);
        sum = (sum >> 16).wrapping_add(sum & 0xffff);
        sum = (sum >> 16).wrapping_add(sum & 0xffff);
        #[expect(clippy::cast_possible_truncation, reason = "folded below 2^16")]
        (sum as u16).swap_bytes()
    }

    /// Upper and lower half together: below 2^33.
    #[inline]
    const fn folded_to_32(self) -> u64 {
        (self.0 >> 32).wrapping_add(self.0 & 0xffff_ffff)
    }
}

/// Adds to four sums that do not wait for each other.
#[inline]
fn add(sums: &mut [u64; 4], words: [u64; 4]) {
    for (sum, word) in sums.iter_mut().zip(words) {
        let (added, carry) = sum.overflowing_add(word);
        // Cannot carry again: a sum that has just wrapped is below the greatest number.
        *sum = added.wrapping_add(u64::from(carry));
    }
}

#[inline]
const fn words_of(block: &[u8; BLOCK]) -> [u64; 4] {
    match block.as_chunks::<8>() {
        ([a, b, c, d], _) => [
            u64::from_le_bytes(*a),
            u64::from_le_bytes(*b),
            u64::from_le_bytes(*c),
            u64::from_le_bytes(*d),
        ],
        _ => [0; 4],
    }
}

#[inline]
const fn joined([a, b, c, d]: [u64; 4]) -> Sum {
    Sum(a).plus(Sum(b)).plus(Sum(c).plus(Sum(d)))
}

const BLOCK: usize = 32;

/// From index `n` on: a mask for the last `n` of 32 bytes.
const MASKS: [u8; BLOCK * 2] = {
    let mut masks = [0; BLOCK * 2];
    let (_, upper) = masks.split_at_mut(BLOCK);
    let mut rest = upper;
    while let [first, behind @ ..] = rest {
        *first = 0xff;
        rest = behind;
    }
    masks
};

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
