//! Hashing for tables whose order nobody sees: quick, and keyed anew in each process, so that
//! nobody can make addresses collide.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A map for small keys.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, Keyed>;

/// A set likewise.
pub(crate) type Set<T> = std::collections::HashSet<T, Keyed>;

/// Makes hashers with a random key.
#[derive(Clone, Debug)]
pub(crate) struct Keyed(u64);

impl Default for Keyed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u64))
    }
}

impl BuildHasher for Keyed {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded(self.0)
    }
}

/// Mixes each word into the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folded(u64);

impl Folded {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = crate::sketch::mix(self.0 ^ word);
    }
}

impl Hasher for Folded {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.add(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u16(&mut self, word: u16) {
        self.add(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
