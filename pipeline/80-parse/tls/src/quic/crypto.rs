//! The CRYPTO stream of one direction, from the frames of its Initial packets.

use crate::initial::varint;
use crate::pools::{Blocks, Gathered, MESSAGE_BYTES_MAX};
use flowpin_wire::Cursor;

/// The CRYPTO stream of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CryptoStream {
    pub(super) gathered: Gathered,
    /// Ranges received, which neither touch nor overlap.
    parts: [(u16, u16); 24],
    count: u8,
    pub(super) is_over: bool,
}

impl CryptoStream {
    /// Processes CRYPTO frames (RFC 9000 §19.6); returns false if the bytes are not frames.
    pub(super) fn frames(&mut self, frames: &[u8], shard: u8, blocks: &mut Blocks) -> bool {
        let mut cursor = Cursor::over(frames);
        while cursor.left() > 0 {
            if self.frame(&mut cursor, shard, blocks).is_none() {
                return false;
            }
        }
        true
    }

    /// RFC 9000 §12.4: the frames allowed in an Initial packet.
    fn frame(&mut self, cursor: &mut Cursor<'_>, shard: u8, blocks: &mut Blocks) -> Option<()> {
        match cursor.u8()? {
            // PADDING and PING.
            0 | 1 => {}
            6 => {
                let offset = varint(cursor)?;
                let len = varint(cursor)?;
                self.take(offset, cursor.take(len)?, shard, blocks)?;
            }
            // RFC 9000 §19.3: ACK ranges and ECN counts.
            kind @ (2 | 3) => {
                varint(cursor)?;
                varint(cursor)?;
                let ranges = varint(cursor)?;
                let numbers = ranges.min(64).saturating_mul(2).saturating_add(1);
                for _ in 0..numbers.saturating_add(if kind == 3 { 3 } else { 0 }) {
                    varint(cursor)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn take(&mut self, offset: usize, bytes: &[u8], shard: u8, blocks: &mut Blocks) -> Option<()> {
        let end = offset.checked_add(bytes.len())?;
        if bytes.is_empty() || end > MESSAGE_BYTES_MAX {
            return Some(());
        }
        if !self.gathered.put(blocks, shard, offset, bytes) {
            self.is_over = true;
            self.gathered.free(blocks, shard);
            return None;
        }
        self.note(u16::try_from(offset).ok()?, u16::try_from(end).ok()?);
        Some(())
    }

    /// Begins again, with the stream's first bytes.
    pub(super) fn restart(&mut self, shard: u8, blocks: &mut Blocks) {
        self.gathered.free(blocks, shard);
        *self = Self::default();
    }

    /// Merges a range into those received.
    fn note(&mut self, mut start: u16, mut end: u16) {
        let mut kept = [(0, 0); 24];
        let mut count = 0u8;
        let known = self.parts.iter().take(usize::from(self.count));
        for &(from, to) in known {
            if to < start || from > end {
                if let Some(place) = kept.get_mut(usize::from(count)) {
                    *place = (from, to);
                    count = count.saturating_add(1);
                }
            } else {
                start = start.min(from);
                end = end.max(to);
            }
        }
        if let Some(place) = kept.get_mut(usize::from(count)) {
            *place = (start, end);
            count = count.saturating_add(1);
        }
        self.parts = kept;
        self.count = count;
    }

    /// Returns the contiguous bytes from the start of the stream.
    pub(super) fn first<'a>(&self, blocks: &'a Blocks) -> &'a [u8] {
        let parts = self.parts.iter().take(usize::from(self.count));
        let first = parts.copied().find(|&(start, _)| start == 0);
        let (_, end) = first.unwrap_or_default();
        self.gathered.bytes(blocks, usize::from(end))
    }
}

/// Returns the first handshake message, if it is complete.
pub(super) fn message(stream: &[u8]) -> Option<(u8, &[u8])> {
    let mut cursor = Cursor::over(stream);
    let kind = cursor.u8()?;
    let len = cursor.len24()?;
    Some((kind, cursor.take(len)?))
}
