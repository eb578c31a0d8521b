//! INT and TERM: the first stops cleanly, the second ends the process as it always would.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The flag that the engine looks at, and which signal has set it.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    pub(crate) stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// The system refuses them.
    pub(crate) fn install() -> io::Result<Self> {
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // Registered first, so it runs first: with the flag already set it ends the process.
            flag::register_conditional_default(signal, Arc::clone(&signals.stop))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&signals.which), number)?;
            flag::register(signal, Arc::clone(&signals.stop))?;
        }
        Ok(signals)
    }

    /// The signal that stopped the run, if one did.
    pub(crate) fn received(&self) -> Option<u8> {
        // Relaxed: nothing else is published with it; the run has ended.
        match self.which.load(Ordering::Relaxed) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }
}
