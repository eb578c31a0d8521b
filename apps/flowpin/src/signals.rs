//! What each signal does.
//!
//! ```text
//!  INT, TERM  the first stops the run cleanly, the second ends the process as it always would
//!  HUP        log files that were moved away are made anew
//!  USR1       counters to standard error
//! ```

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals as Arriving};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

/// Which signal has asked to stop.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    which: Arc<AtomicUsize>,
    listener: Option<(Handle, JoinHandle<()>)>,
}

impl Signals {
    /// Lets INT and TERM set `stop`.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub(crate) fn install(stop: &Arc<AtomicBool>) -> io::Result<Self> {
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // Registered first, so it runs first: with the flag already set it ends the process.
            flag::register_conditional_default(signal, Arc::clone(stop))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&signals.which), number)?;
            flag::register(signal, Arc::clone(stop))?;
        }
        Ok(signals)
    }

    /// Does `on_hangup` for each HUP and `on_user` for each USR1, on a thread of its own: until
    /// this is dropped.
    ///
    /// # Errors
    /// The system refuses the handlers or the thread.
    pub(crate) fn listen(
        &mut self,
        mut on_hangup: impl FnMut() + Send + 'static,
        mut on_user: impl FnMut() + Send + 'static,
    ) -> io::Result<()> {
        let mut arriving = Arriving::new([SIGHUP, SIGUSR1])?;
        let handle = arriving.handle();
        let thread = Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in arriving.forever() {
                match signal {
                    SIGHUP => on_hangup(),
                    _ => on_user(),
                }
            }
        })?;
        self.listener = Some((handle, thread));
        Ok(())
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

impl Drop for Signals {
    fn drop(&mut self) {
        if let Some((handle, thread)) = self.listener.take() {
            handle.close();
            // It writes a line at most; a panic there has told itself.
            let _ended = thread.join();
        }
    }
}
