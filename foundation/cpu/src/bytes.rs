//! Which bytes of a block are something: one bit for each.
//!
//! The compiler does not turn a loop over bytes into a mask of bits; the processor has an
//! instruction for it.

/// Bytes of a block: one for each bit of a mask.
pub const BLOCK: usize = 64;

/// Which bytes of a block equal `byte`. Bit *n* stands for byte *n*.
///
/// ```
/// let mut block = [b'.'; 64];
/// block[2] = b':';
/// block[63] = b':';
/// assert_eq!(flowpin_cpu::bytes::equal(&block, b':'), 1 << 2 | 1 << 63);
/// ```
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    // SAFETY: SSE2 is part of every x86-64 processor.
    unsafe { sse2::equal(block, byte) }
}

/// Which bytes of a block are at most `byte`. Bit *n* stands for byte *n*.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn at_most(block: &[u8; BLOCK], byte: u8) -> u64 {
    // SAFETY: SSE2 is part of every x86-64 processor.
    unsafe { sse2::at_most(block, byte) }
}

/// Which bytes of a block equal `byte`. Bit *n* stands for byte *n*.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    mask(block, |other| other == byte)
}

/// Which bytes of a block are at most `byte`. Bit *n* stands for byte *n*.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn at_most(block: &[u8; BLOCK], byte: u8) -> u64 {
    mask(block, |other| other <= byte)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn mask(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
    block
        .iter()
        .rev()
        .fold(0, |mask, &byte| mask << 1 | u64::from(is(byte)))
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::BLOCK;
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_set1_epi8,
    };

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
        let wanted = _mm_set1_epi8(byte.cast_signed());
        mask(block, |bytes| _mm_cmpeq_epi8(bytes, wanted))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn at_most(block: &[u8; BLOCK], byte: u8) -> u64 {
        let most = _mm_set1_epi8(byte.cast_signed());
        mask(block, |bytes| {
            _mm_cmpeq_epi8(_mm_min_epu8(bytes, most), bytes)
        })
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn mask(block: &[u8; BLOCK], compare: impl Fn(__m128i) -> __m128i) -> u64 {
        let (quarters, _) = block.as_chunks::<16>();
        quarters.iter().rev().fold(0, |mask, quarter| {
            // SAFETY: sixteen bytes, of any alignment, borrowed for the load.
            let bytes = unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) };
            let bits = _mm_movemask_epi8(compare(bytes));
            mask << 16 | u64::from(bits.cast_unsigned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{at_most, equal, mask};

    /// A bit stands for its byte, however the processor finds it.
    #[test]
    fn masks_are_those_of_single_bytes() {
        let mut state = 1u32;
        for _ in 0..200 {
            let block: [u8; 64] = core::array::from_fn(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            });
            for byte in [0, 9, 10, 31, 32, 58, 127, 128, 255] {
                assert_eq!(equal(&block, byte), mask(&block, |other| other == byte));
                assert_eq!(at_most(&block, byte), mask(&block, |other| other <= byte));
            }
        }
    }
}
