//! The pieces of a hand-off: which are home, and who still reads the others.

use crate::batch::SharedPiece;
use flowpin_packet::Piece;
use std::sync::Arc;

/// A reference count that is used for one piece after the other, so that sending a piece
/// allocates nothing.
#[derive(Debug, Default)]
struct Shell {
    piece: Arc<Piece>,
    /// Batches out that refer to the piece.
    readers: usize,
}

/// The input's pieces. At most as many are out as there are shells.
#[derive(Debug)]
pub(crate) struct Pieces {
    shells: Vec<Shell>,
    free_shells: Vec<usize>,
    /// Pieces at home, the one that came last on top: its bytes are still in the cache.
    home: Vec<Piece>,
}

impl Pieces {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            shells: (0..count).map(|_| Shell::default()).collect(),
            free_shells: (0..count).collect(),
            home: Vec::with_capacity(count),
        }
    }

    /// How many may go out.
    pub(crate) const fn free(&self) -> usize {
        self.free_shells.len()
    }

    /// A piece to fill: the one that came home last, else a new one.
    pub(crate) fn take(&mut self) -> Piece {
        self.home.pop().unwrap_or_default()
    }

    /// Keeps a piece for later; more than can be out are not worth keeping.
    pub(crate) fn keep(&mut self, piece: Piece) {
        if self.home.len() < self.shells.len() {
            self.home.push(piece);
        }
    }

    /// Puts a filled piece into a free shell and returns the shell; `None` if none is free.
    pub(crate) fn enclose(&mut self, piece: Piece) -> Option<usize> {
        let index = self.free_shells.pop()?;
        let shell = self.shells.get_mut(index)?;
        // No batch refers to a free shell (see `settle`), so this is the only reference.
        *Arc::get_mut(&mut shell.piece)? = piece;
        Some(index)
    }

    /// A reference to the piece in a shell, for one batch.
    pub(crate) fn lend(&mut self, index: usize) -> Option<SharedPiece> {
        let shell = self.shells.get_mut(index)?;
        shell.readers += 1;
        Some(SharedPiece {
            piece: Arc::clone(&shell.piece),
            shell: index,
        })
    }

    /// Takes a batch's reference back.
    pub(crate) fn give_back(&mut self, shared: SharedPiece) {
        let SharedPiece {
            piece,
            shell: index,
        } = shared;
        drop(piece);
        if let Some(shell) = self.shells.get_mut(index) {
            shell.readers = shell.readers.saturating_sub(1);
        }
        self.settle(index);
    }

    /// Brings a piece home if no batch refers to it (any more).
    pub(crate) fn settle(&mut self, index: usize) {
        let Some(shell) = self.shells.get_mut(index) else {
            return;
        };
        if shell.readers > 0 {
            return;
        }
        // Counted references are all there are: batches do not give theirs away. Were one
        // missing all the same, the shell stays out rather than be filled while it is read.
        let only = Arc::get_mut(&mut shell.piece).map(core::mem::take);
        debug_assert!(
            only.is_some(),
            "a piece is read by somebody who was not counted"
        );
        if let Some(piece) = only {
            self.free_shells.push(index);
            self.keep(piece);
        }
    }
}
