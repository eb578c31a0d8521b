//! Which checks are worth asking: a few bits of the first 8 bytes, one byte after them, ports.

/// A condition on the first 8 bytes, on one byte further on, and on ports: a check is asked only
/// where one of its leads fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lead {
    /// The bits of the first 8 bytes that it looks at, the first byte's lowest.
    pub mask: u64,
    /// What they are.
    pub value: u64,
    /// Fewer bytes than these are no datagram of it.
    pub len_min: u16,
    /// One byte anywhere: place, mask and value.
    pub far: (u8, u8, u8),
    /// One of them is the client's or the server's; none: any.
    pub ports: &'static [u16],
}

impl Lead {
    /// Always fits. For protocols whose first bytes may be anything; there should be few.
    pub const ANY: Self = Self {
        mask: 0,
        value: 0,
        len_min: 1,
        far: (0, 0, 0),
        ports: &[],
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
            ..self
        }
    }

    /// And the bits of `mask` of one byte, which may lie after the first 8, are as in `value`.
    #[expect(clippy::arithmetic_side_effects, reason = "a byte and one")]
    pub const fn far(mut self, at: u8, mask: u8, value: u8) -> Self {
        assert!(value & !mask == 0, "bits outside the mask");
        self.far = (at, mask, value);
        if self.len_min <= at as u16 {
            self.len_min = at as u16 + 1;
        }
        self
    }

    /// And one of these is the client's or the server's port. Evidence beside a structure.
    pub const fn on_ports(mut self, ports: &'static [u16]) -> Self {
        self.ports = ports;
        self
    }

    /// And a datagram has at least `len` bytes.
    pub const fn len_min(mut self, len: u16) -> Self {
        self.len_min = len;
        self
    }

    /// Whether the byte further on fits; not if it is not there.
    #[inline]
    pub fn fits_far(&self, bytes: &[u8]) -> bool {
        let (at, mask, value) = self.far;
        mask == 0
            || bytes
                .get(usize::from(at))
                .is_some_and(|byte| byte & mask == value)
    }

    /// Whether it says nothing of the first 8 bytes, only of one after them.
    pub const fn looks_only_far(&self) -> bool {
        self.mask == 0 && self.far.1 != 0
    }

    /// Whether it says anything of the byte at a place: below 8, or if it looks only far away,
    /// there. Where not, any byte fits.
    pub const fn looks_at(&self, place: u8) -> bool {
        if self.looks_only_far() && place == self.far.0 {
            return true;
        }
        place < 8 && self.mask.wrapping_shr((place as u32).wrapping_mul(8)) & 0xff != 0
    }

    /// Whether `byte` fits at a place: below 8, or if it looks only far away, there.
    pub const fn fits_at(&self, place: u8, byte: u8) -> bool {
        if self.looks_only_far() && place == self.far.0 {
            return byte & self.far.1 == self.far.2;
        }
        if place >= 8 {
            return true;
        }
        let shift = (place as u32).wrapping_mul(8);
        let difference = byte as u64 ^ self.value.wrapping_shr(shift);
        difference & self.mask.wrapping_shr(shift) & 0xff == 0
    }
}
