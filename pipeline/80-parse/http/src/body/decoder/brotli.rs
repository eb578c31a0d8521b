//! Brotli (RFC 7932), decoded in units of fixed length.
//!
//! The library returns no output from a call that fails. If calls followed segments, the output of
//! a damaged body would depend on them.

use super::{Invalid, Out};
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

/// A stream, and the bytes of an incomplete unit.
pub(in crate::body) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    held: [u8; UNIT],
    held_len: usize,
    is_over: bool,
}

/// Bytes of a unit. Limits are checked after each.
pub(super) const UNIT: usize = 256;

impl Brotli {
    pub(super) fn new() -> Box<Self> {
        let new = StandardAlloc::default;
        Box::new(Self {
            // No large windows, which browsers refuse.
            state: BrotliState::new_strict(new(), new(), new()),
            held: [0; UNIT],
            held_len: 0,
            is_over: false,
        })
    }

    /// Decodes the next bytes.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        room: &mut [u8],
        out: &mut Out<'_>,
    ) -> Result<(), Invalid> {
        let mut rest = input;
        while !rest.is_empty() && !self.is_over {
            if let Some((unit, behind)) = rest.split_first_chunk::<UNIT>()
                && self.held_len == 0
            {
                rest = behind;
                self.unit(unit, room, out)?;
                continue;
            }
            let free = self.held.get_mut(self.held_len..).unwrap_or_default();
            let count = free.len().min(rest.len());
            let (now, behind) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            for (place, &byte) in free.iter_mut().zip(now) {
                *place = byte;
            }
            rest = behind;
            self.held_len = self.held_len.saturating_add(count);
            if self.held_len == UNIT {
                self.finish(room, out)?;
            }
        }
        Ok(())
    }

    /// Decodes the last, incomplete unit.
    pub(super) fn finish(&mut self, room: &mut [u8], out: &mut Out<'_>) -> Result<(), Invalid> {
        let held = self.held;
        let unit = held.get(..self.held_len).unwrap_or_default();
        self.held_len = 0;
        if unit.is_empty() || self.is_over {
            return Ok(());
        }
        self.unit(unit, room, out)
    }

    /// Whether the stream is incomplete.
    pub(super) const fn is_inside(&self) -> bool {
        !self.is_over
    }

    fn unit(&mut self, unit: &[u8], room: &mut [u8], out: &mut Out<'_>) -> Result<(), Invalid> {
        let (mut left, mut at, mut total) = (unit.len(), 0, 0);
        loop {
            let (mut free, mut made) = (room.len(), 0);
            let state = &mut self.state;
            let result = BrotliDecompressStream(
                &mut left, &mut at, unit, &mut free, &mut made, room, &mut total, state,
            );
            if made > 0 && out(room.get(..made).unwrap_or_default()).is_break() {
                self.is_over = true;
                return Ok(());
            }
            match result {
                BrotliResult::ResultSuccess => {
                    self.is_over = true;
                    return Ok(());
                }
                BrotliResult::NeedsMoreInput => return Ok(()),
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultFailure => return Err(Invalid),
            }
        }
    }
}
