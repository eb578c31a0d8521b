//! The memory that is charged for the parts of a datagram.

use super::block::Block;
use super::body::{Body, RANGES_KEPT};
use super::hosts::Host;
use super::slot::Slot;

/// Memory charged for a slot: itself, the entry of its source, its share of both indexes and of
/// lists that grew, and the allocator's overhead.
pub(crate) const SLOT_COST: u64 = SLOT_COST_NARROW as u64;
pub(super) const SLOT_COST_NARROW: u32 = 256;
/// Memory charged for a body, including the list of its fragments.
pub(crate) const BODY_COST: u64 = (size_of::<Body>() + 4 * RANGES_KEPT + 32) as u64;
/// Memory charged for a block.
pub(crate) const BLOCK_COST: u64 = (size_of::<Block>() + 16) as u64;

// A list of hosts that has just grown is half empty; so are the indexes, of which there are two.
const _: () = assert!(size_of::<Slot>() <= 168);
const _: () = assert!((size_of::<Slot>() + 8 + 8 + size_of::<Host>() + 8) as u64 <= SLOT_COST);

/// The memory that a datagram needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Need {
    pub(crate) slots: usize,
    pub(crate) bodies: usize,
    pub(crate) blocks: usize,
    pub(crate) list_bytes: usize,
}

impl Need {
    pub(crate) const fn cost(self) -> u64 {
        (self.slots as u64)
            .saturating_mul(SLOT_COST)
            .saturating_add((self.bodies as u64).saturating_mul(BODY_COST))
            .saturating_add((self.blocks as u64).saturating_mul(BLOCK_COST))
            .saturating_add(self.list_bytes as u64)
    }
}
