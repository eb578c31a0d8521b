//! The output stage: merges the records of workers and input stage, and writes them.

mod exit;
mod latency;
pub(crate) mod messages;

pub(crate) use exit::{Demand, Exit, Far, Here};
pub use latency::RecordLatency;

use crate::aggregates::{Deciders, Findings, News};
use crate::ledger::Account;
use crate::parts::{Seam, Teller};
use crate::recall::Recall;
use crate::report::OutputReport;
use crate::run::busy::Busy;
use crate::{Control, RunError};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{Earlier, Merger, MessageCount, RecordBatch, Writers};
use flowpin_packet::InterfaceNames;
use latency::Latency;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Records and news that a worker or the input stage hands over at a tick.
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
    /// Requests to reopen that are done.
    reopened: u32,
    account: Account,
    /// The time of the last flush.
    flushed: Instant,
    /// Of a live run: how long records take.
    latency: Option<Latency>,
    /// The conditional recording, if there is one.
    recall: Option<Recall>,
    /// Records are handed on at every tick, not now and then.
    at_ticks: bool,
    /// What merging and writing take, if that is asked for.
    busy: Option<Busy>,
    /// Of a part: who takes what the whole run decides.
    teller: Option<Teller>,
    /// Of a slice: which records are its own.
    seam: Option<Arc<Seam>>,
}

/// Readers of growing files see new records after about this time: sooner than a silent interface
/// tells for the last time that nothing comes.
const FLUSH_EVERY: Duration = Duration::from_millis(200);

/// The files and records that were written.
#[derive(Default)]
pub(crate) struct OutputSummary {
    pub(crate) files: Vec<OutputReport>,
    pub(crate) messages: Vec<MessageCount>,
    pub(crate) losses: Losses,
    pub(crate) found: Findings,
    pub(crate) earlier: Earlier,
    /// Of a live run: how long records took.
    pub(crate) latency: Option<RecordLatency>,
    /// What merging and writing have taken, if that was asked for.
    pub(crate) busy: Busy,
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
            recall: None,
            latency: plan.is_live().then(Latency::default),
            at_ticks: plan.output.is_one_place(),
            busy: None,
            teller: None,
            seam: None,
        }
    }

    /// Makes it the output of a part, which decides nothing that depends on other parts.
    pub(crate) fn be_part(&mut self, teller: Teller, seam: Option<Arc<Seam>>) {
        (self.teller, self.seam) = (Some(teller), seam);
    }

    /// The names of the interfaces that records carry numbers of.
    pub(crate) fn name_interfaces(&mut self, names: &InterfaceNames) {
        self.deciders.name_interfaces(names);
    }

    /// Decides what a conditional recording has.
    pub(crate) fn recall(&mut self, recall: Recall) {
        self.deciders.recall(&recall);
        self.recall = Some(recall);
    }

    /// Where alerts of packets that belong to no connection are put, if there are rules.
    pub(crate) fn alerts_inbox(&self) -> Option<flowpin_detect::Inbox> {
        self.deciders.alerts_inbox()
    }

    /// From here on it is measured what merging and writing take.
    pub(crate) fn measure(&mut self) {
        self.busy = Some(Busy::default());
    }

    /// Takes the delivery of one source.
    pub(crate) fn push(&mut self, source: usize, delivery: impl Into<Delivery>) {
        let Delivery {
            mut records,
            mut news,
        } = delivery.into();
        if let Some(seam) = &self.seam {
            seam.cut(&mut records);
            seam.cut_news(&mut news);
        }
        if let Some(teller) = &mut self.teller {
            teller.tell(&mut news, self.deciders.take_inbox());
        }
        self.deciders.push(source, records.watermark(), news);
        self.merger.push(source, records);
    }

    /// Writes the records up to which all sources have delivered; written batches go to `recycle`.
    pub(crate) fn write(
        &mut self,
        recycle: impl FnMut(usize, RecordBatch),
    ) -> Result<(), RunError> {
        match self.busy {
            None => self.write_all(recycle),
            Some(mut busy) => {
                let done = busy.spend(|| self.write_all(recycle));
                self.busy = Some(busy);
                done
            }
        }
    }

    fn write_all(&mut self, mut recycle: impl FnMut(usize, RecordBatch)) -> Result<(), RunError> {
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
        if let Some(recall) = &self.recall {
            recall.advance(merger.written())?;
        }
        let reopens = self.control.reopens();
        if reopens != self.reopened {
            self.reopened = reopens;
            self.writers.reopen()?;
        }
        self.control.set_records(self.writers.records_written());
        if self.writers.is_closed() {
            self.control.set_reader_left();
        }
        self.account.enter(&self.losses());
        let is_due = self.flushed.elapsed() >= FLUSH_EVERY;
        if is_due {
            self.writers.flush()?;
            if let Some(recall) = &self.recall {
                recall.flush();
            }
            self.flushed = Instant::now();
        }
        if is_due || self.at_ticks {
            self.note_latency();
        }
        Ok(())
    }

    /// Records were handed to the system.
    fn note_latency(&mut self) {
        if let Some(latency) = &mut self.latency
            && let Some(oldest) = self.writers.take_oldest()
        {
            latency.note(oldest, &self.control);
        }
    }

    /// Losses so far.
    fn losses(&self) -> Losses {
        let mut losses = *self.writers.losses();
        losses.add(&self.deciders.losses());
        if let Some(recall) = &self.recall {
            losses.add(&recall.losses());
        }
        losses
    }

    /// Completes all files.
    pub(crate) fn close(mut self) -> Result<OutputSummary, RunError> {
        let mut busy = self.busy.unwrap_or_default();
        busy.spend(|| self.writers.finish())?;
        if let Some(recall) = &self.recall {
            recall.end()?;
        }
        self.note_latency();
        let summary = self.writers.summary();
        let found = self.deciders.take_findings();
        let losses = self.losses();
        Ok(OutputSummary {
            files: summary.files.iter().map(OutputReport::of).collect(),
            messages: summary.messages,
            losses,
            found,
            earlier: summary.earlier,
            latency: self.latency.as_ref().map(Latency::so_far),
            busy,
        })
    }
}
