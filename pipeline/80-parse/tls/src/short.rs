//! Short texts stored inline, truncated at their capacity.

/// A text of at most `N` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short<const N: usize> {
    bytes: [u8; N],
    len: u16,
}

impl<const N: usize> core::fmt::Write for Short<N> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

impl<const N: usize> Default for Short<N> {
    fn default() -> Self {
        Self {
            bytes: [0; N],
            len: 0,
        }
    }
}

impl<const N: usize> Short<N> {
    /// Returns the first bytes of `text`.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut short = Self::default();
        short.push(text);
        short
    }

    /// Appends as much as fits.
    pub(crate) fn push(&mut self, text: &[u8]) {
        let start = usize::from(self.len);
        let room = self.bytes.get_mut(start..).unwrap_or_default();
        let count = room.len().min(text.len());
        if let (Some(room), Some(text)) = (room.get_mut(..count), text.get(..count)) {
            room.copy_from_slice(text);
        }
        let end = start.saturating_add(count);
        self.len = u16::try_from(end).unwrap_or(u16::MAX);
    }

    /// Removes the last byte.
    pub(crate) fn pop(&mut self) -> Option<u8> {
        let last = self.get().last().copied()?;
        self.len = self.len.saturating_sub(1);
        Some(last)
    }

    /// Whether nothing more fits: a text of just that length, or one that was cut.
    pub(crate) fn is_full(&self) -> bool {
        usize::from(self.len) == N
    }

    pub(crate) fn get(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}
