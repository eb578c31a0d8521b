//! Where the workers' observations meet: scans and floods, as one more source of records.

mod found;

pub use found::ScanFindings;

use crate::output::ScanNews;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::Timestamp;
use flowpin_portscan::{Merger, ScanOptions};
use flowpin_record::RecordKey;
use found::Told;

/// The scan detector's merger, and the formatter of its records.
#[derive(Debug)]
pub(crate) struct ScanOutput {
    merger: Merger,
    formatter: Formatter,
    found: ScanFindings,
    /// By worker: up to where it has delivered its own records, and whether that was all.
    workers: Vec<(RecordKey, bool)>,
}

impl ScanOutput {
    /// For so many workers; none if scans are not looked for.
    pub(crate) fn new(workers: usize, plan: &Plan) -> Option<Self> {
        let options = ScanOptions::new(&plan.scans, plan.id_seed);
        plan.scans.enabled.then(|| Self {
            merger: Merger::new(workers, options),
            formatter: Formatter::new(&plan.output),
            found: ScanFindings::default(),
            workers: vec![(RecordKey::default(), false); workers],
        })
    }

    /// Its number among the sources: behind the workers and the input stage.
    pub(crate) fn source(&self) -> usize {
        self.workers.len() + 1
    }

    /// Takes what a source delivers besides its records, of which it has delivered all up to
    /// `watermark`. The input stage observes nothing.
    pub(crate) fn push(&mut self, source: usize, watermark: RecordKey, news: Option<ScanNews>) {
        let Some((delivered, is_done)) = self.workers.get_mut(source) else {
            return;
        };
        *delivered = watermark;
        let mut told = Told {
            formatter: &mut self.formatter,
            found: &mut self.found,
        };
        match news {
            None => {}
            Some(ScanNews::Closed(summary)) => {
                self.merger.add(source, summary);
                self.merger.decide(&mut told);
            }
            Some(ScanNews::Last { summary, end }) => {
                *is_done = true;
                self.merger.add(source, summary);
                if self.workers.iter().all(|worker| worker.1) {
                    self.merger.finish(end, &mut told);
                }
            }
        }
    }

    /// The records that no other will come before.
    pub(crate) fn take_batch(&mut self) -> RecordBatch {
        if self.workers.iter().all(|worker| worker.1) {
            return self.formatter.take_batch(Timestamp::MAX);
        }
        // The last records have the time of the input's end, which no tick has reached.
        let ticked = self.workers.iter().map(|worker| worker.0).min();
        let decided = RecordKey {
            time: self.merger.watermark(),
            number: u64::MAX,
            ordinal: u32::MAX,
        };
        let watermark = ticked.unwrap_or_default().min(decided);
        self.formatter.take_batch_up_to(watermark)
    }

    /// Takes a written batch home.
    pub(crate) fn recycle(&mut self, batch: RecordBatch) {
        self.formatter.recycle(batch);
    }

    /// What was found, once all workers have delivered their last.
    pub(crate) fn take_found(&mut self) -> ScanFindings {
        core::mem::take(&mut self.found)
    }

    /// What did not fit.
    pub(crate) const fn losses(&self) -> &Losses {
        self.merger.losses()
    }
}
