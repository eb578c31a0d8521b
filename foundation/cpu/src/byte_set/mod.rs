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

#[cfg(target_arch = "x86_64")]
mod wide;

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

/// Sets that are looked for together: the bytes of a block are loaded and halved once for all.
///
/// ```
/// use flowpin_cpu::{ByteSet, ByteSets};
/// let digits = ByteSet::new([0x3ff << b'0', 0, 0, 0]).unwrap();
/// let line_end = ByteSet::new([1 << b'\r' | 1 << b'\n', 0, 0, 0]).unwrap();
/// let sets = ByteSets::new(&[line_end, digits]);
/// assert_eq!(sets.place(&line_end), Some(0));
/// assert_eq!(sets.place(&ByteSet::default()), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteSets(Vec<ByteSet>);

/// How many sets can be looked for together.
pub const BYTE_SETS_MAX: usize = 8;

impl ByteSets {
    /// These sets; those beyond [`BYTE_SETS_MAX`] are left out.
    pub fn new(sets: &[ByteSet]) -> Self {
        Self(sets.iter().take(BYTE_SETS_MAX).copied().collect())
    }

    /// Which of the masks that [`Classifier::members_of_all`] finds is a set's.
    pub fn place(&self, set: &ByteSet) -> Option<usize> {
        self.0.iter().position(|own| own == set)
    }
}

/// How many bytes are classified at once: one bit of a mask each.
pub const BLOCK_BYTES: usize = 64;

/// A way to classify bytes, which the processor has: see [`with_classifier`].
pub trait Classifier: Copy {
    /// Which bytes of a block are in a set: bit *n* stands for byte *n*.
    fn members(self, set: &ByteSet, block: &[u8; BLOCK_BYTES]) -> u64;

    /// The same for several sets, each at its [`ByteSets::place`].
    fn members_of_all(self, sets: &ByteSets, block: &[u8; BLOCK_BYTES], masks: &mut BlockMasks);

    /// The same for fewer bytes than a block has; those beyond are in no set.
    fn members_of_short(self, sets: &ByteSets, bytes: &[u8], masks: &mut BlockMasks);

    /// Does `work` in a function of its own, so that work around it keeps its registers.
    fn outlined<W: WithClassifier>(self, work: W) -> W::Output;
}

/// A mask for each of [`ByteSets`].
pub type BlockMasks = [u64; BYTE_SETS_MAX];

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
    fn members_of_all(self, sets: &ByteSets, block: &[u8; BLOCK_BYTES], masks: &mut BlockMasks) {
        for (set, mask) in sets.0.iter().zip(masks) {
            *mask = self.members(set, block);
        }
    }

    fn members_of_short(self, sets: &ByteSets, bytes: &[u8], masks: &mut BlockMasks) {
        for (set, mask) in sets.0.iter().zip(masks) {
            let bits = bytes.iter().take(BLOCK_BYTES).rev();
            *mask = bits.fold(0, |mask, &byte| mask << 1 | u64::from(set.contains(byte)));
        }
    }

    fn outlined<W: WithClassifier>(self, work: W) -> W::Output {
        work.run(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BLOCK_BYTES, BYTE_SETS_MAX, BlockMasks, ByteSet, ByteSets, Classifier, OneByOne,
        WithClassifier, with_classifier,
    };

    struct AllMembers<'a>(&'a ByteSets, &'a [u8; BLOCK_BYTES]);

    impl WithClassifier for AllMembers<'_> {
        type Output = BlockMasks;
        #[inline(always)]
        fn run<C: Classifier>(self, classifier: C) -> BlockMasks {
            let mut masks = [0; BYTE_SETS_MAX];
            classifier.members_of_all(self.0, self.1, &mut masks);
            masks
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

    struct ShortMembers<'a>(&'a ByteSets, &'a [u8]);

    impl WithClassifier for ShortMembers<'_> {
        type Output = BlockMasks;
        #[inline(always)]
        fn run<C: Classifier>(self, classifier: C) -> BlockMasks {
            let mut masks = [0; BYTE_SETS_MAX];
            classifier.members_of_short(self.0, self.1, &mut masks);
            masks
        }
    }

    /// Of fewer bytes than a block has, none is missed, and nothing behind them is found.
    #[test]
    fn short_texts_are_classified_like_blocks() {
        let set = set_of(|byte| byte == 0 || byte % 3 == 1).unwrap();
        let sets = ByteSets::new(&[set]);
        for len in 0..BLOCK_BYTES {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let mut slow = [0; BYTE_SETS_MAX];
            OneByOne.members_of_short(&sets, &bytes, &mut slow);
            let is_member = |at: usize| slow[0] >> at & 1 != 0;
            assert!((0..len).all(|at| is_member(at) == set.contains(bytes[at])));
            assert!(!(len..64).any(is_member));
            assert_eq!(with_classifier(ShortMembers(&sets, &bytes)), slow, "{len}");
        }
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
        let sets: Vec<ByteSet> = sets.into_iter().flatten().collect();
        let all = ByteSets::new(&sets);
        let bytes: Vec<u8> = (0..=255).chain(0..=255).collect();
        for set in &sets {
            let place = all.place(set).unwrap();
            for block in bytes.windows(BLOCK_BYTES) {
                let block = block.try_into().unwrap();
                let slow = OneByOne.members(set, block);
                assert_eq!(with_classifier(Members(set, block)), slow);
                assert_eq!(with_classifier(AllMembers(&all, block))[place], slow);
                let mut masks = [0; BYTE_SETS_MAX];
                OneByOne.members_of_all(&all, block, &mut masks);
                assert_eq!(masks[place], slow);
                for (at, &byte) in block.iter().enumerate() {
                    assert_eq!(slow >> at & 1 != 0, set.contains(byte));
                }
            }
        }
    }
}
