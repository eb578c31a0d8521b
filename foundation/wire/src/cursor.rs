//! Reading a message field by field, where its length is only known as it is read.

/// Reads fields one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    len: usize,
}

impl<'a> Cursor<'a> {
    /// Reads `bytes` from their first on.
    #[inline]
    pub fn over(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            len: bytes.len(),
        }
    }

    /// Reads `bytes`, which are `len` on the wire, from `at` on.
    #[inline]
    pub const fn within(bytes: &'a [u8], at: usize, len: usize) -> Self {
        Self { bytes, at, len }
    }

    /// How far it is.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Bytes of the datagram (of the stream so far) behind it, on the wire.
    #[inline]
    pub fn left(&self) -> usize {
        self.len.saturating_sub(self.at)
    }

    /// Whether the datagram ends here.
    #[inline]
    pub fn is_end(&self) -> bool {
        self.at == self.len
    }

    /// The next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..)?.get(..len)?;
        self.at = self.at.checked_add(len)?;
        Some(taken)
    }

    /// Passes `len` bytes, which need not have been captured.
    #[inline]
    pub fn skip(&mut self, len: usize) -> Option<()> {
        self.at = self.at.checked_add(len)?;
        Some(())
    }

    /// The next byte.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at = self.at.checked_add(1)?;
        Some(byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.at..)?.first_chunk().copied()?;
        self.at = self.at.checked_add(N)?;
        Some(taken)
    }

    /// Two bytes, the first the higher.
    #[inline]
    pub fn be16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four bytes, the first the highest.
    #[inline]
    pub fn be32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Two bytes, the first the lower.
    #[inline]
    pub fn le16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes, the first the lowest.
    #[inline]
    pub fn le32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A length in one byte.
    #[inline]
    pub fn len8(&mut self) -> Option<usize> {
        self.u8().map(usize::from)
    }

    /// A length in two bytes, the first the higher.
    #[inline]
    pub fn len16(&mut self) -> Option<usize> {
        self.be16().map(usize::from)
    }

    /// A length in three bytes, the first the highest.
    #[inline]
    pub fn len24(&mut self) -> Option<usize> {
        let [a, b, c] = self.array()?;
        usize::try_from(u32::from_be_bytes([0, a, b, c])).ok()
    }

    /// A length in four bytes, the first the highest.
    #[inline]
    pub fn len32(&mut self) -> Option<usize> {
        usize::try_from(self.be32()?).ok()
    }

    /// Tag and length of a BER element (X.690 §8.1): the tag, and the length of its content.
    pub fn ber(&mut self) -> Option<(u8, usize)> {
        let tag = self.u8()?;
        let first = self.u8()?;
        let len = match first {
            0..=0x7f => usize::from(first),
            0x81 => self.len8()?,
            0x82 => self.len16()?,
            0x83 => self.len24()?,
            0x84 => self.len32()?,
            _ => usize::MAX,
        };
        Some((tag, len))
    }
}
