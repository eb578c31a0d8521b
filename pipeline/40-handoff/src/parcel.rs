//! What is filled at once: a piece, and its packets' batches.

use crate::batch::Batch;
use flowpin_packet::Piece;

/// A piece to read into, and for each worker the batch that will carry its packets of the piece.
#[derive(Debug, Default)]
pub struct Parcel {
    /// The piece.
    pub piece: Piece,
    /// The batches, by worker. Those of a parcel stay with it.
    pub batches: Vec<Batch>,
}
