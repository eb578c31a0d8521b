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
    /// Counted up wherever something was done.
    pulse: Arc<AtomicU64>,
    /// Who read standard output has left.
    reader_left: Arc<AtomicBool>,
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

    /// Changes while the run moves on; 0 until something may be written.
    pub fn pulses(&self) -> u64 {
        self.pulse.load(Ordering::Relaxed)
    }

    /// Something was done.
    pub(crate) fn pulse(&self) {
        self.pulse.fetch_add(1, Ordering::Relaxed);
    }

    /// Asked before each piece: whether there shall be no further one.
    pub(crate) fn is_stopped(&self) -> bool {
        if self.pulses() > 0 {
            self.pulse();
        }
        self.stop.load(Ordering::Relaxed) || self.reader_left.load(Ordering::Relaxed)
    }

    /// Nobody reads any more what is written: there is no use in going on.
    pub(crate) fn tell_reader_left(&self) {
        self.reader_left.store(true, Ordering::Relaxed);
    }

    pub(crate) fn reopens(&self) -> u32 {
        self.reopens.load(Ordering::Relaxed)
    }

    pub(crate) fn tell_records(&self, records: u64) {
        self.records.store(records, Ordering::Relaxed);
        self.pulse();
    }

    /// What a source listens to while it waits.
    pub(crate) fn attention(&self) -> flowpin_capture::Attention {
        flowpin_capture::Attention {
            stop: Arc::clone(&self.stop),
            calls: Arc::clone(&self.reopens),
        }
    }
}
