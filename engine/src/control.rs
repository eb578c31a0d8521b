//! What the outside may ask of a run while it goes on, and what it can see of it.

use crate::ledger::{Account, Ledger};
use flowpin_counters::Losses;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Set from a signal handler: the run stops after the piece at hand and flushes.
pub type StopFlag = Arc<AtomicBool>;

/// One run's control: share clones of it with whoever hears signals.
///
/// All of it is heard also while a pipe keeps the input waiting.
///
/// ```
/// use flowpin_engine::Control;
/// let control = Control::default();
/// control.reopen_outputs();
/// assert_eq!(control.records_written(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Set: what was read until then is analysed and written, and the run ends.
    pub stop: StopFlag,
    /// How often outputs were to be reopened.
    reopens: Arc<AtomicU32>,
    /// Records written so far.
    records: Arc<AtomicU64>,
    /// What was lost so far.
    ledger: Ledger,
}

// Relaxed, all of it: single values with nothing behind them; seen a piece later is soon enough.
impl Control {
    /// Asks for files that were moved away to be made anew, as after `logrotate`.
    pub fn reopen_outputs(&self) {
        self.reopens.fetch_add(1, Ordering::Relaxed);
    }

    /// Records written so far, of all types.
    pub fn records_written(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// What was lost or left out so far, by reason; a few pieces old.
    pub fn losses(&self) -> Losses {
        self.ledger.read()
    }

    /// Where one thread tells its losses.
    pub(crate) fn account(&self) -> Account {
        self.ledger.account()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn reopens(&self) -> u32 {
        self.reopens.load(Ordering::Relaxed)
    }

    pub(crate) fn tell_records(&self, records: u64) {
        self.records.store(records, Ordering::Relaxed);
    }

    /// What a source listens to while it waits.
    pub(crate) fn attention(&self) -> flowpin_capture::Attention {
        flowpin_capture::Attention {
            stop: Arc::clone(&self.stop),
            calls: Arc::clone(&self.reopens),
        }
    }
}
