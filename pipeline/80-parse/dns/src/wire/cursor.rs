//! A read position in a message.

/// The end of the readable range was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short;

/// Reads big-endian numbers and byte ranges up to an end; has the whole message, for names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'m> {
    pub(crate) message: &'m [u8],
    pub(crate) at: usize,
    pub(crate) end: usize,
}

impl<'m> Cursor<'m> {
    pub(crate) fn new(message: &'m [u8], at: usize, end: usize) -> Self {
        let end = end.min(message.len());
        Self { message, at, end }
    }

    pub(crate) fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'m [u8], Short> {
        let to = self.at.checked_add(len).ok_or(Short)?;
        if to > self.end {
            return Err(Short);
        }
        let bytes = self.message.get(self.at..to).ok_or(Short)?;
        self.at = to;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        self.take(N)?.first_chunk().copied().ok_or(Short)
    }

    pub(crate) fn rest(&mut self) -> &'m [u8] {
        self.take(self.left()).unwrap_or_default()
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Short> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Short> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Short> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads a length and that number of bytes (RFC 1035 §3.3: character-string).
    pub(crate) fn string(&mut self) -> Result<&'m [u8], Short> {
        let len = self.u8()?;
        self.take(len.into())
    }
}
