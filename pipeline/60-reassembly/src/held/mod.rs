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
//! overlap; finding, adding or removing one takes O(log n); memory in use is charged to the shard,
//! and memory that was ever in use, and so is resident, never exceeds the cap.

mod blocks;
mod insert;
mod queue;
mod tree;

pub(crate) use insert::{Arrived, earlier, later};
pub(crate) use queue::Queue;
pub(crate) use tree::{Piece, Standing};

use crate::connection::NIL;
use blocks::{Amounts, Blocks, Usage};
use flowpin_memory::{Reserved, Slab};
use flowpin_packet::{SHARD_COUNT, Seq};
use std::hash::{BuildHasher, RandomState};
use std::io;

/// Everything that a reassembler holds.
#[derive(Debug)]
pub(crate) struct Held {
    pieces: Slab<Piece>,
    queues: Slab<Queue>,
    blocks: Blocks,
    usage: Usage,
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
    /// Room for `shards` shards of `shard_bytes` each.
    pub(crate) fn new(shards: u32, shard_bytes: u64) -> io::Result<Self> {
        let each = Amounts::within(shard_bytes);
        let all = each.times(shards);
        Ok(Self {
            pieces: Slab::with_capacity(all.all_pieces())?,
            queues: Slab::with_capacity(all.queues())?,
            blocks: Blocks::new(&all)?,
            usage: Usage::new(each)?,
            ends: Reserved::new(SHARD_COUNT)?,
            dice: RandomState::new().hash_one(0u8) | 1,
            steps: 0,
            memory_bytes: 0,
            memory_bytes_max: 0,
        })
    }

    /// Whether a shard may hold another segment of this many bytes.
    pub(crate) fn has_room(&self, shard: u8, len: usize) -> bool {
        self.usage.has_room(shard, len)
    }

    /// The cost of a segment of this many bytes now.
    pub(crate) fn cost(&self, shard: u8, len: usize) -> u64 {
        self.usage.cost(shard, len)
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

    /// Removes everything that a stream holds except doubtful bytes, and the queue if nothing is
    /// left; returns the number of bytes removed, and whether the queue still exists.
    pub(crate) fn keep_doubted(&mut self, queue: u32) -> (u32, bool) {
        let before = self.queue(queue).bytes;
        let mut here = self.lowest(self.queue(queue).root);
        while let Some(handle) = here {
            let piece = self.piece(handle);
            if piece.standing != Standing::Doubted {
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
    use super::queue::QUEUE_BYTES;
    use super::{Arrived, Held, Piece, Standing};
    use crate::Extent;
    use flowpin_config::SegmentOverlap;
    use flowpin_packet::Seq;

    /// Memory that was used once stays resident: so successive floods of different kinds, each of
    /// which fills all that it can, must not add up to more than the cap.
    #[test]
    fn what_was_ever_in_use_stays_within_the_memory() {
        let (shards, shard_bytes) = (4u32, 256u64 << 10);
        let mut held = Held::new(shards, shard_bytes).unwrap();
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
            for queue in queues {
                held.close(queue);
            }
            assert_eq!(held.memory_bytes, 0);
        }
        let nodes = u64::from(held.pieces.high_water()) * (size_of::<Piece>() as u64 + 4);
        let queues = u64::from(held.queues.high_water()) * QUEUE_BYTES;
        let resident = held.blocks.resident_bytes() + nodes + queues;
        let cap = shard_bytes * u64::from(shards);
        assert!(resident <= cap, "{resident} of {cap}");
        assert!(resident > cap / 10 * 9, "{resident} of {cap}");
    }
}
