//! Which checks are worth asking: a few bits of the first 8 bytes.

/// A condition on the first 8 bytes: a check is asked only where one of its leads fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lead {
    pub(crate) mask: u64,
    pub(crate) value: u64,
    /// Fewer bytes than these are no datagram of it.
    pub(crate) len_min: u16,
}

impl Lead {
    /// Always fits. For protocols whose first bytes may be anything; there should be few.
    pub const ANY: Self = Self {
        mask: 0,
        value: 0,
        len_min: 1,
    };

    /// The bytes begin so (the first 8 are looked at).
    pub const fn start(literal: &[u8]) -> Self {
        Self::at(0, literal)
    }

    /// These bytes at `at`; `at` and their number are 8 together at most.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "for constants: a mistake does not compile"
    )]
    pub const fn at(at: usize, literal: &[u8]) -> Self {
        let mut lead = Self::ANY;
        let mut index = 0;
        while index < literal.len() && at + index < 8 {
            lead = lead.masked(at + index, 0xff, literal[index]);
            index += 1;
        }
        lead
    }

    /// And at `at` (below 8) the bits of `mask` are as in `value`.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "below 8, as asserted"
    )]
    pub const fn masked(mut self, at: usize, mask: u8, value: u8) -> Self {
        assert!(at < 8 && value & !mask == 0, "outside the first 8 bytes");
        self.mask |= (mask as u64) << (at * 8);
        self.value |= (value as u64) << (at * 8);
        if (self.len_min as usize) <= at {
            self.len_min = at as u16 + 1;
        }
        self
    }

    /// And these bytes at `at`.
    pub const fn and(self, at: usize, literal: &[u8]) -> Self {
        let other = Self::at(at, literal);
        Self {
            mask: self.mask | other.mask,
            value: self.value | other.value,
            len_min: if self.len_min > other.len_min {
                self.len_min
            } else {
                other.len_min
            },
        }
    }

    /// And a datagram has at least so many bytes.
    pub const fn len_min(mut self, len: u16) -> Self {
        self.len_min = len;
        self
    }

    /// Whether `byte` fits at a place below 8.
    pub(crate) const fn fits_at(&self, place: u32, byte: u8) -> bool {
        let shift = place.wrapping_mul(8);
        let difference = byte as u64 ^ self.value.wrapping_shr(shift);
        difference & self.mask.wrapping_shr(shift) & 0xff == 0
    }
}
