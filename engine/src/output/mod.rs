//! The output stage: merges what workers and input stage deliver, and writes it.

pub(crate) mod data;
pub(crate) mod messages;
pub(crate) mod scans;

use crate::ledger::Account;
use crate::output::data::{DataNews, DataOutput, Renamed};
use crate::output::scans::{ScanFindings, ScanOutput};
use crate::report::OutputReport;
use crate::{Control, RunError};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{Earlier, Merger, MessageCount, RecordBatch, Writers};
use flowpin_packet::Timestamp;
use flowpin_portscan::Summary;
use std::time::{Duration, Instant};

/// What a worker or the input stage hands over at a tick.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) records: RecordBatch,
    pub(crate) scans: Option<ScanNews>,
    pub(crate) data: Option<DataNews>,
}

/// What a worker's scan detector hands over.
#[derive(Debug)]
pub(crate) enum ScanNews {
    /// The intervals that a tick has closed.
    Closed(Summary),
    /// All that is left: the input ended at `end`.
    Last { summary: Summary, end: Timestamp },
}

impl From<RecordBatch> for Delivery {
    fn from(records: RecordBatch) -> Self {
        Self {
            records,
            scans: None,
            data: None,
        }
    }
}

/// Merger and writers together.
pub(crate) struct Output {
    merger: Merger,
    /// The last source of the merger, behind the workers and the input stage.
    scans: Option<ScanOutput>,
    /// One more, that names FTP's data connections.
    data: Option<DataOutput>,
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
    pub(crate) scans: ScanFindings,
    pub(crate) renamed: Renamed,
    pub(crate) earlier: Earlier,
}

impl Output {
    /// An output with one source for each worker, and one more for the input stage.
    pub(crate) fn new(workers: usize, writers: Writers, plan: &Plan, control: &Control) -> Self {
        let scans = ScanOutput::new(workers, plan);
        let sources = workers + 1 + usize::from(scans.is_some());
        let data = DataOutput::new(workers, sources, plan);
        Self {
            merger: Merger::new(sources + usize::from(data.is_some())),
            scans,
            data,
            writers,
            reopened: control.reopens(),
            control: control.clone(),
            account: control.account(),
            flushed: Instant::now(),
        }
    }

    /// Takes what one source delivers.
    pub(crate) fn push(&mut self, source: usize, delivery: impl Into<Delivery>) {
        let Delivery {
            records,
            scans,
            data,
        } = delivery.into();
        if let Some(output) = &mut self.data {
            output.push(source, records.watermark(), data);
        }
        if let Some(output) = &mut self.scans {
            output.push(source, records.watermark(), scans);
        }
        self.merger.push(source, records);
    }

    /// Writes what all sources have delivered; batches that are done go to `recycle`.
    pub(crate) fn write(
        &mut self,
        mut recycle: impl FnMut(usize, RecordBatch),
    ) -> Result<(), RunError> {
        let Self {
            merger,
            scans,
            data,
            writers,
            ..
        } = self;
        if let Some(scans) = scans {
            merger.push(scans.source(), scans.take_batch());
        }
        if let Some(data) = data {
            let source = data.source();
            let batch = data.take_batch(|key| merger.supersede(key, source));
            merger.push(source, batch);
        }
        merger.drain(writers, |source, batch| match (&mut *scans, &mut *data) {
            (Some(scans), _) if source == scans.source() => scans.recycle(batch),
            (_, Some(data)) if source == data.source() => data.recycle(batch),
            _ => recycle(source, batch),
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
        if let Some(scans) = &self.scans {
            losses.add(scans.losses());
        }
        if let Some(data) = &self.data {
            losses.add(data.losses());
        }
        losses
    }

    /// Completes all files.
    pub(crate) fn close(mut self) -> Result<OutputSummary, RunError> {
        self.writers.finish()?;
        let summary = self.writers.summary();
        let losses = self.losses();
        let mut found = ScanFindings::default();
        if let Some(scans) = &mut self.scans {
            found = scans.take_found();
        }
        Ok(OutputSummary {
            files: summary.files.iter().map(OutputReport::of).collect(),
            messages: summary.messages,
            losses,
            scans: found,
            renamed: self
                .data
                .as_mut()
                .map(DataOutput::take_renamed)
                .unwrap_or_default(),
            earlier: summary.earlier,
        })
    }
}
