//! Beginnings of tokens whose ends have not come yet.

use crate::saved::{NO_TEXT, Saved};
use flowpin_memory::{Budget, Buffer, Buffers, Pool, Slab};
use std::io;

/// The texts of unfinished tokens, one pool a core, charged to the budgets of their shards.
///
/// A text for which its shard has no memory is not kept: its token is reported shortened.
#[derive(Debug)]
pub struct Texts {
    slots: Slab<Slot>,
    bytes: Buffers<u8>,
    budget: Budget,
    /// The text of the token that is being reported: no longer than a token.
    taken: Vec<u8>,
    lost: TextsLost,
}

/// What was lost for lack of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextsLost {
    /// Tokens whose text was not kept.
    pub tokens: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    text: Buffer,
    shard: u8,
}

/// What a slot takes, with its place in the list of free ones.
const SLOT_BYTES: u64 = (size_of::<Slot>() + size_of::<u32>()) as u64;

/// Sizes of texts: the last one is that of the longest token that a grammar may have. Each step is
/// small enough for a packet of one byte.
const SIZES: &[usize] = &[64, 256, 1024, 4096, 16_384, 32_768, 49_152, 65_536];

impl Texts {
    /// A pool that takes its memory from this budget.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn new(budget: &Budget) -> io::Result<Self> {
        Ok(Self {
            slots: Slab::with_capacity(budget.capacity_of(SLOT_BYTES, 256))?,
            bytes: Buffers::new(budget, SIZES)?,
            budget: budget.clone(),
            taken: Vec::new(),
            lost: TextsLost::default(),
        })
    }

    /// A pool with a budget of its own.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn with_shard_bytes(shard_bytes: u64) -> io::Result<Self> {
        Self::new(&Budget::new(shard_bytes))
    }

    /// What was lost so far.
    pub const fn lost(&self) -> TextsLost {
        self.lost
    }

    /// Whether no token is unfinished.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Calls `visit` with each of its pools.
    pub fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.slots);
        self.bytes.pools(visit);
    }

    /// Adds to the text of a token, up to `len_max` bytes in all.
    pub(crate) fn append(&mut self, saved: &mut Saved, shard: u8, bytes: &[u8], len_max: usize) {
        if saved.has_lost_text || bytes.is_empty() {
            return;
        }
        let slot = self.slot(saved, shard);
        let Some(slot) = slot.and_then(|slot| self.slots.get_mut(slot)) else {
            return self.lose(saved);
        };
        let room = len_max.saturating_sub(slot.text.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        if !self.bytes.extend(shard, &mut slot.text, kept) {
            self.lose(saved);
        }
    }

    /// What is kept of a token; empty if nothing is.
    pub(crate) fn held(&self, saved: &Saved) -> &[u8] {
        let slot = self.slots.get(saved.text);
        slot.map_or(&[], |slot| self.bytes.get(&slot.text))
    }

    /// The text of a token, whose memory is given back. [`Texts::give_back`] takes the vector back.
    pub(crate) fn take(&mut self, saved: &Saved) -> Vec<u8> {
        let mut taken = core::mem::take(&mut self.taken);
        taken.clear();
        if let Some(slot) = self.slots.get_mut(saved.text) {
            taken.extend_from_slice(self.bytes.get(&slot.text));
            self.bytes.release(slot.shard, &mut slot.text);
        }
        taken
    }

    /// Takes back the vector of [`Texts::take`], and releases the token of that slot.
    pub(crate) fn give_back(&mut self, slot: u32, taken: Vec<u8>) {
        self.taken = taken;
        self.free(slot);
    }

    /// Forgets the token.
    pub(crate) fn release(&mut self, saved: &mut Saved) {
        if let Some(slot) = self.slots.get_mut(saved.text) {
            self.bytes.release(slot.shard, &mut slot.text);
            self.free(saved.text);
        }
        saved.text = NO_TEXT;
        saved.token_len = 0;
        saved.has_lost_text = false;
    }

    fn free(&mut self, slot: u32) {
        if let Some(&Slot { shard, .. }) = self.slots.get(slot) {
            self.slots.remove(slot);
            self.budget.give_back(shard, SLOT_BYTES);
        }
    }

    fn lose(&mut self, saved: &mut Saved) {
        let len = saved.token_len;
        self.release(saved);
        saved.token_len = len;
        saved.has_lost_text = true;
        self.lost.tokens = self.lost.tokens.saturating_add(1);
    }

    fn slot(&mut self, saved: &mut Saved, shard: u8) -> Option<u32> {
        if saved.text == NO_TEXT {
            if !self.budget.take(shard, SLOT_BYTES) {
                return None;
            }
            let text = Buffer::default();
            let Some(slot) = self.slots.insert(Slot { text, shard }) else {
                self.budget.give_back(shard, SLOT_BYTES);
                return None;
            };
            saved.text = slot;
        }
        Some(saved.text)
    }
}
