//! How somebody outside makes himself heard while a read waits for bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What a source listens to while a pipe keeps it waiting. Regular files never do.
#[derive(Clone, Debug, Default)]
pub struct Attention {
    /// Set: the input ends here, without being damaged. Stays set.
    pub stop: Arc<AtomicBool>,
    /// Counted up: [`Source::fill`](crate::Source::fill) is to return soon, if need be with a
    /// piece in which there is nothing. No frame is lost by that, and pieces are cut as ever.
    pub calls: Arc<AtomicU32>,
}

impl Attention {
    // Relaxed, both: nothing else is published with them; heard a little later is soon enough.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}
