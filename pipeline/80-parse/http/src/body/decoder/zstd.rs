//! Zstandard (RFC 8878), block by block.
//!
//! The library returns no output from a call that fails. So it gets at most the current block at
//! once, and the next block only after the output of the current one.

use super::{Invalid, Out};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// A sequence of frames.
pub(in crate::body) struct Zstd {
    decoder: Decoder<'static>,
    /// A frame has ended; the next one may have another window.
    pub(super) has_ended: bool,
    /// Bytes that the decoder needs next; 0 between frames.
    wanted: usize,
}

/// A window larger than 8 MiB may be refused (RFC 8878 §3.1.1.1.2, RFC 9659).
pub(super) const WINDOW_LOG: u32 = 23;

/// RFC 8878 §3.1.1.2.
const BLOCK_HEADER: usize = 3;

impl Zstd {
    /// None if the library has no memory.
    pub(super) fn new() -> Option<Box<Self>> {
        let mut decoder = Decoder::new().ok()?;
        let _ = decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG));
        Some(Box::new(Self {
            decoder,
            has_ended: false,
            wanted: 0,
        }))
    }

    /// Whether a frame is incomplete.
    pub(super) const fn is_inside(&self) -> bool {
        self.wanted > 0
    }

    /// Decodes the next bytes. False if a frame's checksum, which the library checks (RFC 8878
    /// §3.1.1), is wrong.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        room: &mut [u8],
        out: &mut Out<'_>,
    ) -> Result<bool, Invalid> {
        let mut rest = input;
        let mut is_full = false;
        while is_full || !rest.is_empty() {
            // The library asks for a block together with the header of the next.
            let wanted = self.wanted.saturating_sub(BLOCK_HEADER).max(1);
            let count = if is_full { 0 } else { wanted.min(rest.len()) };
            let (part, _) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            let mut from = InBuffer::around(part);
            let mut to = OutBuffer::around(room);
            let result = self.decoder.run(&mut from, &mut to);
            let (used, made) = (from.pos(), to.pos());
            is_full = made == to.capacity();
            if made > 0 && out(room.get(..made).unwrap_or_default()).is_break() {
                return Ok(true);
            }
            match result {
                // 0: the frame is over.
                Ok(wanted) => {
                    self.wanted = wanted;
                    self.has_ended |= wanted == 0;
                }
                // The library reports it as text only.
                Err(error) if error.to_string().contains("checksum") => return Ok(false),
                Err(_) => return Err(Invalid),
            }
            if !part.is_empty() && used == 0 && made == 0 {
                return Ok(true);
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(true)
    }
}
