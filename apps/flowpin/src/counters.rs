//! USR1: how far a run is, in one line on standard error.

use crate::progress::Bar;
use crate::service::Notifier;
use crate::tell::tell;
use flowpin_engine::{Control, Progress, ProgressSink};
use flowpin_words::number;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where a run's progress is shown: to the bar at once, by [`Counters::line`] on demand.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    started: Instant,
    control: Control,
    bar: Option<Arc<Bar>>,
    latest: Arc<Mutex<Progress>>,
    notifier: Notifier,
}

impl Counters {
    /// Counters of a run that begins now.
    pub(crate) fn new(control: &Control, bar: Option<Bar>) -> Self {
        Self {
            started: Instant::now(),
            control: control.clone(),
            bar: bar.map(Arc::new),
            latest: Arc::default(),
            notifier: Notifier::of_environment(),
        }
    }

    /// The run is over: takes the bar off the screen.
    pub(crate) fn clear(&self) {
        self.notifier.stopping();
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }

    /// Prints them, beside a bar if there is one.
    pub(crate) fn print(&self) {
        let line = self.line();
        match &self.bar {
            Some(bar) => bar.print(&line),
            None => tell(line),
        }
    }

    /// How far the run is.
    pub(crate) fn progress(&self) -> Progress {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// All counters as `name value` pairs, so that scripts can pick them; losses come last.
    fn line(&self) -> String {
        let progress = self.progress();
        let total = progress
            .bytes_total
            .map_or_else(|| "unknown".to_owned(), |total| total.to_string());
        let elapsed = self.elapsed();
        let mut line = format!(
            "flowpin: packets {} dropped {} bytes_read {} bytes_total {total} files_done {} \
             files_total {} records {} elapsed_s {}.{:03} packets_per_s {:.0}",
            progress.packets,
            progress.dropped,
            progress.bytes_read,
            progress.files_done,
            progress.files_total,
            self.control.records_written(),
            elapsed.as_secs(),
            elapsed.subsec_millis(),
            number::rate(progress.packets, elapsed),
        );
        for (loss, count) in self.control.losses().iter() {
            // Writing to a string cannot fail.
            let _ = write!(line, " {} {count}", loss.name());
        }
        line
    }
}

impl ProgressSink for Counters {
    fn started(&self) {
        self.notifier.ready(&self.control);
    }

    fn update(&self, progress: &Progress) {
        // Once for each piece; only the thread of signals can contend for the lock.
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
        if let Some(bar) = &self.bar {
            bar.update(progress);
        }
    }

    fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.note(text),
            None => tell(format_args!("flowpin: {text}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;
    use flowpin_engine::{Control, Progress, ProgressSink};

    /// Scripts pick values by name, so each name is there and is followed by its value.
    #[test]
    fn line_has_a_value_behind_each_name() {
        let counters = Counters::new(&Control::default(), None);
        counters.update(&Progress {
            packets: 12,
            bytes_read: 3456,
            ..Progress::default()
        });
        let line = counters.line();
        assert!(
            line.contains(" packets 12 dropped 0 bytes_read 3456 bytes_total unknown "),
            "{line}"
        );
        assert!(line.contains(" records 0 "), "{line}");
    }
}
