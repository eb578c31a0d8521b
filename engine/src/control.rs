//! Control of a run from outside while it goes on: stop, reopen, reload, counters.

use crate::ledger::{Account, Ledger};
use crate::run::reload::Reloads;
use flowpin_capture::{Attention, LiveFilter, Shedding};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{StreamHooks, Tell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Set from a signal handler: the run stops after the current piece and flushes.
pub type StopFlag = Arc<AtomicBool>;

/// The control of one run; clones of it go to signal handlers.
///
/// A run also reacts while it waits for a pipe.
///
/// ```
/// use flowpin_engine::Control;
/// let control = Control::default();
/// control.reopen_outputs();
/// assert_eq!(control.records_written(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// If set, the run ends once everything read so far is analysed and written.
    pub stop: StopFlag,
    /// Requests to reopen outputs.
    reopens: Arc<AtomicU32>,
    /// Records written so far.
    records: Arc<AtomicU64>,
    /// How long records took last, and the longest, in nanoseconds.
    latency: Arc<[AtomicU64; 2]>,
    /// Incremented on any progress.
    pulse: Arc<AtomicU64>,
    /// The reader of standard output has closed it.
    reader_left: Arc<AtomicBool>,
    /// Losses so far.
    ledger: Ledger,
    /// Who hears of the program that takes records.
    heard: Heard,
    /// Requests to read settings again.
    reloads: Reloads,
    /// Where a live run gets another filter.
    filter: LiveFilter,
    /// Which work a live run sheds.
    shedding: Shedding,
}

/// Told what happens beside the run's own threads.
#[derive(Clone, Default)]
struct Heard(Option<Tell>);

impl core::fmt::Debug for Heard {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_tuple("Heard").field(&self.0.is_some()).finish()
    }
}

// Relaxed throughout: single values that guard no other data; one piece later is soon enough.
impl Control {
    /// Requests that files moved away, as by `logrotate`, are created again.
    pub fn reopen_outputs(&self) {
        self.reopens.fetch_add(1, Ordering::Relaxed);
    }

    /// With `tell`, which hears at once that the program of `--output` goes away or comes back, and
    /// what happens to interfaces.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let heard = Heard(Some(Arc::new(tell)));
        Self { heard, ..self }
    }

    /// With `read`, which reads the settings of a live run again: for [`Control::reload`].
    #[must_use]
    pub fn reading_again(
        self,
        read: impl Fn() -> Result<Plan, String> + Send + Sync + 'static,
    ) -> Self {
        let reloads = self.reloads.reading(read);
        Self { reloads, ..self }
    }

    /// Requests that a live run takes the filter and the rules of its settings as they are now.
    /// What comes of it is told.
    pub fn reload(&self) {
        self.reloads.ask();
    }

    /// How often a run has taken other settings, and how often it could not.
    pub fn reload_counts(&self) -> [u64; 2] {
        self.reloads.counts()
    }

    pub(crate) const fn reloads(&self) -> &Reloads {
        &self.reloads
    }

    pub(crate) const fn live_filter(&self) -> &LiveFilter {
        &self.filter
    }

    pub(crate) const fn shedding(&self) -> &Shedding {
        &self.shedding
    }

    /// Tells who hears of the run.
    pub(crate) fn tell(&self, line: &str) {
        if let Some(tell) = &self.heard.0 {
            tell(line);
        }
    }

    /// What streams of records share with the run.
    pub(crate) fn stream_hooks(&self) -> StreamHooks {
        StreamHooks {
            stop: Arc::clone(&self.stop),
            tell: self.heard.0.clone(),
        }
    }

    /// Records written so far, of all types.
    pub fn records_written(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// What was lost or left out so far, by reason; a few pieces old.
    pub fn losses(&self) -> Losses {
        self.ledger.read()
    }

    /// An account for the losses of one thread.
    pub(crate) fn account(&self) -> Account {
        self.ledger.account()
    }

    /// Changes while the run moves on; 0 until something may be written.
    pub fn pulses(&self) -> u64 {
        self.pulse.load(Ordering::Relaxed)
    }

    /// Notes progress.
    pub(crate) fn pulse(&self) {
        self.pulse.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether to stop before the next piece.
    pub(crate) fn is_stopped(&self) -> bool {
        if self.pulses() > 0 {
            self.pulse();
        }
        self.stop.load(Ordering::Relaxed) || self.reader_left.load(Ordering::Relaxed)
    }

    /// Whether records have no reader any more.
    pub(crate) fn has_reader_left(&self) -> bool {
        self.reader_left.load(Ordering::Relaxed)
    }

    /// The reader of standard output is gone: the run stops.
    pub(crate) fn set_reader_left(&self) {
        self.reader_left.store(true, Ordering::Relaxed);
    }

    pub(crate) fn reopens(&self) -> u32 {
        self.reopens.load(Ordering::Relaxed)
    }

    pub(crate) fn set_records(&self, records: u64) {
        self.records.store(records, Ordering::Relaxed);
        self.pulse();
    }

    /// Of a live run: how long records took last from their packet to the log, and the longest.
    pub fn record_latency(&self) -> [Duration; 2] {
        let nanos = |one: &AtomicU64| Duration::from_nanos(one.load(Ordering::Relaxed));
        let [last, most] = &*self.latency;
        [nanos(last), nanos(most)]
    }

    pub(crate) fn set_record_latency(&self, last: Duration, most: Duration) {
        for (place, latency) in self.latency.iter().zip([last, most]) {
            let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
            place.store(nanos, Ordering::Relaxed);
        }
    }

    /// The requests that interrupt a source while it waits.
    pub(crate) fn attention(&self) -> Attention {
        let attention = Attention::new(Arc::clone(&self.stop), Arc::clone(&self.reopens));
        let attention = attention.sharing(self.filter.clone(), self.shedding.clone());
        match self.heard.0.clone() {
            Some(tell) => attention.telling(move |line| tell(line)),
            None => attention,
        }
    }
}
