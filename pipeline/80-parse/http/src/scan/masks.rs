//! Which of 64 bytes are line feeds, controls, or may end a field's name: one bit for each byte.

pub(super) use flowpin_cpu::bytes::BLOCK;

use flowpin_cpu::bytes;

/// The masks of a block: bit *n* is for byte *n*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// Line feeds.
    pub(super) feeds: u64,
    /// Bytes below a space: controls, tabs and line feeds, too.
    pub(super) low: u64,
    /// Colons, spaces and bytes below.
    pub(super) stops: u64,
}

/// Computes the masks of a block.
#[inline]
pub(super) fn masks(block: &[u8; BLOCK]) -> Masks {
    let [feeds, low, stops] = bytes::line_marks(block, b'\n', b':');
    Masks { feeds, low, stops }
}

impl Masks {
    /// Without the bytes up to the first line feed.
    #[inline]
    pub(super) const fn behind_line(self) -> Self {
        let line = self.feeds ^ self.feeds.wrapping_sub(1);
        Self {
            feeds: self.feeds & !line,
            low: self.low & !line,
            stops: self.stops & !line,
        }
    }

    /// Without the first bytes.
    #[inline]
    pub(super) const fn behind(self, count: u32) -> Self {
        Self {
            feeds: self.feeds.wrapping_shr(count),
            low: self.low.wrapping_shr(count),
            stops: self.stops.wrapping_shr(count),
        }
    }
}
