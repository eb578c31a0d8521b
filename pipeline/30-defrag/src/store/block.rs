//! Blocks: the payload of datagrams that are not complete yet.
//!
//! ```text
//!  bytes   │ 2,048 bytes of the datagram, at their place                  │
//!  owners  │ for each 8 bytes the number of the fragment they came from,  │
//!          │ from 1; 0: not there yet                                     │
//! ```
//!
//! With an owner for each unit, adding a fragment costs its own length, in whatever order
//! fragments come; a sorted list would cost the number of those that wait.

use super::overlap::Range;

/// Bytes of payload in a block.
pub(crate) const BLOCK_LEN: usize = 2048;
/// Bytes in a unit: fragments start at multiples of it (RFC 791 §3.1).
const UNIT_LEN: usize = 8;
/// Units in a block.
const BLOCK_UNITS: usize = BLOCK_LEN / UNIT_LEN;
/// Blocks that the greatest datagram needs.
pub(crate) const BLOCKS_PER_DATAGRAM: usize = 32;

const _: () = assert!(BLOCK_LEN * BLOCKS_PER_DATAGRAM == 1 << 16);

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

/// How many blocks a fragment lies in.
pub(crate) fn blocks_of(range: Range) -> usize {
    spans(range).count()
}

impl Block {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; BLOCK_LEN],
            owners: [0; BLOCK_UNITS],
        }
    }

    /// Nothing is there any more.
    pub(crate) fn clear(&mut self) {
        self.owners = [0; BLOCK_UNITS];
    }

    /// Puts the part of a fragment's `payload` where nothing is yet.
    #[inline]
    pub(crate) fn fill(&mut self, span: Span, payload: &[u8], owner: u16) {
        let (from, to) = span.units;
        if let Some(owners) = self.owners.get_mut(from..to) {
            owners.fill(owner);
        }
        let bytes = self.bytes.get_mut(bytes_of(span)).unwrap_or_default();
        copy(bytes, payload.get(span.skipped..).unwrap_or_default());
    }

    /// Puts the part of a fragment's `payload` where nothing is, and over those owners that
    /// `wins` says. Returns how many units are new.
    pub(crate) fn merge(
        &mut self,
        span: Span,
        payload: &[u8],
        owner: u16,
        mut wins: impl FnMut(u16) -> bool,
    ) -> u32 {
        let (from, to) = span.units;
        let owners = self.owners.get_mut(from..to).unwrap_or_default();
        let bytes = self.bytes.get_mut(bytes_of(span)).unwrap_or_default();
        let units = bytes.chunks_exact_mut(UNIT_LEN).zip(owners);
        let payload = payload.get(span.skipped..).unwrap_or_default();
        let mut payload = payload.chunks(UNIT_LEN);
        let mut new = 0u32;
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

    /// Whether nothing of a span is there.
    #[inline]
    pub(crate) fn is_free(&self, span: Span) -> bool {
        self.owners_of(span).iter().all(|&owner| owner == 0)
    }

    /// The owner of all units of a span: 0 if none is there, `None` if owners differ.
    pub(crate) fn owner(&self, span: Span) -> Option<u16> {
        let owners = self.owners_of(span);
        let first = *owners.first()?;
        owners.iter().all(|&owner| owner == first).then_some(first)
    }

    /// Whether what is there of a span is what a fragment's `payload` has there.
    pub(crate) fn agrees(&self, span: Span, payload: &[u8]) -> bool {
        let payload = payload.get(span.skipped..).unwrap_or_default();
        let bytes = self.bytes.get(bytes_of(span)).unwrap_or_default();
        let units = bytes.chunks(UNIT_LEN).zip(payload.chunks(UNIT_LEN));
        units
            .zip(self.owners_of(span))
            .filter(|&(_, &owner)| owner != 0)
            .all(|((have, new), _)| have.iter().zip(new).all(|(have, new)| have == new))
    }

    fn owners_of(&self, span: Span) -> &[u16] {
        let (from, to) = span.units;
        self.owners.get(from..to).unwrap_or_default()
    }
}

const fn bytes_of(span: Span) -> core::ops::Range<usize> {
    span.units.0.saturating_mul(UNIT_LEN)..span.units.1.saturating_mul(UNIT_LEN)
}

/// As much as fits.
fn copy(to: &mut [u8], from: &[u8]) {
    let len = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}
