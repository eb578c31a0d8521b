//! Records that are not acknowledged: whole lines, oldest first, each with a number.

use crate::stream::queue::{Unsent, records};
use crate::stream::spool::Segment;
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct Window {
    chunks: VecDeque<Chunk>,
    bytes: usize,
    /// The number of the next chunk's first record.
    next: u64,
    /// What is sent next: a chunk, and where in it.
    chunk: usize,
    offset: usize,
    line: usize,
}

/// Lines as they came.
struct Chunk {
    lines: Vec<u8>,
    first: u64,
    /// Which of them are settled: acknowledged, or counted.
    settled: Vec<bool>,
    open: usize,
    /// Where they are on disk, if they are.
    segment: Option<Segment>,
}

impl Window {
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, lines: Vec<u8>, segment: Option<Segment>) {
        let count = records(&lines) as usize;
        self.bytes += lines.len();
        self.chunks.push_back(Chunk {
            first: self.next,
            settled: vec![false; count],
            open: count,
            lines,
            segment,
        });
        self.next += count as u64;
    }

    /// Takes the lines of a segment; gives it back if it has none.
    pub(super) fn push_segment(&mut self, lines: Vec<u8>, segment: Segment) -> Option<Segment> {
        if lines.is_empty() {
            return Some(segment);
        }
        self.push(lines, Some(segment));
        None
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.chunk < self.chunks.len()
    }

    /// The next record to be sent, without its end of line.
    pub(super) fn next(&mut self) -> Option<(u64, &[u8])> {
        loop {
            let chunk = self.chunks.get(self.chunk)?;
            match chunk.settled.get(self.line) {
                None => {
                    (self.chunk, self.offset, self.line) = (self.chunk + 1, 0, 0);
                }
                Some(true) => self.sent(),
                Some(false) => break,
            }
        }
        let chunk = self.chunks.get(self.chunk)?;
        let rest = chunk.lines.get(self.offset..)?;
        let line = rest.split(|&byte| byte == b'\n').next()?;
        Some((chunk.first + self.line as u64, line))
    }

    /// The next record was sent.
    pub(super) fn sent(&mut self) {
        let Some(chunk) = self.chunks.get(self.chunk) else {
            return;
        };
        let rest = chunk.lines.get(self.offset..).unwrap_or_default();
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        self.offset += len;
        self.line += 1;
        if self.line == chunk.settled.len() {
            (self.chunk, self.offset, self.line) = (self.chunk + 1, 0, 0);
        }
    }

    /// A record needs nothing more.
    pub(super) fn settle(&mut self, number: u64) {
        let after = self.chunks.partition_point(|chunk| chunk.first <= number);
        let Some(chunk) = after.checked_sub(1).and_then(|at| self.chunks.get_mut(at)) else {
            return;
        };
        let at = usize::try_from(number - chunk.first).unwrap_or(usize::MAX);
        if let Some(settled @ false) = chunk.settled.get_mut(at) {
            *settled = true;
            chunk.open -= 1;
        }
    }

    /// Whether nothing is open up to and with a record.
    pub(super) fn is_settled_to(&self, number: u64) -> bool {
        let mut older = self.chunks.iter().take_while(|chunk| chunk.first <= number);
        older.all(|chunk| {
            let count = usize::try_from(number - chunk.first).unwrap_or(usize::MAX);
            let mut settled = chunk.settled.iter().take(count.saturating_add(1));
            chunk.open == 0 || settled.all(|settled| *settled)
        })
    }

    /// Forgets chunks that are settled; gives the segments that they were.
    pub(super) fn trim(&mut self) -> Vec<Segment> {
        let mut segments = Vec::new();
        while self.chunk > 0 && self.chunks.front().is_some_and(|chunk| chunk.open == 0) {
            let Some(chunk) = self.chunks.pop_front() else {
                break;
            };
            self.chunk -= 1;
            self.bytes -= chunk.lines.len();
            segments.extend(chunk.segment);
        }
        segments
    }

    /// All that is not settled is sent again.
    pub(super) fn rewind(&mut self) {
        (self.chunk, self.offset, self.line) = (0, 0, 0);
    }

    /// What is not settled, in order.
    pub(super) fn unsent(self) -> Vec<Unsent> {
        let mut all = Vec::new();
        for chunk in self.chunks.into_iter().filter(|chunk| chunk.open > 0) {
            if let Some(segment) = chunk.segment {
                all.push(Unsent::Segment(segment));
                continue;
            }
            let lines = chunk.lines.split_inclusive(|&byte| byte == b'\n');
            let open = lines.zip(&chunk.settled).filter(|(_, settled)| !**settled);
            let open = open.flat_map(|(line, _)| line).copied();
            match all.last_mut() {
                Some(Unsent::Lines(last)) => last.extend(open),
                _ => all.push(Unsent::Lines(open.collect())),
            }
        }
        all
    }
}
