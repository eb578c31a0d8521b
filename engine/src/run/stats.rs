//! `--stats FILE`: the account of a run while it runs, a line of JSON every few seconds.
//!
//! ```text
//!  input ──Progress──► Latest ──┐
//!  Control: records, losses ────┼──► thread: a line each --stats-every, and one in the end
//! ```
//!
//! The lines have the form of Suricata's `stats` events. They tell of the process at moments of the
//! clock, so they are no records: no two runs have the same, and the records' files have none.

use super::ground::existing;
use crate::report::{Progress, ProgressSink};
use crate::{Control, RunError};
use core::time::Duration;
use flowpin_config::Plan;
use flowpin_disk::{Identity, Reads, check, create, is_gone, remake};
use flowpin_packet::Timestamp;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The file, which stands under its name as long as the run does.
pub(crate) struct StatsFile {
    path: PathBuf,
    file: File,
    every: Duration,
    /// What must not be written when the file is made anew.
    reads: Reads,
    /// How often new files had been asked for when the last was made.
    reopened: u32,
    /// Whether the run has begun: without one the file is in the way of the next.
    has_begun: bool,
}

impl Drop for StatsFile {
    fn drop(&mut self) {
        if !self.has_begun && Identity::at(&self.path) == Identity::of_open(&self.file) {
            // Best effort: what prevented the run is being told.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl StatsFile {
    /// Makes the file, if there is to be one. No other output may take its place.
    ///
    /// # Errors
    /// The file would destroy another; what the system says.
    pub(crate) fn make(plan: &Plan, reads: &mut Reads) -> Result<Option<Self>, RunError> {
        let Some(path) = &plan.output.stats else {
            return Ok(None);
        };
        let failed = |source| {
            let path = path.clone();
            RunError::StreamWrite { path, source }
        };
        check(path, existing(plan), reads)?;
        let file = create(path, existing(plan), reads).map_err(failed)?;
        if let Some(made) = Identity::of_open(&file) {
            reads.add_written(made, path);
        }
        Ok(Some(Self {
            path: path.clone(),
            file,
            every: Duration::from_nanos(plan.output.stats_every_ns),
            reads: reads.clone(),
            reopened: 0,
            has_begun: false,
        }))
    }

    /// Writes lines until `ended` is closed, and the last one then.
    pub(crate) fn keep(mut self, seen: &Seen<'_>, ended: &Receiver<()>) {
        self.has_begun = true;
        let mut has_failed = false;
        loop {
            let is_over = ended.recv_timeout(self.every) != Err(RecvTimeoutError::Timeout);
            self.reopen(seen.control);
            if let Err(error) = self.file.write_all(seen.line().as_bytes())
                && !has_failed
            {
                has_failed = true;
                let path = self.path.display();
                seen.progress
                    .inner
                    .note(&format!("cannot write {path}: {error} (--stats)"));
            }
            if is_over {
                return;
            }
        }
    }

    /// Makes the file anew if that was asked for and it was moved away.
    fn reopen(&mut self, control: &Control) {
        let asked = control.reopens();
        if asked == self.reopened {
            return;
        }
        self.reopened = asked;
        let is_here = std::fs::symlink_metadata(&self.path)
            .is_ok_and(|there| Identity::of_open(&self.file) == Some(Identity::of(&there)));
        if (!is_here || is_gone(&self.file))
            && let Ok(file) = remake(&self.path, &self.reads)
        {
            self.file = file;
        }
    }
}

/// Keeps the latest progress, and passes it on.
pub(crate) struct Latest<'a> {
    pub(crate) inner: &'a dyn ProgressSink,
    latest: Mutex<Progress>,
}

impl<'a> Latest<'a> {
    pub(crate) fn new(inner: &'a dyn ProgressSink) -> Self {
        let latest = Mutex::default();
        Self { inner, latest }
    }
}

impl ProgressSink for Latest<'_> {
    fn update(&self, progress: &Progress) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
        self.inner.update(progress);
    }

    fn started(&self) {
        self.inner.started();
    }

    fn note(&self, text: &str) {
        self.inner.note(text);
    }
}

/// What a line tells of.
pub(crate) struct Seen<'a> {
    pub(crate) control: &'a Control,
    pub(crate) progress: &'a Latest<'a>,
    pub(crate) started: Instant,
    pub(crate) is_live: bool,
}

impl Seen<'_> {
    /// A line, as things are now.
    fn line(&self) -> String {
        let latest = &self.progress.latest;
        let progress = *latest.lock().unwrap_or_else(PoisonError::into_inner);
        let Progress {
            packets,
            dropped,
            bytes_read,
            ..
        } = progress;
        let mut line = format!(
            "{{\"timestamp\":\"{}\",\"event_type\":\"stats\",\"stats\":{{\"uptime\":{}",
            flowpin_output::eve_time(Timestamp::now()),
            self.started.elapsed().as_secs(),
        );
        // Writing to a string cannot fail.
        if self.is_live {
            let _ = write!(
                line,
                ",\"capture\":{{\"kernel_packets\":{},\"kernel_drops\":{dropped}}}",
                packets.saturating_add(dropped)
            );
        }
        let _ = write!(
            line,
            ",\"decoder\":{{\"pkts\":{packets}}}}},\"flowpin\":{{\"bytes_read\":{bytes_read},\
             \"records\":{},\"processor_seconds\":{},\"resident_bytes\":{},\"losses\":{{",
            self.control.records_written(),
            crate::cpu_time().as_secs(),
            crate::resident_bytes(),
        );
        let losses = self.control.losses();
        for (place, (loss, count)) in losses.iter().filter(|&(_, count)| count > 0).enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let _ = write!(line, "{comma}\"{}\":{count}", loss.name());
        }
        line.push_str("}}}\n");
        line
    }
}
