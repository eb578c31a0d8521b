//! The output stage: merges what workers and input stage deliver, and writes it.

use crate::report::OutputReport;
use crate::{Control, RunError};
use flowpin_counters::Losses;
use flowpin_output::{Merger, RecordBatch, Writers};

/// Merger and writers together.
pub(crate) struct Output {
    merger: Merger,
    writers: Writers,
    control: Control,
    /// Requests to reopen that were met.
    reopened: u32,
}

/// What was written.
#[derive(Default)]
pub(crate) struct OutputSummary {
    pub(crate) files: Vec<OutputReport>,
    pub(crate) losses: Losses,
}

impl Output {
    /// An output with one source for each worker, and one more for the input stage.
    pub(crate) fn new(workers: usize, writers: Writers, control: &Control) -> Self {
        Self {
            merger: Merger::new(workers + 1),
            writers,
            reopened: control.reopens(),
            control: control.clone(),
        }
    }

    /// Takes a batch of one source.
    pub(crate) fn push(&mut self, source: usize, batch: RecordBatch) {
        self.merger.push(source, batch);
    }

    /// Writes what all sources have delivered; batches that are done go to `recycle`.
    pub(crate) fn write(
        &mut self,
        recycle: impl FnMut(usize, RecordBatch),
    ) -> Result<(), RunError> {
        self.merger.drain(&mut self.writers, recycle)?;
        let reopens = self.control.reopens();
        if reopens != self.reopened {
            self.reopened = reopens;
            self.writers.reopen()?;
        }
        self.control.tell_records(self.writers.records_written());
        Ok(())
    }

    /// Whether nobody reads any more what is written: the run may end.
    pub(crate) fn is_closed(&self) -> bool {
        self.writers.is_closed()
    }

    /// Completes all files.
    pub(crate) fn close(mut self) -> Result<OutputSummary, RunError> {
        self.writers.finish()?;
        let summary = self.writers.summary();
        Ok(OutputSummary {
            files: summary.files.iter().map(OutputReport::of).collect(),
            losses: summary.losses,
        })
    }
}
