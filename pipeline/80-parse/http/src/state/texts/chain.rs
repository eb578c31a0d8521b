//! A chain of blocks: what it holds, and how large its blocks are.

/// A text in blocks, each of which begins with the handle of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    /// First and last block, plus one; 0: none.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The length, and [`SHORT`].
    pub(super) len: u32,
}

/// The first block of the chain is a short one.
const SHORT: u32 = 1 << 31;

impl Chain {
    /// An empty one, whose first block will be a short one if it `is_short`.
    pub(crate) const fn new(is_short: bool) -> Self {
        Self {
            first: 0,
            last: 0,
            len: if is_short { SHORT } else { 0 },
        }
    }

    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.len & !SHORT
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) const fn is_short(&self) -> bool {
        self.len & SHORT != 0
    }

    /// The size of its first block.
    pub(super) const fn first_size(&self) -> Size {
        if self.is_short() {
            Size::Short
        } else {
            Size::Usual
        }
    }

    /// The size of its last block, and how many bytes of that are in use.
    #[inline]
    pub(super) fn filled(&self) -> (Size, u32) {
        let (len, size) = (self.len(), self.first_size());
        match len.checked_sub(size.room()) {
            None | Some(0) => (size, len),
            Some(more) => (Size::Usual, last_part(more)),
        }
    }

    /// Bytes that fit its last block.
    #[inline]
    pub(super) fn free(&self) -> u32 {
        let (size, filled) = self.filled();
        let room = if self.first == 0 { 0 } else { size.room() };
        room.saturating_sub(filled)
    }
}

/// The sizes of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    /// For the texts of a request that others were sent before, without waiting.
    Short,
    /// Most requests fit one.
    Usual,
}

impl Size {
    pub(super) const fn block_bytes(self) -> u32 {
        match self {
            Self::Short => 128,
            Self::Usual => 512,
        }
    }

    /// Bytes of text in a block.
    pub(super) const fn room(self) -> u32 {
        self.block_bytes().wrapping_sub(4)
    }

    /// The memory that a block takes, with its place in the lists of its pool.
    pub(super) const fn cost(self) -> u64 {
        (self.block_bytes() as u64).wrapping_add(8)
    }
}

/// How many of `more` bytes, one at least, are in the last of the blocks that they fill.
#[inline]
const fn last_part(more: u32) -> u32 {
    let room = Size::Usual.room();
    match more.checked_rem(room) {
        Some(0) | None => room,
        Some(part) => part,
    }
}

pub(super) const LINK: usize = size_of::<u32>();
const _: () = assert!(Size::Usual.room() as usize + LINK == 512);
