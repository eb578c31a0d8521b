//! Inserts a segment into the tree, deciding overlaps piece by piece.

use super::blocks::{Block, PIECE_BYTES_MAX, block_cost};
use super::{Held, Piece, Queue, Standing};
use crate::Extent;
use crate::connection::NIL;
use crate::policy::new_wins;
use flowpin_config::SegmentOverlap;
use flowpin_packet::Seq;
use std::cmp::Ordering;

/// A segment's bytes, as far as they are relevant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'a> {
    pub(crate) start: Seq,
    /// The new part of the whole segment: policies compare that.
    pub(crate) extent: Extent,
    pub(crate) bytes: &'a [u8],
    pub(crate) standing: Standing,
}

/// What became of a segment's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inserted {
    /// Stored.
    pub(crate) stored: u32,
    /// Bytes, of this segment or of earlier ones, that lost to others.
    pub(crate) overlapped: u32,
    /// Bytes for which there was no room.
    pub(crate) no_room: u32,
    /// Some of the overlapped ones were different.
    pub(crate) differs: bool,
}

impl Held {
    /// Stores the bytes that the policy gives to a segment, and nothing before `next`.
    pub(crate) fn insert(
        &mut self,
        queue: u32,
        arrived: Arrived<'_>,
        next: Seq,
        policy: SegmentOverlap,
    ) -> Inserted {
        let mut done = Inserted::default();
        let len = u32::try_from(arrived.bytes.len()).unwrap_or(u32::MAX);
        let end = arrived.start.plus(len);
        // `at`: everything before is decided. `run`: the bytes won so far, up to `at`.
        let (mut at, mut run) = (arrived.start, arrived.start);
        while let Some(handle) = self.overlapping(queue, at, end) {
            let piece = self.piece(handle);
            let from = later(piece.start, at);
            let to = earlier(piece.end(), end);
            let count = to.0.wrapping_sub(from.0);
            done.overlapped = done.overlapped.saturating_add(count);
            done.differs |= self.part(&piece, from, to) != arrived.part(from, to);
            let old = Extent {
                start: later(piece.run.start, next),
                end: piece.run.end,
            };
            let new_wins = match arrived.standing.cmp(&piece.standing) {
                Ordering::Greater => true,
                Ordering::Less => false,
                Ordering::Equal => new_wins(policy, old, arrived.extent),
            };
            if new_wins {
                done.no_room = done
                    .no_room
                    .saturating_add(self.cut(queue, handle, from, to));
            } else {
                self.store(queue, &arrived, run, from, &mut done);
                run = to;
            }
            at = to;
        }
        self.store(queue, &arrived, run, end, &mut done);
        done
    }

    /// The piece that has the byte `at`.
    pub(super) fn at(&mut self, queue: u32, at: Seq) -> Option<Piece> {
        let found = self.overlapping(queue, at, at.plus(1))?;
        Some(self.piece(found))
    }

    /// The first piece that has bytes in `at..end`.
    fn overlapping(&mut self, queue: u32, at: Seq, end: Seq) -> Option<u32> {
        if !end.is_after(at) {
            return None;
        }
        let Queue {
            root, end: last, ..
        } = self.queue(queue);
        // After a hole most segments come in order: no search needed.
        if root == NIL || !last.is_after(at) {
            return None;
        }
        if let Some(before) = self.floor(root, at)
            && self.piece(before).end().is_after(at)
        {
            return Some(before);
        }
        let behind = self.above(root, at)?;
        end.is_after(self.piece(behind).start).then_some(behind)
    }

    /// Stores the bytes `from..to` of a segment, where nothing is stored yet.
    fn store(
        &mut self,
        queue: u32,
        arrived: &Arrived<'_>,
        from: Seq,
        to: Seq,
        done: &mut Inserted,
    ) {
        if !to.is_after(from) {
            return;
        }
        let run = Extent {
            start: from,
            end: to,
        };
        let mut at = from;
        for chunk in arrived.part(from, to).chunks(PIECE_BYTES_MAX) {
            let len = u16::try_from(chunk.len()).unwrap_or(0);
            match self.take_block(queue, chunk.len()) {
                Some(block) => {
                    if let Some(to) = self.blocks.bytes_mut(block).get_mut(..chunk.len()) {
                        to.copy_from_slice(chunk);
                    }
                    self.add_piece(queue, Piece::new(at, len, run, arrived.standing, block));
                    done.stored = done.stored.saturating_add(u32::from(len));
                }
                None => done.no_room = done.no_room.saturating_add(u32::from(len)),
            }
            at = at.plus(u32::from(len));
        }
    }

    /// Removes the bytes `from..to` of a piece; the rest of its run becomes two. Returns how many
    /// bytes of the rest were lost because there was no room to store them apart.
    fn cut(&mut self, queue: u32, handle: u32, from: Seq, to: Seq) -> u32 {
        let piece = self.piece(handle);
        self.divide_run(queue, &piece, from, to);
        let before = from.0.wrapping_sub(piece.start.0);
        let behind = piece.end().0.wrapping_sub(to.0);
        let mut lost = 0;
        if behind > 0 && before > 0 {
            lost = self.keep_behind(queue, &piece, to);
        }
        let Some(kept) = self.pieces.get_mut(handle) else {
            return lost;
        };
        if before > 0 {
            kept.len = u16::try_from(before).unwrap_or(0);
            kept.run.end = from;
        } else if behind > 0 {
            // Pieces do not overlap, so their order stays.
            let gone = u16::try_from(to.0.wrapping_sub(piece.start.0)).unwrap_or(0);
            kept.start = to;
            kept.run.start = to;
            kept.skip = kept.skip.wrapping_add(gone);
            kept.len = kept.len.wrapping_sub(gone);
        } else {
            self.remove_piece(queue, handle);
            return lost;
        }
        let left = if before > 0 { before } else { behind };
        if let Some(queue) = self.queues.get_mut(queue) {
            let gone = u32::from(piece.len).saturating_sub(left);
            queue.bytes = queue.bytes.saturating_sub(gone);
        }
        lost
    }

    /// Stores the part of a piece after `to` as a piece of its own.
    fn keep_behind(&mut self, queue: u32, piece: &Piece, to: Seq) -> u32 {
        let mut copy = [0; PIECE_BYTES_MAX];
        let rest = self.part(piece, to, piece.end());
        let len = rest.len();
        if let Some(copy) = copy.get_mut(..len) {
            copy.copy_from_slice(rest);
        }
        let short = u16::try_from(len).unwrap_or(0);
        let Some(block) = self.take_block(queue, len) else {
            return u32::from(short);
        };
        if let Some(bytes) = self.blocks.bytes_mut(block).get_mut(..len) {
            bytes.copy_from_slice(copy.get(..len).unwrap_or_default());
        }
        let run = Extent {
            start: to,
            end: piece.run.end,
        };
        self.add_piece(queue, Piece::new(to, short, run, piece.standing, block));
        0
    }

    /// Other pieces of the same run (a segment of more than one block) end or begin at the cut from
    /// now on.
    fn divide_run(&mut self, queue: u32, piece: &Piece, from: Seq, to: Seq) {
        let whole = piece.run.start == piece.start && piece.run.end == piece.end();
        if whole {
            return;
        }
        let root = self.queue(queue).root;
        let mut here = match self.floor(root, piece.run.start) {
            // Bytes before it may have been delivered.
            None => self.lowest(root),
            first => first,
        };
        while let Some(handle) = here {
            let Some(other) = self.pieces.get_mut(handle) else {
                return;
            };
            let start = other.start;
            if other.run == piece.run {
                if from.is_after(start) {
                    other.run.end = from;
                } else if !to.is_after(start) {
                    other.run.start = to;
                }
            } else if !piece.run.end.is_after(start) {
                return;
            }
            here = self.above(root, start);
        }
    }

    fn part(&self, piece: &Piece, from: Seq, to: Seq) -> &[u8] {
        part_of(self.bytes(piece), piece.start, from, to)
    }

    fn take_block(&mut self, queue: u32, len: usize) -> Option<Block> {
        let shard = self.queue(queue).shard;
        let cost = block_cost(len);
        if !self.usage.take(shard, cost) {
            return None;
        }
        let block = self.blocks.take(len);
        match block {
            Some(block) => self.charge(block.cost()),
            None => self.usage.give_back(shard, cost),
        }
        block
    }

    fn free_block(&mut self, shard: u8, block: Block) {
        self.blocks.put_back(block);
        self.usage.give_back(shard, block.cost());
        self.discharge(block.cost());
    }

    fn add_piece(&mut self, queue: u32, piece: Piece) {
        let Some(handle) = self.pieces.insert(piece) else {
            self.free_block(self.queue(queue).shard, piece.block);
            return;
        };
        let old = self.queue(queue);
        let root = self.link(old.root, handle);
        let end = if old.root == NIL {
            piece.end()
        } else {
            later(old.end, piece.end())
        };
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.end = end;
            queue.root = root;
            queue.bytes = queue.bytes.saturating_add(u32::from(piece.len));
            let cost = u32::try_from(piece.block.cost()).unwrap_or(0);
            queue.cost = queue.cost.saturating_add(cost);
        }
    }

    pub(super) fn remove_piece(&mut self, queue: u32, handle: u32) {
        let piece = self.piece(handle);
        let old = self.queue(queue);
        let root = self.unlink(old.root, handle);
        self.pieces.remove(handle);
        self.free_block(old.shard, piece.block);
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.root = root;
            queue.bytes = queue.bytes.saturating_sub(u32::from(piece.len));
            let cost = u32::try_from(piece.block.cost()).unwrap_or(0);
            queue.cost = queue.cost.saturating_sub(cost);
        }
    }
}

impl<'a> Arrived<'a> {
    fn part(&self, from: Seq, to: Seq) -> &'a [u8] {
        part_of(self.bytes, self.start, from, to)
    }
}

/// The part `from..to` of bytes that begin at `start`.
fn part_of(bytes: &[u8], start: Seq, from: Seq, to: Seq) -> &[u8] {
    let skip = from.0.wrapping_sub(start.0) as usize;
    let end = to.0.wrapping_sub(start.0) as usize;
    bytes.get(skip..end).unwrap_or_default()
}

pub(crate) fn later(one: Seq, other: Seq) -> Seq {
    if one.is_after(other) { one } else { other }
}

pub(crate) fn earlier(one: Seq, other: Seq) -> Seq {
    if one.is_after(other) { other } else { one }
}
