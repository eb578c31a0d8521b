//! Byte order of a capture, which is that of the machine that recorded it.

/// The order of the bytes in a file's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

impl Order {
    /// The number in two bytes.
    #[inline]
    pub(crate) const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// The number in four bytes.
    #[inline]
    pub(crate) const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The two bytes of `bytes` at `at`; 0 where there are not so many.
    #[inline]
    pub(crate) fn u16_at(self, bytes: &[u8], at: usize) -> u16 {
        let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
        self.u16(chunk.copied().unwrap_or_default())
    }

    /// The four bytes of `bytes` at `at`; 0 where there are not so many.
    #[inline]
    pub(crate) fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
        self.u32(chunk.copied().unwrap_or_default())
    }

    /// The eight bytes of `bytes` at `at`; 0 where there are not so many.
    #[inline]
    pub(crate) fn u64_at(self, bytes: &[u8], at: usize) -> u64 {
        let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
        let chunk = chunk.copied().unwrap_or_default();
        match self {
            Self::Little => u64::from_le_bytes(chunk),
            Self::Big => u64::from_be_bytes(chunk),
        }
    }
}
