//! Beginnings of tokens whose ends have not come yet.

use crate::saved::{NO_TEXT, Saved};

/// A pool of the texts of unfinished tokens, one a core; each shard has its cap.
///
/// A text that its shard's cap leaves no room for is not kept: its token is told shortened.
#[derive(Debug)]
pub struct Texts {
    slots: Vec<Slot>,
    free: Vec<u32>,
    used_bytes: Vec<u64>,
    shard_bytes_max: u64,
    lost: TextsLost,
}

/// What the caps cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextsLost {
    /// Tokens whose text was not kept because the shard's memory was full.
    pub tokens: u64,
}

#[derive(Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
    shard: u8,
}

impl Texts {
    /// A pool whose shards may each keep so many bytes.
    pub fn new(shard_bytes_max: u64) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            used_bytes: vec![0; SHARDS],
            shard_bytes_max,
            lost: TextsLost::default(),
        }
    }

    /// What the caps have cost so far.
    pub const fn lost(&self) -> TextsLost {
        self.lost
    }

    /// Bytes of unfinished tokens now, of all shards.
    pub fn held_bytes(&self) -> u64 {
        self.used_bytes.iter().sum()
    }

    /// Adds to the text of a token, up to `len_max` bytes in all.
    pub(crate) fn append(&mut self, saved: &mut Saved, shard: u8, bytes: &[u8], len_max: usize) {
        if saved.has_lost_text || bytes.is_empty() {
            return;
        }
        let Some(slot) = self.slot(saved, shard) else {
            return self.lose(saved);
        };
        let Some((text, used)) = self
            .slots
            .get_mut(slot)
            .zip(self.used_bytes.get_mut(usize::from(shard)))
        else {
            return;
        };
        let room = len_max.saturating_sub(text.bytes.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        let after = used.saturating_add(kept.len() as u64);
        if after > self.shard_bytes_max {
            return self.lose(saved);
        }
        *used = after;
        text.bytes.extend_from_slice(kept);
    }

    /// The text of a token, taken out; [`Texts::give_back`] takes the memory back.
    pub(crate) fn take(&mut self, saved: &mut Saved) -> Vec<u8> {
        let Some(slot) = self.slots.get_mut(saved.text as usize) else {
            return Vec::new();
        };
        let bytes = core::mem::take(&mut slot.bytes);
        if let Some(used) = self.used_bytes.get_mut(usize::from(slot.shard)) {
            *used = used.saturating_sub(bytes.len() as u64);
        }
        bytes
    }

    /// Takes back the memory of what was taken out, and releases the token.
    pub(crate) fn give_back(&mut self, slot: u32, mut bytes: Vec<u8>) {
        let Some(place) = self.slots.get_mut(slot as usize) else {
            return;
        };
        bytes.clear();
        // Long texts are rare: their memory is not kept, so that the pool stays small.
        if bytes.capacity() <= KEPT_BYTES_MAX {
            place.bytes = bytes;
        }
        self.free.push(slot);
    }

    /// Forgets the token.
    pub(crate) fn release(&mut self, saved: &mut Saved) {
        if saved.text != NO_TEXT {
            let bytes = self.take(saved);
            self.give_back(saved.text, bytes);
        }
        saved.text = NO_TEXT;
        saved.token_len = 0;
        saved.has_lost_text = false;
    }

    fn lose(&mut self, saved: &mut Saved) {
        let len = saved.token_len;
        self.release(saved);
        saved.token_len = len;
        saved.has_lost_text = true;
        self.lost.tokens = self.lost.tokens.saturating_add(1);
    }

    fn slot(&mut self, saved: &mut Saved, shard: u8) -> Option<usize> {
        if saved.text == NO_TEXT {
            let slot = match self.free.pop() {
                Some(slot) => slot,
                None => {
                    let slot = u32::try_from(self.slots.len()).ok()?;
                    self.slots.push(Slot::default());
                    slot
                }
            };
            saved.text = slot;
            self.slots.get_mut(slot as usize)?.shard = shard;
        }
        Some(saved.text as usize)
    }
}

const SHARDS: usize = 256;
const KEPT_BYTES_MAX: usize = 1024;
