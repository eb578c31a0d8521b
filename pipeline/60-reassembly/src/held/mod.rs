//! Bytes behind holes: pieces in pooled blocks, in a tree for each stream, capped by shard.
//!
//! ```text
//!  shard ──► oldest hole ─► … ─► newest          (who gives up when the shard is full)
//!               │
//!               ▼
//!             Queue: one stream's tree of pieces ─► Piece ─► block of 128, 512 or 2048 bytes
//! ```
//!
//! Owns pieces, blocks and queues, and knows no connections. Guarantees: pieces of a stream never
//! overlap; finding, adding or removing one takes O(log n); what is in use is charged to the
//! shard to the byte.

mod blocks;
mod insert;
mod queue;
mod tree;

pub(crate) use blocks::block_cost;
pub(crate) use insert::{Arrived, earlier, later};
pub(crate) use queue::{QUEUE_BYTES, Queue};
pub(crate) use tree::Piece;

use crate::connection::NIL;
use blocks::Blocks;
use flowpin_memory::{Reserved, Slab};
use flowpin_packet::{SHARD_COUNT, Seq};
use std::hash::{BuildHasher, RandomState};
use std::io;

/// All that a reassembler holds.
#[derive(Debug)]
pub(crate) struct Held {
    pieces: Slab<Piece>,
    queues: Slab<Queue>,
    blocks: Blocks,
    /// Memory in use, by shard.
    used: Reserved<u64>,
    /// The queue whose hole is the oldest, and the newest, plus one; by shard. 0: none.
    ends: Reserved<[u32; 2]>,
    shard_bytes: u64,
    /// State of the generator of tree priorities. Secret, so that nobody can choose numbers that
    /// make a tree degenerate; shapes of trees decide nothing that is told.
    dice: u64,
    pub(crate) steps: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) memory_bytes_max: u64,
}

impl Held {
    /// Room for what `shards` shards may hold, of `shard_bytes` each.
    pub(crate) fn new(shards: u32, shard_bytes: u64) -> io::Result<Self> {
        let total = shard_bytes.saturating_mul(u64::from(shards));
        let most = |each: u64| {
            let count = total.checked_div(each).unwrap_or(0);
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        Ok(Self {
            pieces: Slab::with_capacity(most(block_cost(1)))?,
            queues: Slab::with_capacity(most(QUEUE_BYTES))?,
            blocks: Blocks::new(&most)?,
            used: Reserved::new(SHARD_COUNT)?,
            ends: Reserved::new(SHARD_COUNT)?,
            shard_bytes,
            dice: RandomState::new().hash_one(0u8) | 1,
            steps: 0,
            memory_bytes: 0,
            memory_bytes_max: 0,
        })
    }

    /// Whether a shard may use `bytes` more.
    pub(crate) fn has_room(&self, shard: u8, bytes: u64) -> bool {
        let used = self.used.get(usize::from(shard)).copied().unwrap_or(0);
        used.saturating_add(bytes) <= self.shard_bytes
    }

    /// Charges a shard and a stream; false, and nothing is changed, if the shard is full.
    fn charge(&mut self, shard: u8, bytes: u64) -> bool {
        if !self.has_room(shard, bytes) {
            return false;
        }
        if let Some(used) = self.used.get_mut(usize::from(shard)) {
            *used = used.saturating_add(bytes);
        }
        self.memory_bytes = self.memory_bytes.saturating_add(bytes);
        self.memory_bytes_max = self.memory_bytes_max.max(self.memory_bytes);
        true
    }

    fn discharge(&mut self, shard: u8, bytes: u64) {
        if let Some(used) = self.used.get_mut(usize::from(shard)) {
            *used = used.saturating_sub(bytes);
        }
        self.memory_bytes = self.memory_bytes.saturating_sub(bytes);
    }

    /// A queue; one without pieces for [`NIL`].
    pub(crate) fn queue(&self, queue: u32) -> Queue {
        self.queues.get(queue).copied().unwrap_or(Queue::EMPTY)
    }

    /// The first piece of a stream.
    pub(crate) fn first(&mut self, queue: u32) -> Option<(u32, Piece)> {
        if queue == NIL {
            return None;
        }
        let root = self.queue(queue).root;
        let first = self.lowest(root)?;
        Some((first, self.piece(first)))
    }

    /// A piece's bytes.
    pub(crate) fn bytes(&self, piece: &Piece) -> &[u8] {
        let skip = usize::from(piece.skip);
        let bytes = self.blocks.bytes(piece.block);
        bytes
            .get(skip..skip.saturating_add(usize::from(piece.len)))
            .unwrap_or_default()
    }

    /// Takes `count` bytes off a stream's first piece; removes it if none are left.
    pub(crate) fn consume(&mut self, queue: u32, first: u32, count: u16) {
        let Some(piece) = self.pieces.get_mut(first) else {
            return;
        };
        if count < piece.len {
            piece.len = piece.len.wrapping_sub(count);
            piece.skip = piece.skip.wrapping_add(count);
            piece.start = piece.start.plus(u32::from(count));
            if let Some(queue) = self.queues.get_mut(queue) {
                queue.bytes = queue.bytes.saturating_sub(u32::from(count));
            }
        } else {
            self.remove_piece(queue, first);
        }
    }

    /// Drops a stream's first piece; returns how many bytes that were.
    pub(crate) fn drop_first(&mut self, queue: u32) -> u32 {
        let Some((handle, first)) = self.first(queue) else {
            return 0;
        };
        self.remove_piece(queue, handle);
        u32::from(first.len)
    }

    /// One past the last byte held of a stream; `next` if there is none.
    pub(crate) fn end(&mut self, queue: u32, next: Seq) -> Seq {
        let root = self.queue(queue).root;
        match self.highest(root) {
            Some(last) => self.piece(last).end(),
            None => next,
        }
    }
}
