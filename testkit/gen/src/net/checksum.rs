//! The Internet checksum (RFC 1071), eight bytes at a time.

/// The one's-complement sum of big-endian 16-bit words, not folded.
#[inline]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let mut total = 0u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = word
            .first_chunk()
            .map_or(0, |&word| u64::from_le_bytes(word));
        total += (word & 0xffff_ffff) + (word >> 32);
    }
    let mut last = [0; 8];
    let rest = words.remainder();
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let word = u64::from_le_bytes(last);
    total += (word & 0xffff_ffff) + (word >> 32);
    // RFC 1071 §2(B): the sum is the same in either byte order, but for the order of its bytes.
    u32::from(fold64(total).swap_bytes())
}

fn fold64(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    fold(u32::try_from(sum).unwrap_or(0))
}

/// Carries added back.
#[inline]
pub(super) const fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    // At most 16 bits now.
    (sum & 0xffff) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the length, the sum is that of one word after the other.
        #[test]
        fn sums_as_word_by_word(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let words = bytes.chunks(2);
            let slow: u32 = words
                .map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |&low| u32::from(low)))
                .sum();
            prop_assert_eq!(fold(sum(&bytes)) % 0xffff, fold(slow) % 0xffff);
        }
    }
}
