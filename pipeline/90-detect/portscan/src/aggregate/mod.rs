//! Scans and floods as an aggregate: where the workers' observations meet.

mod findings;

pub use findings::ScanFindings;

use crate::{Merger, ScanCaps, ScanOptions, Summary};
use findings::Counting;
use flowpin_aggregate::{Aggregate, Decider, Emit, InStage};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_packet::Timestamp;
use flowpin_record::RecordKey;
use std::io;

/// Scans and floods. A stage of the worker drives the [`Observer`](crate::Observer), since packets
/// matter here.
#[derive(Debug)]
pub struct Scans;

impl Aggregate for Scans {
    type Observer = InStage<ScanNews>;
    type Decider = ScanDecider;

    fn is_wanted(plan: &Plan) -> bool {
        plan.scans.enabled
    }

    fn observer(_: &Plan, _: u64) -> io::Result<InStage<ScanNews>> {
        Ok(InStage::default())
    }

    fn decider(plan: &Plan, workers: usize) -> ScanDecider {
        let caps = ScanCaps::of(plan.memory_bytes);
        let options = ScanOptions::new(&plan.scans, plan.id_seed, caps);
        ScanDecider {
            merger: Merger::new(workers, options),
            running: workers,
            end: Timestamp::default(),
            is_finished: false,
            found: ScanFindings::default(),
        }
    }
}

/// What a worker's observer hands over.
#[derive(Debug)]
pub enum ScanNews {
    /// The intervals that a tick has closed.
    Closed(Summary),
    /// All that is left.
    Last {
        /// The open intervals.
        summary: Summary,
        /// When the input ended.
        end: Timestamp,
    },
}

/// Decides what is a scan or a flood.
#[derive(Debug)]
pub struct ScanDecider {
    merger: Merger,
    /// Workers that have more to hand over.
    running: usize,
    /// When the input ended.
    end: Timestamp,
    is_finished: bool,
    found: ScanFindings,
}

impl Decider for ScanDecider {
    type News = ScanNews;
    type Findings = ScanFindings;
    const EMITS: bool = true;

    fn add(&mut self, worker: usize, news: ScanNews) {
        match news {
            ScanNews::Closed(summary) => self.merger.add(worker, summary),
            ScanNews::Last { summary, end } => {
                self.merger.add(worker, summary);
                self.running = self.running.saturating_sub(1);
                self.end = self.end.max(end);
            }
        }
    }

    fn decide(&mut self, delivered: RecordKey, out: &mut impl Emit) -> RecordKey {
        let mut out = Counting {
            out,
            found: &mut self.found,
        };
        if self.running == 0 {
            if !core::mem::replace(&mut self.is_finished, true) {
                self.merger.finish(self.end, &mut out);
            }
            return RecordKey::LAST;
        }
        self.merger.decide(&mut out);
        // The last records have the time of the input's end, which no tick has reached.
        let decided = RecordKey {
            time: self.merger.watermark(),
            ..RecordKey::LAST
        };
        delivered.min(decided)
    }

    fn losses(&self) -> Losses {
        *self.merger.losses()
    }

    fn take_findings(&mut self) -> ScanFindings {
        core::mem::take(&mut self.found)
    }
}
