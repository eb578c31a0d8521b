//! Captures that overlap in time: frames copied into the piece, the earliest first.

use super::{Lane, Source};
use flowpin_packet::{Frame, Piece, Timestamp};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The captures that are merged: time of the next frame and index of each, earliest first; at
/// the same time the one that was named first.
#[derive(Default)]
pub(super) struct Merge {
    heads: BinaryHeap<Reverse<(Timestamp, usize)>>,
}

impl Merge {
    /// The time of the next frame.
    pub(super) fn next_time(&self) -> Option<Timestamp> {
        self.heads.peek().map(|Reverse((time, _))| *time)
    }
}

impl Source {
    /// Lets a capture take part, from its next frame on. False if it has no more.
    pub(super) fn enter(&mut self, index: usize) -> bool {
        let read_len = self.piece_len.min(MERGE_READ_LEN);
        let many = self.merge.heads.len() >= HELD_OPEN_MAX;
        let head = self.files.reader(index).and_then(|reader| {
            if many {
                reader.let_go();
            }
            reader.head(read_len)
        });
        match head {
            Some(frame) => self.merge.heads.push(Reverse((frame.time, index))),
            None => self.close(index),
        }
        head.is_some()
    }

    /// Fills a piece from the captures that overlap. False if there are not two of them any
    /// more: then the lane is set for the one that is left.
    pub(super) fn fill_merged(&mut self, piece: &mut Piece, mut frames: Vec<(Frame, u64)>) -> bool {
        frames.clear();
        // Counts frames that are left out too, so that the caller hears from us even if
        // nothing is delivered for hours.
        let mut looked_at = 0;
        while self.remaining > 0 && looked_at < self.piece_len {
            self.admit();
            if self.merge.heads.len() < 2 {
                break;
            }
            match self.merge_one(piece, &mut frames) {
                Some(len) => looked_at += len + FRAME_COST,
                None => break,
            }
        }
        if frames.is_empty() && self.merge.heads.len() < 2 {
            if let Some(Reverse((_, index))) = self.merge.heads.pop() {
                self.solo(index);
            }
            return false;
        }
        self.number(piece);
        self.lane = Lane::Merged(frames);
        true
    }

    /// Opens the captures whose first packet is due.
    fn admit(&mut self) {
        while let (Some(&Reverse(next)), Some(&first)) =
            (self.merge.heads.peek(), self.files.pending.front())
        {
            if first > next {
                break;
            }
            self.files.pending.pop_front();
            if self.files.begin(first.1) {
                self.enter(first.1);
            } else {
                self.close(first.1);
            }
        }
    }

    /// Copies the earliest frame, unless it is left out, and returns its length. None if
    /// the piece is full.
    fn merge_one(&mut self, piece: &mut Piece, frames: &mut Vec<(Frame, u64)>) -> Option<usize> {
        let &Reverse((_, index)) = self.merge.heads.peek()?;
        let file = self.files.files.get_mut(index)?;
        let reader = file.reader.as_deref_mut()?;
        let mut len = 0;
        if let Some(frame) = reader.head(0) {
            let bytes = reader.head_bytes();
            len = bytes.len();
            let end = piece.len + len;
            if end > self.piece_len && piece.len > 0 {
                return None;
            }
            self.number += 1;
            let link = reader.last_link();
            let taken = match &mut self.selection {
                Some(selection) => selection.takes(link, &frame, bytes),
                None => true,
            };
            if taken {
                if piece.bytes.len() < end {
                    piece.bytes.resize(end.max(self.piece_len), 0);
                }
                if let Some(to) = piece.bytes.get_mut(piece.len..end) {
                    to.copy_from_slice(bytes);
                }
                let start = u32::try_from(piece.len).unwrap_or(u32::MAX);
                frames.push((Frame { start, ..frame }, self.number));
                piece.len = end;
                self.remaining -= 1;
            }
            reader.take_head();
        }
        self.merge.heads.pop();
        self.enter(index);
        Some(len)
    }
}

/// Captures beyond this number are opened for each read: the usual limit is 1024 descriptors.
const HELD_OPEN_MAX: usize = 256;

/// Bytes read at once from each of the captures that are merged.
const MERGE_READ_LEN: usize = 64 << 10;

/// Bytes of a piece that a frame counts for at least, so that frames without bytes are limited.
const FRAME_COST: usize = 16;
