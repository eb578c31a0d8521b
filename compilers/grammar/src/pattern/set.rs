//! Sets of bytes while compiling.

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Set(pub(crate) [u64; 4]);

impl Set {
    pub(crate) const ALL: Self = Self([u64::MAX; 4]);

    pub(crate) fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Self::default();
        for byte in bytes {
            set.insert(byte);
        }
        set
    }

    pub(crate) fn insert(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }

    pub(crate) fn contains(&self, byte: u8) -> bool {
        let word = self.0.get(usize::from(byte >> 6)).copied().unwrap_or(0);
        word >> (byte & 63) & 1 != 0
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(crate) fn union(mut self, other: Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
        self
    }

    pub(crate) fn intersection(mut self, other: Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine &= theirs;
        }
        self
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.intersection(other.complement())
    }

    pub(crate) fn complement(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// With both cases of each letter.
    pub(crate) fn in_both_cases(self) -> Self {
        let mut set = self;
        for byte in self.bytes() {
            set.insert(byte.to_ascii_lowercase());
            set.insert(byte.to_ascii_uppercase());
        }
        set
    }

    pub(crate) fn bytes(self) -> impl Iterator<Item = u8> {
        (0..=255u8).filter(move |&byte| self.contains(byte))
    }
}
