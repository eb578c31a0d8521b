//! How those outside and a source that waits for bytes hear of each other.

use crate::live::{LiveFilter, Shedding};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Who hears one line.
type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// What a source listens to while a pipe keeps it waiting, and who listens to it. Regular files
/// never do either.
#[derive(Clone, Default)]
pub struct Attention {
    /// Set: the input ends here, without being damaged. Stays set.
    pub stop: Arc<AtomicBool>,
    /// Counted up: [`Source::fill`](crate::Source::fill) is to return soon, if need be with a
    /// piece in which there is nothing. No frame is lost by that, and pieces are cut as ever.
    pub calls: Arc<AtomicU32>,
    /// Another filter for open interfaces.
    pub filter: LiveFilter,
    /// Which work is shed under overload.
    pub shedding: Shedding,
    /// Hears at once what happens to interfaces.
    tell: Option<Tell>,
}

impl core::fmt::Debug for Attention {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("Attention")
            .field("stop", &self.stop)
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

impl Attention {
    /// With requests that are made elsewhere.
    pub fn new(stop: Arc<AtomicBool>, calls: Arc<AtomicU32>) -> Self {
        Self {
            stop,
            calls,
            filter: LiveFilter::default(),
            shedding: Shedding::default(),
            tell: None,
        }
    }

    /// With another filter for open interfaces, which is asked for elsewhere, and with who sheds
    /// work.
    #[must_use]
    pub fn sharing(self, filter: LiveFilter, shedding: Shedding) -> Self {
        Self {
            filter,
            shedding,
            ..self
        }
    }

    /// With `tell`, which hears at once what happens to interfaces: one line each.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let tell = Some(Arc::new(tell) as Tell);
        Self { tell, ..self }
    }

    pub(crate) fn tell(&self, line: &str) {
        if let Some(tell) = &self.tell {
            tell(line);
        }
    }

    // Relaxed, both: nothing else is published with them; heard a little later is soon enough.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}
