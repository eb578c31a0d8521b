//! From the bytes of one direction, cut anywhere, to lines, ended by CRLF or by a bare LF.

use crate::KeptBytes;
use flowpin_memory::{Budget, Chain, Pool};
use std::io;

/// The incomplete line of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartialLine {
    held: Chain,
    /// The line is longer than its held bytes.
    is_cut: bool,
    /// Bytes are missing before it: it may be the rest of a line.
    is_rest: bool,
}

/// A line without its terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its bytes, as far as they are kept.
    pub text: &'a [u8],
    /// The line was truncated, or has no terminator.
    pub is_cut: bool,
    /// It may be the rest of a line whose beginning is missing.
    pub is_rest: bool,
}

/// The lines of all connections of a parser.
///
/// The beginning of a line that has not ended is charged to the memory of its shard. Bytes beyond
/// the maximum, or beyond the memory of the shard, are skipped; such lines are counted.
///
/// ```
/// use flowpin_memory::Budget;
/// use flowpin_parser::{Lines, PartialLine};
///
/// let mut lines = Lines::new(&Budget::new(1 << 20), 512)?;
/// let mut client = PartialLine::default();
/// let (used, line) = lines.next(&mut client, 7, b"HEL");
/// assert_eq!((used, line), (3, None));
/// let (used, line) = lines.next(&mut client, 7, b"O\r\nQUIT\r\n");
/// assert_eq!((used, line.unwrap().text), (3, &b"HELO"[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines {
    kept: KeptBytes,
    /// A line that arrived in parts.
    whole: Vec<u8>,
    bytes_max: usize,
    cut: u64,
}

impl Lines {
    /// Lines of at most `bytes_max` bytes without their terminators.
    ///
    /// # Errors
    /// If the system refuses the address space.
    pub fn new(budget: &Budget, bytes_max: usize) -> io::Result<Self> {
        Ok(Self {
            kept: KeptBytes::new(budget, BLOCK_BYTES)?,
            whole: Vec::with_capacity(bytes_max.saturating_add(1)),
            bytes_max,
            cut: 0,
        })
    }

    /// The pool of lines that are incomplete.
    pub fn pool(&mut self) -> &mut dyn Pool {
        self.kept.pool()
    }

    /// Reads the first line of `bytes` and returns the number of bytes used. An incomplete line is
    /// held.
    pub fn next<'a>(
        &'a mut self,
        side: &mut PartialLine,
        shard: u8,
        bytes: &'a [u8],
    ) -> (usize, Option<Line<'a>>) {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.hold(side, shard, bytes);
            return (bytes.len(), None);
        };
        let used = end.saturating_add(1);
        let last = bytes.get(..end).unwrap_or_default();
        if side.held.is_empty() && !side.is_cut {
            let is_rest = core::mem::take(&mut side.is_rest);
            return (used, Some(self.whole_line(last, is_rest)));
        }
        self.hold(side, shard, last);
        (used, Some(self.take(side, shard)))
    }

    /// Drops the held bytes, since bytes are missing: the next ones may be the rest of a line.
    pub fn lose(&mut self, side: &mut PartialLine, shard: u8) {
        self.release(side, shard);
        side.is_rest = true;
    }

    /// The last line of a direction that has ended, if it has no terminator.
    pub fn rest(&mut self, side: &mut PartialLine, shard: u8) -> Option<Line<'_>> {
        if side.held.is_empty() {
            *side = PartialLine::default();
            return None;
        }
        let line = self.take(side, shard);
        Some(Line {
            is_cut: true,
            ..line
        })
    }

    /// Forgets the incomplete line.
    pub fn release(&mut self, side: &mut PartialLine, shard: u8) {
        self.kept.release(shard, &mut side.held);
        *side = PartialLine::default();
    }

    /// Lines so far of which bytes were skipped.
    pub const fn cut_count(&self) -> u64 {
        self.cut
    }

    /// Takes the held bytes as a line.
    fn take(&mut self, side: &mut PartialLine, shard: u8) -> Line<'_> {
        self.whole.clear();
        self.kept.read(&side.held, &mut self.whole);
        let PartialLine {
            is_cut, is_rest, ..
        } = *side;
        self.release(side, shard);
        let text = if is_cut {
            self.whole.get(..self.bytes_max).unwrap_or(&self.whole)
        } else {
            without_return(&self.whole)
        };
        Line {
            text,
            is_cut,
            is_rest,
        }
    }

    /// Holds the beginning of a line.
    fn hold(&mut self, side: &mut PartialLine, shard: u8, bytes: &[u8]) {
        if side.is_cut {
            return;
        }
        // One byte more than the maximum: the `\r` at the end of the longest line does not count.
        let room = self.bytes_max.saturating_add(1);
        let room = room.saturating_sub(side.held.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        let is_kept = self.kept.append(shard, &mut side.held, kept);
        let is_longest = side.held.len() > self.bytes_max;
        let is_return = kept.last().is_none_or(|&last| last == b'\r');
        if !is_kept || kept.len() < bytes.len() || is_longest && !is_return {
            side.is_cut = true;
            self.cut = self.cut.saturating_add(1);
        }
    }

    /// A line that arrived in one piece.
    fn whole_line<'a>(&mut self, text: &'a [u8], is_rest: bool) -> Line<'a> {
        let text = without_return(text);
        let kept = text.get(..self.bytes_max).unwrap_or(text);
        let is_cut = kept.len() < text.len();
        self.cut = self.cut.saturating_add(u64::from(is_cut));
        Line {
            text: kept,
            is_cut,
            is_rest,
        }
    }
}

fn without_return(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Most lines that are cut by segments fit into one block.
const BLOCK_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::{Lines, PartialLine};
    use flowpin_memory::Budget;
    use proptest::prelude::*;

    /// The lines of pieces, whether they were cut, and how many were.
    fn lines<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
        bytes_max: usize,
    ) -> (Vec<(Vec<u8>, bool)>, u64) {
        let budget = Budget::new(1 << 16);
        let (mut side, mut lines) = (
            PartialLine::default(),
            Lines::new(&budget, bytes_max).unwrap(),
        );
        let mut found = Vec::new();
        for mut piece in pieces {
            while !piece.is_empty() {
                let (used, line) = lines.next(&mut side, 0, piece);
                found.extend(line.map(|line| (line.text.to_vec(), line.is_cut)));
                piece = &piece[used..];
            }
        }
        let rest = lines.rest(&mut side, 0);
        found.extend(rest.map(|line| (line.text.to_vec(), line.is_cut)));
        assert!(budget.is_whole());
        (found, lines.cut_count())
    }

    /// A line of the maximum length is complete, one byte more is cut, with either terminator.
    #[test]
    fn the_longest_line_is_complete() {
        for end in ["\r\n", "\n"] {
            for piece in [1, 3, 8, 9, 10, 100] {
                let text = format!("12345678{end}123456789{end}x{end}");
                let (found, cut) = lines(text.as_bytes().chunks(piece), 8);
                assert_eq!(found[0], (b"12345678".to_vec(), false), "{piece}");
                assert_eq!(found[1], (b"12345678".to_vec(), true), "{piece}");
                assert_eq!(found[2], (b"x".to_vec(), false), "{piece}");
                assert_eq!(cut, 1, "{piece}");
            }
        }
    }

    /// Without memory a line is cut and counted, and the next one is read.
    #[test]
    fn a_shard_without_memory_cuts_lines() {
        let budget = Budget::new(100);
        let (mut side, mut lines) = (PartialLine::default(), Lines::new(&budget, 512).unwrap());
        assert_eq!(lines.next(&mut side, 3, &[b'x'; 70]), (70, None));
        let line = lines.next(&mut side, 3, b"\nyes\n");
        assert!(line.1.unwrap().is_cut);
        assert_eq!(lines.next(&mut side, 3, b"yes\n").1.unwrap().text, b"yes");
        assert_eq!(lines.cut_count(), 1);
        assert!(budget.is_whole());
    }

    /// After missing bytes, the next line may be the rest of one, and only that.
    #[test]
    fn what_follows_missing_bytes_may_be_a_rest() {
        let budget = Budget::new(1 << 16);
        let (mut side, mut lines) = (PartialLine::default(), Lines::new(&budget, 512).unwrap());
        lines.next(&mut side, 3, b"begun");
        lines.lose(&mut side, 3);
        assert!(budget.is_whole());
        let (used, line) = lines.next(&mut side, 3, b"rest\nline\n");
        let line = line.unwrap();
        assert_eq!((used, line.text, line.is_rest), (5, &b"rest"[..], true));
        assert!(!lines.next(&mut side, 3, b"line\n").1.unwrap().is_rest);
    }

    proptest! {
        /// The lines do not depend on where bytes are cut.
        #[test]
        fn pieces_have_the_lines_of_the_whole(
            bytes in prop::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..60),
            piece in 1_usize..9,
            bytes_max in 1_usize..12,
        ) {
            let whole = lines([bytes.as_slice()], bytes_max);
            prop_assert_eq!(lines(bytes.chunks(piece), bytes_max).0, whole.0);
        }
    }
}
