//! Bytes after holes: pieces in pooled blocks, in a tree for each stream, capped by shard.
//!
//! ```text
//!  shard ──► oldest hole ─► … ─► newest          (evicted in this order if the shard is full)
//!               │
//!               ▼
//!             Queue: one stream's tree of pieces ─► Piece ─► block of 128, 512 or 2048 bytes
//! ```
//!
//! Owns pieces, blocks and queues, and knows no connections. Guarantees: pieces of a stream never
//! overlap; finding, adding or removing one takes O(log n); memory in use is taken from the shard's
//! budget, and is at most a part of it.

mod blocks;
mod fins;
mod insert;
mod queue;
mod tree;

pub(crate) use insert::{Arrived, earlier, later};
use queue::QUEUE_BYTES;
pub(crate) use queue::Queue;
pub(crate) use tree::{Piece, Standing};

use crate::connection::NIL;
use blocks::{Blocks, block_cost, cost};
use flowpin_memory::{Budget, Part, Pool, Reserved, Slab};
use flowpin_packet::{SHARD_COUNT, Seq};
use std::hash::{BuildHasher, RandomState};
use std::io;

/// Everything that a reassembler holds.
#[derive(Debug)]
pub(crate) struct Held {
    pieces: Slab<Piece>,
    queues: Slab<Queue>,
    blocks: Blocks,
    usage: Part,
    /// The queues with the oldest and the newest hole, plus one; by shard. 0: none.
    ends: Reserved<[u32; 2]>,
    /// State of the generator of tree priorities. Secret, so that an attacker cannot choose numbers
    /// that make a tree degenerate; the shapes of trees affect no output.
    dice: u64,
    pub(crate) steps: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) memory_bytes_max: u64,
}

impl Held {
    /// For `shards` shards, each of which uses at most `shard_bytes` of its budget.
    pub(crate) fn new(budget: Budget, shards: u32, shard_bytes: u64) -> io::Result<Self> {
        Ok(Self {
            pieces: Slab::with_capacity(budget.capacity_of(block_cost(0), shards))?,
            queues: Slab::with_capacity(budget.capacity_of(QUEUE_BYTES, shards))?,
            blocks: Blocks::new(&budget, shards)?,
            usage: Part::new(budget, shard_bytes),
            ends: Reserved::new(SHARD_COUNT)?,
            dice: RandomState::new().hash_one(0u8) | 1,
            steps: 0,
            memory_bytes: 0,
            memory_bytes_max: 0,
        })
    }

    /// The pools of all pieces.
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.pieces);
        visit(&mut self.queues);
        self.blocks.pools(visit);
    }

    /// Whether a shard may hold another segment of this many bytes.
    pub(crate) fn has_room(&self, shard: u8, len: usize) -> bool {
        let bytes = cost(len).saturating_add(QUEUE_BYTES);
        self.usage.has_room(shard, bytes)
    }

    /// The cost of a segment of this many bytes now.
    pub(crate) const fn cost(len: usize) -> u64 {
        cost(len)
    }

    /// Records memory that is in use from now on.
    fn charge(&mut self, bytes: u64) {
        self.memory_bytes = self.memory_bytes.saturating_add(bytes);
        self.memory_bytes_max = self.memory_bytes_max.max(self.memory_bytes);
    }

    fn discharge(&mut self, bytes: u64) {
        self.memory_bytes = self.memory_bytes.saturating_sub(bytes);
    }

    /// A queue; an empty one for [`NIL`].
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

    /// The last piece of a stream.
    pub(crate) fn last(&mut self, queue: u32) -> Option<Piece> {
        let root = self.queue(queue).root;
        let last = self.highest(root)?;
        Some(self.piece(last))
    }

    /// A piece's bytes.
    pub(crate) fn bytes(&self, piece: &Piece) -> &[u8] {
        let skip = usize::from(piece.skip);
        let bytes = self.blocks.bytes(piece.block);
        bytes
            .get(skip..skip.saturating_add(usize::from(piece.len)))
            .unwrap_or_default()
    }

    /// Removes `count` bytes from a stream's first piece; removes the piece if none are left.
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

    /// Removes a stream's first piece; returns its number of bytes.
    pub(crate) fn drop_first(&mut self, queue: u32) -> u32 {
        let Some((handle, first)) = self.first(queue) else {
            return 0;
        };
        self.remove_piece(queue, handle);
        u32::from(first.len)
    }

    /// Accepts a stream's first piece, whatever made it doubtful; of bytes beyond the window, those
    /// for which it is open now.
    pub(crate) fn trust_first(&mut self, queue: u32) {
        let first = self.first(queue).map(|(handle, _)| handle);
        if let Some(first) = first.and_then(|first| self.pieces.get_mut(first)) {
            first.standing = match first.standing {
                Standing::Beyond => Standing::Outside,
                _ => Standing::Expected,
            };
        }
    }

    /// Accepts everything that a stream holds, whatever made it doubtful.
    pub(crate) fn trust_all(&mut self, queue: u32) {
        let mut here = self.first(queue).map(|(handle, _)| handle);
        while let Some(piece) = here.and_then(|here| self.pieces.get_mut(here)) {
            piece.standing = Standing::Expected;
            let start = piece.start;
            here = self.above(self.queue(queue).root, start);
        }
    }

    /// Removes everything that a stream holds except doubtful bytes, and the queue if nothing is
    /// left; returns the number of bytes removed, and whether the queue still exists.
    pub(crate) fn keep_doubted(&mut self, queue: u32) -> (u32, bool) {
        let before = self.queue(queue).bytes;
        let mut here = self.lowest(self.queue(queue).root);
        while let Some(handle) = here {
            let piece = self.piece(handle);
            if piece.standing > Standing::Doubted {
                self.remove_piece(queue, handle);
            }
            here = self.above(self.queue(queue).root, piece.start);
        }
        let left = self.queue(queue).bytes;
        if left == 0 {
            self.close(queue);
        }
        (before.saturating_sub(left), left > 0)
    }

    /// One past the last byte that a stream holds; `next` if there is none.
    pub(crate) fn end(&mut self, queue: u32, next: Seq) -> Seq {
        let root = self.queue(queue).root;
        match self.highest(root) {
            Some(last) => self.piece(last).end(),
            None => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrived, Held, Standing};
    use crate::Extent;
    use flowpin_config::SegmentOverlap;
    use flowpin_memory::Budget;
    use flowpin_packet::Seq;

    /// Floods of any kind fill a shard to the part that held bytes may have, and no further, and
    /// leave nothing behind.
    #[test]
    fn floods_fill_their_part_of_the_budget_and_no_more() {
        let (shards, shard_bytes) = (4u32, 256u64 << 10);
        let budget = Budget::new(2 * shard_bytes);
        let mut held = Held::new(budget.clone(), shards, shard_bytes).unwrap();
        for len in [0usize, 1, 200, 2048, 513, 1] {
            let bytes = vec![7; len];
            let mut queues = Vec::new();
            for shard in 0..4u8 {
                while let Some(queue) = held.open(1, true, shard) {
                    queues.push(queue);
                    for nth in 0..8u32 {
                        let start = Seq(10 + nth * 4096);
                        let end = start.plus(u32::try_from(len).unwrap());
                        let arrived = Arrived {
                            start,
                            extent: Extent { start, end },
                            bytes: &bytes,
                            standing: Standing::Expected,
                        };
                        held.insert(queue, arrived, Seq(0), SegmentOverlap::First);
                    }
                }
            }
            for shard in 0..4 {
                let used = 2 * shard_bytes - budget.left(shard);
                assert!(used <= shard_bytes, "{used} of {shard_bytes}");
                assert!(used > shard_bytes / 10 * 9, "{used} of {shard_bytes}");
            }
            for queue in queues {
                held.close(queue);
            }
            assert!(budget.is_whole());
        }
    }
}
