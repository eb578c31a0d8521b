//! Bytes of a plain file, read before it is their turn.
//!
//! Which frames a piece has is known only when the piece before it was walked. Its bytes can be
//! read before that, on any thread: of reading, most is the copy out of the system's cache.
//!
//! ```text
//!  any thread                    in order, one at a time
//!  claim ─► fetch into a piece ─► fill: put what is left of the piece before in front ─► walk
//! ```
//!
//! What was fetched is a hint. If the file goes on elsewhere, because a record was longer than a
//! piece, say, [`Source::fill_fetched`](crate::Source::fill_fetched) reads for itself.

use crate::reader::{READ_ALIGN, REST_LEN_USUAL, read_len};
use flowpin_packet::Piece;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Which bytes of a file come next.
#[derive(Clone, Debug)]
pub struct Ahead {
    file: Arc<File>,
    offset: u64,
    /// How long the file was when it was opened.
    size: u64,
    piece_len: usize,
}

/// Bytes to be fetched.
#[derive(Debug)]
pub struct Claim {
    file: Arc<File>,
    offset: u64,
    len: usize,
}

/// Bytes that lie in a piece.
#[derive(Debug)]
pub struct Fetched {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
    /// Where in the piece, and how many.
    pub(crate) at: usize,
    pub(crate) len: usize,
}

impl Ahead {
    pub(crate) const fn new(file: Arc<File>, offset: u64, size: u64, piece_len: usize) -> Self {
        Self {
            file,
            offset,
            size,
            piece_len,
        }
    }

    /// The bytes of the next piece, which are to be fetched; none at the end of the file, and where
    /// it has grown since.
    pub fn claim(&mut self) -> Option<Claim> {
        let is_there = !self.is_over();
        is_there.then(|| Claim {
            file: Arc::clone(&self.file),
            offset: self.offset,
            len: self.pass(),
        })
    }

    /// Leaves the bytes of the next piece to somebody else; returns how many.
    pub fn pass(&mut self) -> usize {
        let len = read_len(self.offset, self.piece_len);
        self.offset = self.offset.saturating_add(len as u64);
        len
    }

    /// Whether nothing is left to be claimed.
    pub const fn is_over(&self) -> bool {
        self.offset >= self.size
    }
}

impl Claim {
    /// Reads the bytes into a piece, which is then to be [filled](crate::Source::fill_fetched).
    /// What cannot be read is left out: who fills the piece will learn why.
    pub fn fetch(self, piece: &mut Piece) -> Fetched {
        let Self { file, offset, len } = self;
        let past_border = usize::try_from(offset).unwrap_or(0) % READ_ALIGN;
        piece.make_room(REST_LEN_USUAL + 2 * READ_ALIGN + len);
        let address = piece.bytes.as_ptr().addr();
        let border = (address + REST_LEN_USUAL).next_multiple_of(READ_ALIGN) - address;
        let at = border + past_border;
        let into = piece.bytes.get_mut(at..at + len).unwrap_or_default();
        let len = read_full(&file, into, offset);
        Fetched {
            file,
            offset,
            at,
            len,
        }
    }
}

fn read_full(file: &File, into: &mut [u8], offset: u64) -> usize {
    let mut count = 0;
    while let Some(room) = into.get_mut(count..).filter(|room| !room.is_empty()) {
        match file.read_at(room, offset + count as u64) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    count
}
