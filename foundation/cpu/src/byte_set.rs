//! Sets of bytes, and the search for the next byte of one, many bytes at a time.
//!
//! ```text
//!  byte 0xHL ─► high[H] = rows like row H ┐
//!            └► low[L]  = rows with L     ┴─ and ─► not 0: in the set
//! ```
//!
//! A set is a 16 × 16 table: a row for each high half of a byte. Rows that are equal share a bit;
//! eight bits are enough for every set that text protocols need. Two table look-ups in registers
//! and one `and` classify 32 bytes. Sets with more than eight kinds of rows, and processors
//! without AVX2, look at one byte after the other.

/// A set of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct ByteSet {
    low: [u8; 16],
    high: [u8; 16],
    members: [u64; 4],
    is_wide: bool,
}

impl ByteSet {
    /// The set of those bytes `b` for which bit `b % 64` of `members[b / 64]` is 1.
    pub const fn new(members: [u64; 4]) -> Self {
        let mut low = [0u8; 16];
        let mut high = [0u8; 16];
        let mut kinds = [0u16; 8];
        let mut kind_count = 0;
        let mut is_wide = true;
        let mut row_index = 0;
        while row_index < 16 {
            let row = (members[row_index / 4] >> (row_index % 4 * 16)) as u16;
            let mut kind = 0;
            while kind < kind_count && kinds[kind] != row {
                kind += 1;
            }
            if row == 0 {
                row_index += 1;
                continue;
            }
            if kind == 8 {
                is_wide = false;
                break;
            }
            if kind == kind_count {
                kinds[kind] = row;
                kind_count += 1;
                let mut column = 0;
                while column < 16 {
                    if row >> column & 1 != 0 {
                        low[column] |= 1 << kind;
                    }
                    column += 1;
                }
            }
            high[row_index] = 1 << kind;
            row_index += 1;
        }
        Self {
            low,
            high,
            members,
            is_wide,
        }
    }

    /// Whether a byte is in the set.
    #[inline]
    pub const fn contains(&self, byte: u8) -> bool {
        self.members[(byte >> 6) as usize] >> (byte & 63) & 1 != 0
    }

    /// As it was given to [`ByteSet::new`].
    pub const fn members(&self) -> [u64; 4] {
        self.members
    }
}

/// A way to search, which the processor has: see [`with_finder`].
pub trait Finder: Copy {
    /// The first place at or behind `from` whose byte is in `set`; the length if there is none.
    fn find(self, set: &ByteSet, bytes: &[u8], from: usize) -> usize;
}

/// Work that searches with whatever [`Finder`] is fastest here.
///
/// `run` is to be `#[inline(always)]`, so that it is compiled once for each kind of processor.
pub trait WithFinder {
    /// What comes out.
    type Output;
    /// Does the work.
    fn run<F: Finder>(self, finder: F) -> Self::Output;
}

/// Does `work` with the fastest finder of this processor.
#[inline]
pub fn with_finder<W: WithFinder>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the processor has these instructions; it was asked just now.
        return unsafe { wide::run(work) };
    }
    work.run(OneByOne)
}

/// The finder of any processor.
#[derive(Clone, Copy, Debug)]
pub struct OneByOne;

impl Finder for OneByOne {
    #[inline(always)]
    fn find(self, set: &ByteSet, bytes: &[u8], from: usize) -> usize {
        one_by_one(set, bytes, from)
    }
}

#[inline]
fn one_by_one(set: &ByteSet, bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let at = rest.iter().position(|&byte| set.contains(byte));
    at.map_or(bytes.len(), |at| from.wrapping_add(at))
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! 32 bytes at a time.

    use super::{ByteSet, Finder, WithFinder, one_by_one};
    use core::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16,
    };

    /// Only [`run`] makes one, which runs on processors that have AVX2.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(());

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn run<W: WithFinder>(work: W) -> W::Output {
        work.run(Avx2(()))
    }

    const LANES: usize = 32;

    impl Finder for Avx2 {
        #[inline(always)]
        fn find(self, set: &ByteSet, bytes: &[u8], from: usize) -> usize {
            let mut at = from;
            if !set.is_wide {
                return one_by_one(set, bytes, at);
            }
            while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
                // SAFETY: an `Avx2` exists, so the processor has AVX2.
                let found = unsafe { members(set, chunk) };
                if found != 0 {
                    return at.wrapping_add(found.trailing_zeros() as usize);
                }
                at = at.wrapping_add(LANES);
            }
            // What is left is looked at together with bytes before it, if there are any.
            let Some(chunk) = bytes.last_chunk() else {
                return one_by_one(set, bytes, at);
            };
            let done = at.wrapping_add(LANES).wrapping_sub(bytes.len());
            if done >= LANES {
                return bytes.len();
            }
            // SAFETY: an `Avx2` exists, so the processor has AVX2.
            let found = unsafe { members(set, chunk) } >> done;
            match found {
                0 => bytes.len(),
                _ => at.wrapping_add(found.trailing_zeros() as usize),
            }
        }
    }

    /// A bit for each byte that is in the set.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn members(set: &ByteSet, chunk: &[u8; LANES]) -> u32 {
        let low = table(&set.low);
        let high = table(&set.high);
        let address: *const __m256i = chunk.as_ptr().cast();
        // SAFETY: `chunk` is 32 bytes that may be read; the load asks for no alignment.
        let bytes = unsafe { _mm256_loadu_si256(address) };
        let nibble = _mm256_set1_epi8(0x0f);
        // A shuffle takes the low four bits of each byte, and gives 0 where the top bit is 1.
        let low_half = _mm256_and_si256(bytes, nibble);
        let high_half = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
        let rows = _mm256_and_si256(
            _mm256_shuffle_epi8(low, low_half),
            _mm256_shuffle_epi8(high, high_half),
        );
        let is_outside = _mm256_cmpeq_epi8(rows, _mm256_setzero_si256());
        !(_mm256_movemask_epi8(is_outside) as u32)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn table(of: &[u8; 16]) -> __m256i {
        // SAFETY: `of` is 16 bytes that may be read; the load asks for no alignment.
        let half = unsafe { _mm_loadu_si128(of.as_ptr().cast()) };
        _mm256_broadcastsi128_si256(half)
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteSet, Finder, OneByOne, WithFinder, with_finder};

    struct Find<'a>(&'a ByteSet, &'a [u8], usize);

    impl WithFinder for Find<'_> {
        type Output = usize;
        #[inline(always)]
        fn run<F: Finder>(self, finder: F) -> usize {
            finder.find(self.0, self.1, self.2)
        }
    }

    fn set_of(has: impl Fn(u8) -> bool) -> ByteSet {
        let mut members = [0u64; 4];
        for byte in 0..=255u8 {
            members[usize::from(byte / 64)] |= u64::from(has(byte)) << (byte % 64);
        }
        ByteSet::new(members)
    }

    /// Both ways of searching find the same place, wherever the search begins, whatever the set:
    /// also one with more kinds of rows than there are bits.
    #[test]
    fn finders_agree() {
        let sets = [
            set_of(|_| false),
            set_of(|_| true),
            set_of(|byte| byte == b'\r' || byte == b'\n'),
            set_of(|byte| !byte.is_ascii_alphanumeric()),
            set_of(|byte| !(b' '..0x80).contains(&byte)),
            set_of(|byte| byte / 16 == byte % 16),
        ];
        assert!(sets[3].is_wide && !sets[5].is_wide);
        let mut state = 1u32;
        let mut bytes = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let byte = (state >> 24) as u8;
            bytes.push(if state & 0x8000 == 0 { byte } else { b'a' });
        }
        for set in &sets {
            for len in [0, 1, 31, 32, 33, 64, 200] {
                for from in 0..=len {
                    let bytes = &bytes[..len];
                    let slow = OneByOne.find(set, bytes, from);
                    assert_eq!(with_finder(Find(set, bytes, from)), slow, "{from} of {len}");
                }
            }
        }
    }
}
