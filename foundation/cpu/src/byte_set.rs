//! Sets of bytes, and which bytes of a block are in one, many bytes at a time.
//!
//! ```text
//!  byte 0xHL ─► high[H] = rows like row H ┐
//!            └► low[L]  = rows with L     ┴─ and ─► not 0: in the set
//! ```
//!
//! A set is a 16 × 16 table: a row for each high half of a byte. Rows that are equal share a bit;
//! eight bits are enough for every set that text protocols need. Two table look-ups in registers
//! and one `and` classify 32 bytes. Processors without AVX2 look at one byte after the other.

/// A set of bytes, as two tables of what their halves may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct ByteSet {
    low: [u8; 16],
    high: [u8; 16],
}

impl ByteSet {
    /// The set of those bytes `b` for which bit `b % 64` of `members[b / 64]` is 1.
    ///
    /// None if it has more than eight kinds of rows.
    pub fn new(members: [u64; 4]) -> Option<Self> {
        let mut set = Self::default();
        let mut kinds: Vec<u16> = Vec::new();
        let rows = members
            .iter()
            .flat_map(|word| (0..64).step_by(16).map(move |shift| (word >> shift) as u16));
        for (row, high) in rows.zip(&mut set.high) {
            if row == 0 {
                continue;
            }
            let known = kinds.iter().position(|&kind| kind == row);
            let kind = known.unwrap_or(kinds.len());
            let bit = 1u8.checked_shl(kind as u32)?;
            *high = bit;
            if known.is_none() {
                kinds.push(row);
                for (column, low) in set.low.iter_mut().enumerate() {
                    *low |= if row >> column & 1 != 0 { bit } else { 0 };
                }
            }
        }
        Some(set)
    }

    /// A set of tables that [`ByteSet::tables`] gave.
    pub const fn of_tables(low: [u8; 16], high: [u8; 16]) -> Self {
        Self { low, high }
    }

    /// What low halves may be, and high ones.
    pub const fn tables(&self) -> ([u8; 16], [u8; 16]) {
        (self.low, self.high)
    }

    /// Whether a byte is in the set.
    #[inline]
    pub const fn contains(&self, byte: u8) -> bool {
        self.low[(byte & 15) as usize] & self.high[(byte >> 4) as usize] != 0
    }
}

/// A set of few bytes: below 128, and no two of them with the same low half.
///
/// Line ends and most separators are such: one look-up and one comparison tell its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct SparseSet {
    /// The member with that low half; if there is none, something with another low half.
    members: [u8; 16],
}

impl SparseSet {
    /// The set without members.
    pub const EMPTY: Self = Self {
        members: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    };

    /// The same members as those of another set. None if they are no such few.
    ///
    /// ```
    /// use flowpin_cpu::{ByteSet, SparseSet};
    /// let line_end = ByteSet::new([1 << b'\r' | 1 << b'\n', 0, 0, 0]).unwrap();
    /// assert!(SparseSet::of(&line_end).unwrap().contains(b'\r'));
    /// let digits = ByteSet::new([0x3ff << b'0' | 1 << b'\t', 0, 0, 0]).unwrap();
    /// assert_eq!(SparseSet::of(&digits), None);
    /// ```
    pub fn of(set: &ByteSet) -> Option<Self> {
        let mut sparse = Self::EMPTY;
        let mut is_used = [false; 16];
        for byte in (0..=255u8).filter(|&byte| set.contains(byte)) {
            let low = usize::from(byte & 15);
            if byte >= 128 || is_used[low] {
                return None;
            }
            is_used[low] = true;
            sparse.members[low] = byte;
        }
        Some(sparse)
    }

    /// Whether a byte is in the set.
    #[inline]
    pub const fn contains(&self, byte: u8) -> bool {
        self.members[(byte & 15) as usize] == byte
    }
}

/// How many bytes are classified at once: one bit of a mask each.
pub const BLOCK_BYTES: usize = 64;

/// A way to classify bytes, which the processor has: see [`with_classifier`].
pub trait Classifier: Copy {
    /// Which bytes of a block are in a set: bit *n* stands for byte *n*.
    fn members(self, set: &ByteSet, block: &[u8; BLOCK_BYTES]) -> u64;

    /// The same for a set of few bytes.
    fn sparse_members(self, set: &SparseSet, block: &[u8; BLOCK_BYTES]) -> u64;
}

/// Work that classifies with whatever [`Classifier`] is fastest here.
///
/// `run` is to be `#[inline(always)]`, so that it is compiled once for each kind of processor.
pub trait WithClassifier {
    /// What comes out.
    type Output;
    /// Does the work.
    fn run<C: Classifier>(self, classifier: C) -> Self::Output;
}

/// Does `work` with the fastest classifier of this processor.
#[inline]
pub fn with_classifier<W: WithClassifier>(work: W) -> W::Output {
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

/// The classifier of any processor.
#[derive(Clone, Copy, Debug)]
pub struct OneByOne;

impl Classifier for OneByOne {
    #[inline]
    fn members(self, set: &ByteSet, block: &[u8; BLOCK_BYTES]) -> u64 {
        let bits = block.iter().rev();
        bits.fold(0, |mask, &byte| mask << 1 | u64::from(set.contains(byte)))
    }

    #[inline]
    fn sparse_members(self, set: &SparseSet, block: &[u8; BLOCK_BYTES]) -> u64 {
        let bits = block.iter().rev();
        bits.fold(0, |mask, &byte| mask << 1 | u64::from(set.contains(byte)))
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! 32 bytes at a time.

    use super::{BLOCK_BYTES, ByteSet, Classifier, SparseSet, WithClassifier};
    use core::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16,
    };

    /// Only [`run`] makes one, which runs on processors that have AVX2.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(());

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn run<W: WithClassifier>(work: W) -> W::Output {
        work.run(Avx2(()))
    }

    impl Classifier for Avx2 {
        #[inline(always)]
        fn members(self, set: &ByteSet, block: &[u8; BLOCK_BYTES]) -> u64 {
            // SAFETY: an `Avx2` exists, so the processor has AVX2.
            unsafe { members(set, block) }
        }

        #[inline(always)]
        fn sparse_members(self, set: &SparseSet, block: &[u8; BLOCK_BYTES]) -> u64 {
            // SAFETY: an `Avx2` exists, so the processor has AVX2.
            unsafe { sparse_members(set, block) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sparse_members(set: &SparseSet, block: &[u8; BLOCK_BYTES]) -> u64 {
        let members = table(&set.members);
        let (front, back) = block.split_at(BLOCK_BYTES / 2);
        let [front, back] = [front, back].map(|half| {
            let bytes = load(half);
            // A shuffle takes the low four bits of each byte, and gives 0 where the top bit is 1.
            let wanted = _mm256_shuffle_epi8(members, bytes);
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(wanted, bytes)).cast_unsigned()
        });
        u64::from(back) << 32 | u64::from(front)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn members(set: &ByteSet, block: &[u8; BLOCK_BYTES]) -> u64 {
        let low = table(&set.low);
        let high = table(&set.high);
        let (front, back) = block.split_at(BLOCK_BYTES / 2);
        let front = half(low, high, front);
        let back = half(low, high, back);
        !(u64::from(back) << 32 | u64::from(front))
    }

    /// A bit for each of the first 32 bytes that is *not* in the set.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn half(low: __m256i, high: __m256i, bytes: &[u8]) -> u32 {
        let bytes = load(bytes);
        let nibble = _mm256_set1_epi8(0x0f);
        // A shuffle takes the low four bits of each byte, and gives 0 where the top bit is 1.
        let low_half = _mm256_and_si256(bytes, nibble);
        let high_half = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
        let rows = _mm256_and_si256(
            _mm256_shuffle_epi8(low, low_half),
            _mm256_shuffle_epi8(high, high_half),
        );
        let is_outside = _mm256_cmpeq_epi8(rows, _mm256_setzero_si256());
        _mm256_movemask_epi8(is_outside) as u32
    }

    /// The first 32 bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8]) -> __m256i {
        assert!(bytes.len() >= 32);
        // SAFETY: there are 32 bytes that may be read; the load asks for no alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
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
    use super::{
        BLOCK_BYTES, ByteSet, Classifier, OneByOne, SparseSet, WithClassifier, with_classifier,
    };

    struct SparseMembers<'a>(&'a SparseSet, &'a [u8; BLOCK_BYTES]);

    impl WithClassifier for SparseMembers<'_> {
        type Output = u64;
        #[inline(always)]
        fn run<C: Classifier>(self, classifier: C) -> u64 {
            classifier.sparse_members(self.0, self.1)
        }
    }

    struct Members<'a>(&'a ByteSet, &'a [u8; BLOCK_BYTES]);

    impl WithClassifier for Members<'_> {
        type Output = u64;
        #[inline(always)]
        fn run<C: Classifier>(self, classifier: C) -> u64 {
            classifier.members(self.0, self.1)
        }
    }

    fn set_of(has: impl Fn(u8) -> bool) -> Option<ByteSet> {
        let mut members = [0u64; 4];
        for byte in 0..=255u8 {
            members[usize::from(byte / 64)] |= u64::from(has(byte)) << (byte % 64);
        }
        ByteSet::new(members)
    }

    /// A set has the members that it was made of; with more kinds of rows than there are bits,
    /// there is none.
    #[test]
    fn sets_hold_their_members() {
        let is_member = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0xf0;
        let set = set_of(is_member).unwrap();
        assert!((0..=255).all(|byte| set.contains(byte) == is_member(byte)));
        let (low, high) = set.tables();
        assert_eq!(ByteSet::of_tables(low, high), set);
        assert_eq!(set_of(|byte| byte / 16 == byte % 16), None);
    }

    /// Both ways of classifying agree on every byte, whatever the set.
    #[test]
    fn classifiers_agree() {
        let sets = [
            set_of(|_| false),
            set_of(|_| true),
            set_of(|byte| byte == b'\r' || byte == b'\n'),
            set_of(|byte| byte == 0 || byte == 0x7f),
            set_of(|byte| !byte.is_ascii_alphanumeric()),
            set_of(|byte| !(b' '..0x80).contains(&byte)),
        ];
        let bytes: Vec<u8> = (0..=255).chain(0..=255).collect();
        for set in sets.iter().flatten() {
            for block in bytes.windows(BLOCK_BYTES) {
                let block = block.try_into().unwrap();
                let slow = OneByOne.members(set, block);
                assert_eq!(with_classifier(Members(set, block)), slow);
                if let Some(sparse) = SparseSet::of(set) {
                    assert_eq!(OneByOne.sparse_members(&sparse, block), slow);
                    assert_eq!(with_classifier(SparseMembers(&sparse, block)), slow);
                }
                for (at, &byte) in block.iter().enumerate() {
                    assert_eq!(slow >> at & 1 != 0, set.contains(byte));
                }
            }
        }
    }
}
