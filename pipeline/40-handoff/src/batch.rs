//! What one worker gets of one piece.

use flowpin_packet::{FrameBytes, PacketMeta, Piece, Tick};
use std::sync::Arc;

/// The packets of one piece of input that belong to one worker, and the stream time at the
/// piece's end. Without packets it is a tick.
#[derive(Debug, Default)]
pub struct Batch {
    /// Number of the piece, from 0. A worker gets one batch for each, in order; where packets
    /// may be dropped, the batches of several pieces may come as one, under the last number.
    pub number: u64,
    /// The packets, in the order of the input.
    pub metas: Vec<PacketMeta>,
    /// Datagrams made from fragments, one behind the other; descriptors with
    /// [`flowpin_packet::PacketFlags::REASSEMBLED`] point in here.
    pub extra: Vec<u8>,
    /// The stream's time at the end of the piece.
    pub tick: Tick,
    /// Not one of the worker's: it collects what is dropped.
    pub(crate) is_scrap: bool,
    /// The piece that the other descriptors point into; none if there are no packets.
    piece: Option<SharedPiece>,
}

/// A piece that workers read, and which of the input's shells it is in.
#[derive(Debug)]
pub(crate) struct SharedPiece {
    pub(crate) piece: Arc<Piece>,
    pub(crate) shell: usize,
}

impl Batch {
    /// One that collects what is dropped.
    pub(crate) fn scrap() -> Self {
        Self {
            is_scrap: true,
            ..Self::default()
        }
    }

    /// The bytes that the descriptors point into.
    #[inline]
    pub fn bytes(&self) -> FrameBytes<'_> {
        let piece = self.piece.as_ref().map(|shared| &*shared.piece);
        FrameBytes {
            piece: piece
                .and_then(|piece| piece.bytes.get(..piece.len))
                .unwrap_or_default(),
            extra: &self.extra,
        }
    }

    pub(crate) fn set_piece(&mut self, piece: Option<SharedPiece>) {
        self.piece = piece;
    }

    /// Takes the piece out and makes the batch empty, to be filled again.
    pub(crate) fn clear(&mut self) -> Option<SharedPiece> {
        self.metas.clear();
        self.extra.clear();
        // A flood of huge datagrams must not keep its memory for the rest of the run.
        self.extra.shrink_to(EXTRA_BYTES_KEPT);
        self.piece.take()
    }
}

/// An empty batch keeps room for so many extra bytes.
const EXTRA_BYTES_KEPT: usize = 4 << 20;
