//! Which bytes of a block mean something where text comes in lines: one bit for each.
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
#[inline]
pub fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of every x86-64 processor.
    let mask = unsafe { sse2::equal(block, byte) };
    #[cfg(not(target_arch = "x86_64"))]
    let [mask, ..] = plain(block, byte, byte);
    mask
}

/// Which bytes of a block equal `feed`, which are controls (below a space), and which are spaces,
/// controls or equal to `mark`. Bit *n* stands for byte *n*.
///
/// ```
/// let mut block = [b'.'; 64];
/// block[2] = b':';
/// block[5] = b'\r';
/// block[6] = b'\n';
/// block[63] = b' ';
/// let [feeds, controls, stops] = flowpin_cpu::bytes::line_marks(&block, b'\n', b':');
/// assert_eq!(feeds, 1 << 6);
/// assert_eq!(controls, 1 << 5 | 1 << 6);
/// assert_eq!(stops, 1 << 2 | 1 << 5 | 1 << 6 | 1 << 63);
/// ```
#[inline]
pub fn line_marks(block: &[u8; BLOCK], feed: u8, mark: u8) -> [u64; 3] {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of every x86-64 processor.
    let marks = unsafe { sse2::line_marks(block, feed, mark) };
    #[cfg(not(target_arch = "x86_64"))]
    let marks = plain(block, feed, mark);
    marks
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(block: &[u8; BLOCK], feed: u8, mark: u8) -> [u64; 3] {
    block.iter().rev().fold([0; 3], |masks, &byte| {
        let bits = [byte == feed, byte < b' ', byte <= b' ' || byte == mark];
        core::array::from_fn(|nth| masks[nth] << 1 | u64::from(bits[nth]))
    })
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::BLOCK;
    use core::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
        let wanted = _mm_set1_epi8(byte.cast_signed());
        let (quarters, _) = block.as_chunks::<16>();
        quarters.iter().rev().fold(0, |mask, quarter| {
            // SAFETY: sixteen bytes, of any alignment, borrowed for the load.
            let bytes = unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) };
            let found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
            mask << 16 | u64::from(found.cast_unsigned())
        })
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn line_marks(block: &[u8; BLOCK], feed: u8, mark: u8) -> [u64; 3] {
        let [feed, mark, control, space] =
            [feed, mark, 0x1f, b' '].map(|byte| _mm_set1_epi8(byte.cast_signed()));
        let (quarters, _) = block.as_chunks::<16>();
        let mut masks = [0; 3];
        for quarter in quarters.iter().rev() {
            // SAFETY: sixteen bytes, of any alignment, borrowed for the load.
            let bytes = unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) };
            let at_most = |most| _mm_cmpeq_epi8(_mm_min_epu8(bytes, most), bytes);
            let stops = _mm_or_si128(at_most(space), _mm_cmpeq_epi8(bytes, mark));
            let found = [_mm_cmpeq_epi8(bytes, feed), at_most(control), stops];
            for (mask, equal) in masks.iter_mut().zip(found) {
                *mask = *mask << 16 | u64::from(_mm_movemask_epi8(equal).cast_unsigned());
            }
        }
        masks
    }
}

#[cfg(test)]
mod tests {
    use super::{equal, line_marks, plain};

    /// A bit stands for its byte, however the processor finds it.
    #[test]
    fn masks_are_those_of_single_bytes() {
        let mut state = 1u32;
        for _ in 0..200 {
            let block: [u8; 64] = core::array::from_fn(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            });
            for (feed, mark) in [(10, 58), (0, 255), (31, 32), (128, 127)] {
                assert_eq!(line_marks(&block, feed, mark), plain(&block, feed, mark));
                assert_eq!(equal(&block, feed), plain(&block, feed, mark)[0]);
            }
        }
    }
}
