//! Pooled blocks: the payload of datagrams that are not complete yet.
//!
//! ```text
//!  bytes   │ 4,096 bytes of the datagram, at their place                  │
//!  owners  │ for each 8 bytes the number of the fragment they came from,  │
//!          │ from 1; 0: not there yet                                     │
//! ```
//!
//! With an owner for each unit, adding a fragment costs its own length, in whatever order
//! fragments come; a sorted list would cost the number of those that wait.

use crate::overlap::Range;

/// Bytes of payload in a block.
pub(crate) const BLOCK_LEN: usize = 4096;
/// Bytes in a unit: fragments start at multiples of it (RFC 791 §3.1).
const UNIT_LEN: usize = 8;
/// Units in a block.
const BLOCK_UNITS: usize = BLOCK_LEN / UNIT_LEN;
/// Blocks that the greatest datagram needs.
pub(crate) const BLOCKS_PER_DATAGRAM: usize = 16;
/// What a block costs of the memory cap.
pub(crate) const BLOCK_COST: u64 = size_of::<Block>() as u64;

const _: () = assert!(BLOCK_LEN * BLOCKS_PER_DATAGRAM == 1 << 16);

/// No block.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) bytes: [u8; BLOCK_LEN],
    owners: [u16; BLOCK_UNITS],
}

/// The part of a fragment that lies in one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Which block of the datagram.
    pub(crate) index: usize,
    /// Units in the block.
    units: (usize, usize),
    /// Where the part starts in the fragment.
    skipped: usize,
}

/// Cuts a fragment's units at the borders of blocks.
pub(crate) fn spans(range: Range) -> impl Iterator<Item = Span> {
    let (start, end) = (usize::from(range.start), usize::from(range.end));
    let first = start.checked_div(BLOCK_UNITS).unwrap_or(0);
    let after = end.div_ceil(BLOCK_UNITS).min(BLOCKS_PER_DATAGRAM);
    (first..after).map(move |index| {
        let block_start = index.saturating_mul(BLOCK_UNITS);
        let from = start.saturating_sub(block_start);
        let to = end.saturating_sub(block_start).min(BLOCK_UNITS);
        let skipped = block_start.saturating_sub(start).saturating_mul(UNIT_LEN);
        Span {
            index,
            units: (from, to),
            skipped,
        }
    })
}

impl Block {
    /// Puts the part of a fragment's `payload` in its place; what is there stays unless
    /// `wins` says otherwise of its owner. Returns how many units are new.
    #[inline]
    pub(crate) fn place(
        &mut self,
        span: Span,
        payload: &[u8],
        owner: u16,
        mut wins: impl FnMut(u16) -> bool,
    ) -> u32 {
        let (from, to) = span.units;
        let Some(owners) = self.owners.get_mut(from..to) else {
            return 0;
        };
        let bytes = self
            .bytes
            .get_mut(from.saturating_mul(UNIT_LEN)..)
            .unwrap_or_default();
        let payload = payload.get(span.skipped..).unwrap_or_default();
        if owners.iter().all(|&old| old == 0) {
            owners.fill(owner);
            let len = owners.len().saturating_mul(UNIT_LEN).min(payload.len());
            copy(bytes, payload.get(..len).unwrap_or_default());
            return u32::try_from(owners.len()).unwrap_or(0);
        }
        let mut new = 0u32;
        let units = bytes.chunks_exact_mut(UNIT_LEN).zip(owners);
        let mut payload = payload.chunks(UNIT_LEN);
        for (bytes, old) in units {
            let from = payload.next().unwrap_or_default();
            if *old == 0 || wins(*old) {
                new = new.saturating_add(u32::from(*old == 0));
                *old = owner;
                copy(bytes, from);
            }
        }
        new
    }

    /// The owner of all units of a span: 0 if none is there, `None` if owners differ.
    pub(crate) fn owner(&self, span: Span) -> Option<u16> {
        let owners = self
            .owners
            .get(span.units.0..span.units.1)
            .unwrap_or_default();
        let first = *owners.first()?;
        owners.iter().all(|&owner| owner == first).then_some(first)
    }

    /// Whether the bytes of a span are those of a fragment's `payload`.
    pub(crate) fn holds(&self, span: Span, payload: &[u8]) -> bool {
        let (from, to) = span.units;
        let payload = payload.get(span.skipped..).unwrap_or_default();
        let bytes = from.saturating_mul(UNIT_LEN)..to.saturating_mul(UNIT_LEN);
        let bytes = self.bytes.get(bytes).unwrap_or_default();
        bytes.iter().zip(payload).all(|(have, new)| have == new)
    }
}

/// Blocks, handed out by number and kept for reuse.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    // Boxed: growing the list must not copy what the blocks hold.
    blocks: Vec<Box<Block>>,
    free: Vec<u32>,
}

impl Blocks {
    /// A block without owners. The caller keeps count of the cap.
    pub(crate) fn take(&mut self) -> u32 {
        if let Some(number) = self.free.pop() {
            return number;
        }
        let number = u32::try_from(self.blocks.len()).unwrap_or(NONE);
        let block = Block {
            bytes: [0; BLOCK_LEN],
            owners: [0; BLOCK_UNITS],
        };
        self.blocks.push(Box::new(block));
        number
    }

    /// Takes a block back.
    pub(crate) fn give_back(&mut self, number: u32) {
        if let Some(block) = self.get_mut(number) {
            block.owners = [0; BLOCK_UNITS];
            self.free.push(number);
        }
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Block> {
        self.blocks.get(number as usize).map(|block| &**block)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Block> {
        self.blocks
            .get_mut(number as usize)
            .map(|block| &mut **block)
    }
}

/// As much as fits.
fn copy(to: &mut [u8], from: &[u8]) {
    let len = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}
