//! The pieces of one stream, ordered by their first byte: a treap.
//!
//! A node's priority is drawn when it is made, and no node has a higher one than its parent, so
//! that the tree is as deep as a random one, whatever the order of the keys: O(log n).

use super::Held;
use super::blocks::Block;
use crate::Extent;
use crate::connection::NIL;
use flowpin_packet::Seq;

/// Bytes of one segment, in one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) start: Seq,
    /// The contiguous part of its segment that is left around it: policies compare that. Its start
    /// may have been delivered.
    pub(crate) run: Extent,
    left: u32,
    right: u32,
    priority: u32,
    pub(super) block: Block,
    /// Offset of its bytes in the block.
    pub(super) skip: u16,
    pub(crate) len: u16,
    pub(crate) standing: Standing,
}

/// Whether the receiver accepts a segment's bytes, as far as known: of two segments in the same
/// place, the one that is more likely to be accepted wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// The receiver refuses its segment for an old time stamp or an acknowledgement that is too
    /// old, as far as its state is known. Counts as far as the receiver acknowledges.
    Refused,
    /// It acknowledges bytes that the receiver was not seen to send. If they were never sent, the
    /// receiver has dropped it. Counts as far as the receiver acknowledges.
    Doubted,
    /// Its segment begins at or after the end of the receiver's window: the receiver drops it,
    /// however far it opens its window later. Counts as far as the receiver acknowledges.
    Beyond,
    /// It lies outside the receiver's window: the receiver drops it, unless it has already moved
    /// its window and the capture shows that later.
    Outside,
    /// No objection.
    Expected,
}

impl Piece {
    pub(super) const fn new(
        start: Seq,
        len: u16,
        run: Extent,
        standing: Standing,
        block: Block,
    ) -> Self {
        Self {
            start,
            run,
            left: NIL,
            right: NIL,
            priority: 0,
            block,
            skip: 0,
            len,
            standing,
        }
    }

    pub(crate) const fn end(&self) -> Seq {
        self.start.plus(self.len as u32)
    }
}

impl Held {
    /// A piece; an empty one for a handle that was never given out.
    pub(crate) fn piece(&self, piece: u32) -> Piece {
        self.pieces.get(piece).copied().unwrap_or(Piece::new(
            Seq(0),
            0,
            Extent {
                start: Seq(0),
                end: Seq(0),
            },
            Standing::Doubted,
            Block::NONE,
        ))
    }

    /// The last piece that starts at or before `at`.
    pub(super) fn floor(&mut self, root: u32, at: Seq) -> Option<u32> {
        let (mut here, mut found) = (root, None);
        while let Some(piece) = self.visit(here) {
            (here, found) = if piece.start.is_after(at) {
                (piece.left, found)
            } else {
                (piece.right, Some(here))
            };
        }
        found
    }

    /// The first piece that starts after `at`.
    pub(super) fn above(&mut self, root: u32, at: Seq) -> Option<u32> {
        let (mut here, mut found) = (root, None);
        while let Some(piece) = self.visit(here) {
            (here, found) = if piece.start.is_after(at) {
                (piece.left, Some(here))
            } else {
                (piece.right, found)
            };
        }
        found
    }

    /// The first piece of all.
    pub(super) fn lowest(&mut self, root: u32) -> Option<u32> {
        let (mut here, mut found) = (root, None);
        while let Some(piece) = self.visit(here) {
            (here, found) = (piece.left, Some(here));
        }
        found
    }

    /// The last piece of all.
    pub(super) fn highest(&mut self, root: u32) -> Option<u32> {
        let (mut here, mut found) = (root, None);
        while let Some(piece) = self.visit(here) {
            (here, found) = (piece.right, Some(here));
        }
        found
    }

    fn visit(&mut self, piece: u32) -> Option<&Piece> {
        self.steps = self.steps.wrapping_add(1);
        self.pieces.get(piece)
    }

    /// Inserts a piece into a tree, at the place of `root`; returns the new root.
    pub(super) fn link(&mut self, root: u32, piece: u32) -> u32 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        let [a, b, c, d, ..] = self.dice.to_be_bytes();
        if let Some(new) = self.pieces.get_mut(piece) {
            new.priority = u32::from_be_bytes([a, b, c, d]);
        }
        self.link_at(root, piece)
    }

    fn link_at(&mut self, root: u32, piece: u32) -> u32 {
        let new = self.piece(piece);
        let Some(here) = self.visit(root).copied() else {
            return piece;
        };
        if new.priority > here.priority {
            let (left, right) = self.split(root, new.start);
            self.set_children(piece, left, right);
            return piece;
        }
        if new.start.is_after(here.start) {
            let right = self.link_at(here.right, piece);
            self.set_children(root, here.left, right);
        } else {
            let left = self.link_at(here.left, piece);
            self.set_children(root, left, here.right);
        }
        root
    }

    /// Removes a piece from a tree; returns the new root.
    pub(super) fn unlink(&mut self, root: u32, piece: u32) -> u32 {
        let start = self.piece(piece).start;
        let Some(here) = self.visit(root).copied() else {
            return NIL;
        };
        if root == piece {
            return self.merge(here.left, here.right);
        }
        if start.is_after(here.start) {
            let right = self.unlink(here.right, piece);
            self.set_children(root, here.left, right);
        } else {
            let left = self.unlink(here.left, piece);
            self.set_children(root, left, here.right);
        }
        root
    }

    /// The pieces that start before `at`, and the others.
    fn split(&mut self, root: u32, at: Seq) -> (u32, u32) {
        let Some(here) = self.visit(root).copied() else {
            return (NIL, NIL);
        };
        if at.is_after(here.start) {
            let (left, right) = self.split(here.right, at);
            self.set_children(root, here.left, left);
            (root, right)
        } else {
            let (left, right) = self.split(here.left, at);
            self.set_children(root, right, here.right);
            (left, root)
        }
    }

    /// Joins two trees, all of the first before all of the second.
    fn merge(&mut self, first: u32, second: u32) -> u32 {
        let Some(left) = self.visit(first).copied() else {
            return second;
        };
        let Some(right) = self.visit(second).copied() else {
            return first;
        };
        if left.priority > right.priority {
            let below = self.merge(left.right, second);
            self.set_children(first, left.left, below);
            first
        } else {
            let below = self.merge(first, right.left);
            self.set_children(second, below, right.right);
            second
        }
    }

    fn set_children(&mut self, piece: u32, left: u32, right: u32) {
        if let Some(piece) = self.pieces.get_mut(piece) {
            (piece.left, piece.right) = (left, right);
        }
    }
}
