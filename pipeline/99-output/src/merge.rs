//! Many workers' records into one order.
//!
//! ```text
//!  worker 0  ─┐ batches, each sorted, complete up to its watermark
//!  worker 1  ─┼─► Merger ──► all records up to the least watermark, by key ──► Writers
//!  input     ─┘
//! ```
//!
//! Owns the batches until they are merged. Guarantees that the order does not depend on how the
//! records were spread over the sources. With one source a batch passes straight through.

use crate::batch::{Entry, RecordBatch};
use crate::{OutputError, Writers};
use flowpin_record::RecordKey;
use std::collections::VecDeque;

/// Merges the batches of several sources (workers, and the input stage) by [`RecordKey`].
#[derive(Debug)]
pub struct Merger {
    sources: Vec<Source>,
    /// Up to where everything was written.
    written: RecordKey,
    /// Keys of records that another source's take the place of, in order, and that source.
    superseded: VecDeque<(RecordKey, usize)>,
}

#[derive(Debug, Default)]
struct Source {
    batches: VecDeque<RecordBatch>,
    /// Position in the first batch.
    next: usize,
    /// Up to where the source has delivered everything.
    watermark: RecordKey,
}

impl Merger {
    /// A merger for so many sources.
    pub fn new(sources: usize) -> Self {
        Self {
            sources: (0..sources).map(|_| Source::default()).collect(),
            written: RecordKey::default(),
            superseded: VecDeque::new(),
        }
    }

    /// Takes a batch of one source; each source's batches come in order. A source that there is
    /// not is a defect of the caller.
    pub fn push(&mut self, source: usize, batch: RecordBatch) {
        debug_assert!(source < self.sources.len(), "no such source");
        if let Some(source) = self.sources.get_mut(source) {
            debug_assert!(source.watermark <= batch.watermark, "watermarks only rise");
            source.watermark = source.watermark.max(batch.watermark);
            source.batches.push_back(batch);
        }
    }

    /// Of two records with this key only that of the source `by` is written. Keys come in order,
    /// and before any record with the key is written.
    pub fn supersede(&mut self, key: RecordKey, by: usize) {
        debug_assert!(self.written < key, "what was written stays");
        self.superseded.push_back((key, by));
    }

    /// Up to where everything was written.
    pub const fn written(&self) -> RecordKey {
        self.written
    }

    /// Writes everything that all sources have delivered, in order. Batches that are done go to
    /// `recycle` with their source's number.
    ///
    /// # Errors
    ///
    /// The first failure to write; the records up to there are in the files.
    pub fn drain(
        &mut self,
        writers: &mut Writers,
        mut recycle: impl FnMut(usize, RecordBatch),
    ) -> Result<(), OutputError> {
        let watermark = self.sources.iter().map(|source| source.watermark).min();
        let watermark = watermark.unwrap_or_default();
        for (number, source) in self.sources.iter_mut().enumerate() {
            source.retire((number, watermark), writers, &mut recycle);
        }
        while let Some((first, until)) = self.next_run(watermark) {
            let Some(source) = self.sources.get_mut(first) else {
                break;
            };
            let bounds = (first, watermark, until.as_ref());
            source.write_run(bounds, &mut self.superseded, writers)?;
            source.retire((first, watermark), writers, &mut recycle);
        }
        debug_assert!(self.written <= watermark, "watermarks only rise");
        self.written = watermark;
        // Where no format is written there were no records to take the place of.
        while self
            .superseded
            .front()
            .is_some_and(|(key, _)| *key <= watermark)
        {
            self.superseded.pop_front();
        }
        writers.end_of_tick()
    }

    /// The source whose record comes next, and the record of another source before which its run
    /// ends; none if all up to the watermark is written.
    fn next_run(&self, watermark: RecordKey) -> Option<(usize, Option<Entry>)> {
        let mut best: Option<(usize, &Entry)> = None;
        let mut second: Option<&Entry> = None;
        for (number, source) in self.sources.iter().enumerate() {
            let Some(head) = source.head().filter(|head| head.key <= watermark) else {
                continue;
            };
            match best {
                Some((_, entry)) if entry.order(head).is_le() => {
                    if second.is_none_or(|second| head.order(second).is_lt()) {
                        second = Some(head);
                    }
                }
                _ => {
                    second = best.map(|(_, entry)| entry);
                    best = Some((number, head));
                }
            }
        }
        best.map(|(number, _)| (number, second.copied()))
    }
}

impl Source {
    fn head(&self) -> Option<&Entry> {
        self.batches.front()?.entries.get(self.next)
    }

    /// Writes records of the first batch as long as they come before `until`, but for those that
    /// another source's take the place of.
    fn write_run(
        &mut self,
        (number, watermark, until): (usize, RecordKey, Option<&Entry>),
        superseded: &mut VecDeque<(RecordKey, usize)>,
        writers: &mut Writers,
    ) -> Result<(), OutputError> {
        let Some(batch) = self.batches.front() else {
            return Ok(());
        };
        while let Some(record) = batch.record(self.next) {
            let behind = until.is_some_and(|until| record.entry.order(until).is_gt());
            if behind || record.entry.key > watermark {
                break;
            }
            self.next += 1;
            // One whose record its worker left out.
            while superseded
                .front()
                .is_some_and(|&(key, _)| key < record.entry.key)
            {
                superseded.pop_front();
            }
            if let Some(&(key, by)) = superseded.front()
                && key == record.entry.key
                && by != number
            {
                superseded.pop_front();
                continue;
            }
            writers.write(&record)?;
        }
        Ok(())
    }

    /// Sends finished batches home.
    fn retire(
        &mut self,
        (number, watermark): (usize, RecordKey),
        writers: &mut Writers,
        recycle: &mut impl FnMut(usize, RecordBatch),
    ) {
        let is_done = |batch: &RecordBatch, next| {
            next >= batch.len() && (batch.companion_bytes == 0 || batch.watermark <= watermark)
        };
        while self
            .batches
            .front()
            .is_some_and(|batch| is_done(batch, self.next))
        {
            let Some(batch) = self.batches.pop_front() else {
                break;
            };
            self.next = 0;
            writers.count_built(&batch);
            recycle(number, batch);
        }
    }
}
