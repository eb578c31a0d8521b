//! A keyed multiply-and-fold hash: a few cycles for the short keys of these tables.

use core::hash::{BuildHasher, Hasher};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldHash {
    secret: u64,
}

impl FoldHash {
    /// The same in every run: for what results depend on.
    pub(crate) const FIXED: Self = Self::keyed(FOLD_B);

    /// One that no sender who does not know the secret can aim at.
    pub const fn keyed(secret: u64) -> Self {
        Self { secret }
    }

    /// The hash of a key of words.
    #[inline]
    pub(crate) fn of_words<const N: usize>(self, words: &[u64; N]) -> u64 {
        let mut hasher = self.build_hasher();
        words.iter().for_each(|&word| hasher.mix(word));
        hasher.state
    }
}

impl BuildHasher for FoldHash {
    type Hasher = FoldHasher;

    #[inline]
    fn build_hasher(&self) -> FoldHasher {
        FoldHasher {
            state: self.secret ^ FOLD_A,
        }
    }
}

/// See [`FoldHash`].
#[derive(Clone, Copy, Debug)]
pub struct FoldHasher {
    state: u64,
}

impl FoldHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(FOLD_B);
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for FoldHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut()
                .zip(chunk)
                .for_each(|(to, from)| *to = *from);
            self.mix(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, n: u8) {
        self.mix(u64::from(n));
    }

    #[inline]
    fn write_u16(&mut self, n: u16) {
        self.mix(u64::from(n));
    }

    // PERF: lengths add nothing: keys of one table have one length.
    #[inline]
    fn write_usize(&mut self, _: usize) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }
}

const FOLD_A: u64 = 0x9e37_79b9_7f4a_7c15;
const FOLD_B: u64 = 0xa24b_aed4_963e_e407;
