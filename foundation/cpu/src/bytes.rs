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

/// Room for places that [`places`] writes down in one go.
pub const PLACES: usize = 256;

/// Where `byte` stands in `bytes` from `from` on, a multiple of [`BLOCK`]: writes the places down
/// and gives how many there are, and up to where it looked, which is the end unless room is short.
///
/// ```
/// use flowpin_cpu::bytes::{PLACES, places};
///
/// let mut found = [0; PLACES];
/// assert_eq!(places(b"35=D;34=1;", b';', 0, &mut found), (2, 10));
/// assert_eq!(found[..2], [4, 9]);
/// ```
// PERF: the places of a block are written down eight at a time whether there are eight or not: one
// loop over them later, whose end is mispredicted once and not once a block.
#[inline]
pub fn places(bytes: &[u8], byte: u8, from: usize, found: &mut [u32; PLACES]) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has what the function is made for.
        return unsafe { avx2::places(bytes, byte, from, found) };
    }
    places_anywhere(bytes, byte, from, found)
}

#[cold]
fn places_anywhere(
    bytes: &[u8],
    byte: u8,
    from: usize,
    found: &mut [u32; PLACES],
) -> (usize, usize) {
    places_by(bytes, from, found, |block| equal(block, byte))
}

#[inline(always)]
fn places_by(
    bytes: &[u8],
    from: usize,
    found: &mut [u32; PLACES],
    equal: impl Fn(&[u8; BLOCK]) -> u64,
) -> (usize, usize) {
    let (mut count, mut base) = (0usize, from);
    while let Some(block) = bytes.get(base..).and_then(<[u8]>::first_chunk) {
        count = write_down(found, base, equal(block), count);
        base = base.wrapping_add(BLOCK);
        if count > PLACES - BLOCK {
            return (count, base);
        }
    }
    let rest = bytes.get(base..).unwrap_or_default();
    if !rest.is_empty() {
        let mask = match bytes.last_chunk() {
            // What is left ends the last block; the bytes before it were looked at.
            Some(last) => equal(last) >> (BLOCK.wrapping_sub(rest.len()) & 63),
            None => {
                // Any byte but the one that is looked for would do, too: only the first count.
                let mut block = [0; BLOCK];
                for (to, from) in block.iter_mut().zip(rest) {
                    *to = *from;
                }
                equal(&block) & !(u64::MAX << (rest.len() & 63))
            }
        };
        count = write_down(found, base, mask, count);
    }
    (count, bytes.len().max(from))
}

/// Writes down the places of a mask's bits behind the first `count`; gives how many there are.
#[inline(always)]
fn write_down(found: &mut [u32; PLACES], base: usize, mut mask: u64, count: usize) -> usize {
    let end = count.wrapping_add(mask.count_ones() as usize);
    let mut at = count;
    loop {
        let places = found.get_mut(at..).and_then(<[u32]>::first_chunk_mut::<8>);
        let Some(places) = places else {
            return end;
        };
        for place in places {
            *place = low(base).wrapping_add(mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
        at = at.wrapping_add(8);
        if at >= end {
            return end;
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "whoever wants places asks about less than 4 GiB"
)]
const fn low(position: usize) -> u32 {
    position as u32
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, PLACES, places_by};
    use core::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn places(
        bytes: &[u8],
        byte: u8,
        from: usize,
        found: &mut [u32; PLACES],
    ) -> (usize, usize) {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        places_by(bytes, from, found, |block: &[u8; BLOCK]| {
            let (halves, _) = block.as_chunks::<32>();
            halves.iter().rev().fold(0, |mask, half| {
                // SAFETY: thirty-two bytes, of any alignment, borrowed for the load.
                let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                let equal = _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, wanted));
                mask << 32 | u64::from(equal.cast_unsigned())
            })
        })
    }
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
    use super::{BLOCK, PLACES, equal, line_marks, places, places_by, plain};

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

    /// Whatever the processor has, places are those of the bytes, in pieces that fit the room.
    #[test]
    fn places_are_those_of_single_bytes() {
        let mut state = 7u32;
        for len in (0..200).chain([1000, 1024, 4097]) {
            for rarity in [1, 2, 9, 100] {
                let mut next = || {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    u8::from((state >> 16).is_multiple_of(rarity))
                };
                let bytes: Vec<u8> = (0..len).map(|_| next()).collect();
                let expected = (0..len as u32).filter(|&at| bytes[at as usize] == 1);
                let expected: Vec<u32> = expected.collect();
                let plainly = |from, found: &mut [u32; PLACES]| {
                    places_by(&bytes, from, found, |block: &[u8; BLOCK]| equal(block, 1))
                };
                let widely = |from, found: &mut [u32; PLACES]| places(&bytes, 1, from, found);
                assert_eq!(all(len, plainly), expected, "{len} {rarity}");
                assert_eq!(all(len, widely), expected, "{len} {rarity}");
            }
        }
    }

    fn all(len: usize, look: impl Fn(usize, &mut [u32; PLACES]) -> (usize, usize)) -> Vec<u32> {
        let (mut from, mut all, mut found) = (0, Vec::new(), [0; PLACES]);
        while from < len {
            let (count, next) = look(from, &mut found);
            assert!(next > from);
            all.extend(&found[..count]);
            from = next;
        }
        all
    }
}
