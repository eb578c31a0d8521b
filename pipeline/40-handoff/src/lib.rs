//! Pieces, batches and ticks between stages, and their way home.
