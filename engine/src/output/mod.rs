//! The output stage: merges what workers and input stage deliver, and writes it.

pub(crate) mod messages;

use crate::aggregates::{Deciders, Findings, News};
use crate::ledger::Account;
use crate::report::OutputReport;
use crate::{Control, RunError};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{Earlier, Merger, MessageCount, RecordBatch, Writers};
use std::time::{Duration, Instant};

/// What a worker or the input stage hands over at a tick.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) records: RecordBatch,
    pub(crate) news: News,
}

impl From<RecordBatch> for Delivery {
    fn from(records: RecordBatch) -> Self {
        Self {
            records,
            news: News::default(),
        }
    }
}

/// Merger and writers together.
pub(crate) struct Output {
    merger: Merger,
    /// The last sources of the merger, after the workers and the input stage.
    deciders: Deciders,
    writers: Writers,
    control: Control,
    /// Requests to reopen that were met.
    reopened: u32,
    account: Account,
    /// When everything was last handed to the system.
    flushed: Instant,
}

/// Whoever reads the files while they grow need not wait for long.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// What was written.
#[derive(Default)]
pub(crate) struct OutputSummary {
    pub(crate) files: Vec<OutputReport>,
    pub(crate) messages: Vec<MessageCount>,
    pub(crate) losses: Losses,
    pub(crate) found: Findings,
    pub(crate) earlier: Earlier,
}

impl Output {
    /// An output with one source for each worker, and one more for the input stage.
    pub(crate) fn new(workers: usize, writers: Writers, plan: &Plan, control: &Control) -> Self {
        let others = workers + 1;
        let deciders = Deciders::new(plan, workers, others);
        Self {
            merger: Merger::new(others + deciders.sources()),
            deciders,
            writers,
            reopened: control.reopens(),
            control: control.clone(),
            account: control.account(),
            flushed: Instant::now(),
        }
    }

    /// Takes what one source delivers.
    pub(crate) fn push(&mut self, source: usize, delivery: impl Into<Delivery>) {
        let Delivery { records, news } = delivery.into();
        self.deciders.push(source, records.watermark(), news);
        self.merger.push(source, records);
    }

    /// Writes what all sources have delivered; batches that are done go to `recycle`.
    pub(crate) fn write(
        &mut self,
        mut recycle: impl FnMut(usize, RecordBatch),
    ) -> Result<(), RunError> {
        let Self {
            merger,
            deciders,
            writers,
            ..
        } = self;
        deciders.decide(merger);
        merger.drain(writers, |source, batch| {
            if let Some(batch) = deciders.recycle(source, batch) {
                recycle(source, batch);
            }
        })?;
        let reopens = self.control.reopens();
        if reopens != self.reopened {
            self.reopened = reopens;
            self.writers.reopen()?;
        }
        self.control.tell_records(self.writers.records_written());
        if self.writers.is_closed() {
            self.control.tell_reader_left();
        }
        self.account.enter(&self.losses());
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.writers.flush()?;
            self.flushed = Instant::now();
        }
        Ok(())
    }

    /// What was lost so far.
    fn losses(&self) -> Losses {
        let mut losses = *self.writers.losses();
        losses.add(&self.deciders.losses());
        losses
    }

    /// Completes all files.
    pub(crate) fn close(mut self) -> Result<OutputSummary, RunError> {
        self.writers.finish()?;
        let summary = self.writers.summary();
        let found = self.deciders.take_findings();
        let losses = self.losses();
        Ok(OutputSummary {
            files: summary.files.iter().map(OutputReport::of).collect(),
            messages: summary.messages,
            losses,
            found,
            earlier: summary.earlier,
        })
    }
}
