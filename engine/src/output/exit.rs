//! A worker's way to the output, for records that do not wait until the end of a piece.

use crate::RunError;
use crate::output::{Delivery, Output};
use crate::run::single::{INPUT, WORKER};
use flowpin_flow::GRANULE_NS;
use flowpin_handoff::{Bell, ResultSender};
use flowpin_output::RecordBatch;
use flowpin_packet::Timestamp;
use flowpin_record::RecordKey;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a worker's records go.
pub(crate) enum Exit {
    /// They wait until somebody takes them at a tick.
    Nowhere,
    /// The output on the same thread.
    Here(Box<Here>),
    /// The output on another thread.
    Far(Box<Far>),
}

impl Exit {
    /// Sends records and news; `recycle` gets written batches, to be reused.
    pub(crate) fn send(&mut self, delivery: Delivery, recycle: impl FnMut(RecordBatch)) {
        match self {
            Self::Nowhere => debug_assert!(false, "a worker without output is never full"),
            Self::Here(here) => {
                here.push_worker(delivery);
                here.write();
                here.written.drain(..).for_each(recycle);
            }
            Self::Far(far) => far.send(delivery, recycle),
        }
    }

    /// Whether nobody takes records any more.
    pub(crate) const fn is_closed(&self) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Here(here) => here.failure.is_some(),
            Self::Far(far) => far.is_closed,
        }
    }

    /// From now on, and until the end of the granule of `time`, all workers deliver up to the last
    /// packet at each tick.
    pub(crate) fn demand_exact(&mut self, time: Timestamp) {
        match self {
            Self::Nowhere => {}
            Self::Here(here) => here.exact = granule(time),
            Self::Far(far) => far.demand.raise(time),
        }
    }

    /// Whether they do at this time.
    pub(crate) fn is_exact(&self, time: Timestamp) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Here(here) => granule(time) <= here.exact,
            Self::Far(far) => far.demand.is_raised(time),
        }
    }
}

/// Granules are counted from 1: 0 is none.
const fn granule(time: Timestamp) -> u64 {
    time.0.saturating_sub(1) / GRANULE_NS + 1
}

/// The output, merged and written on the worker's own thread.
pub(crate) struct Here {
    output: Output,
    failure: Option<RunError>,
    /// The granule in which records do not wait for its end.
    exact: u64,
    /// Up to where the input stage has delivered.
    of_input: RecordKey,
    /// Written batches of the worker, and of the input stage.
    written: Vec<RecordBatch>,
    written_of_input: Vec<RecordBatch>,
}

impl Here {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            output,
            failure: None,
            exact: 0,
            of_input: RecordKey::default(),
            written: Vec::new(),
            written_of_input: Vec::new(),
        }
    }

    /// Takes records of the worker. The input stage has handed over its own records of all packets
    /// that the worker has, and has no others with such keys.
    pub(crate) fn push_worker(&mut self, delivery: Delivery) {
        if self.failure.is_some() {
            return;
        }
        let until = delivery.records.watermark();
        self.output.push(WORKER, delivery);
        if until > self.of_input && until != RecordKey::LAST {
            self.push_input(RecordBatch::none_up_to(until));
        }
    }

    /// Takes records of the input stage.
    pub(crate) fn push_input(&mut self, batch: RecordBatch) {
        if self.failure.is_some() {
            return;
        }
        self.of_input = self.of_input.max(batch.watermark());
        self.output.push(INPUT, batch);
    }

    /// Writes what both have delivered. After a failure records are discarded.
    pub(crate) fn write(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let (written, of_input) = (&mut self.written, &mut self.written_of_input);
        let done = self.output.write(|source, batch| match source {
            WORKER => written.push(batch),
            _ => of_input.push(batch),
        });
        self.failure = done.err();
    }

    /// Written batches of the input stage.
    pub(crate) fn written_of_input(&mut self) -> impl Iterator<Item = RecordBatch> + '_ {
        self.written_of_input.drain(..)
    }

    /// The failure to write, if there was one.
    pub(crate) fn take_failure(&mut self) -> Result<(), RunError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// The output, to be closed.
    pub(crate) fn into_output(self) -> Output {
        self.output
    }
}

/// The output on another thread.
pub(crate) struct Far {
    results: ResultSender<Delivery>,
    demand: Arc<Demand>,
    /// What this thread does while there is no room for its records.
    meanwhile: Box<dyn FnMut() + Send>,
    /// The output is gone: it reports its failure itself.
    is_closed: bool,
}

impl Far {
    pub(crate) fn new(results: ResultSender<Delivery>, demand: Arc<Demand>) -> Self {
        Self::busy(results, demand, Box::new(|| {}))
    }

    /// As [`Far::new`], for a thread that does something else while there is no room.
    pub(crate) fn busy(
        results: ResultSender<Delivery>,
        demand: Arc<Demand>,
        meanwhile: Box<dyn FnMut() + Send>,
    ) -> Self {
        Self {
            results,
            demand,
            meanwhile,
            is_closed: false,
        }
    }

    /// What all workers share.
    pub(crate) fn demand(&self) -> Arc<Demand> {
        Arc::clone(&self.demand)
    }

    fn send(&mut self, delivery: Delivery, recycle: impl FnMut(RecordBatch)) {
        if self.is_closed {
            return;
        }
        let time = delivery.records.watermark().time;
        let bytes = delivery.records.bytes();
        let (demand, meanwhile) = (&self.demand, &mut self.meanwhile);
        let sent = (self.results).send_while(
            delivery,
            (bytes, BYTES_OUT),
            || demand.call(time),
            meanwhile,
        );
        self.is_closed = sent.is_err();
        let returned = core::iter::from_fn(|| self.results.returned());
        returned.map(|delivery| delivery.records).for_each(recycle);
    }
}

/// Records of one worker that may be on their way to the output or wait there, in bytes.
const BYTES_OUT: usize = 3 << 19;

/// A worker whose records fill what may be on its way asks all workers to deliver up to the last
/// packet, not only up to the granule's beginning: the merger waits for all of them.
#[derive(Debug)]
pub(crate) struct Demand {
    /// The granule for which it was raised last. Nothing has to lower it: time goes on.
    granule: AtomicU64,
    /// The bells at which workers wait for batches.
    workers: Vec<Arc<Bell>>,
}

// Relaxed: when a worker learns of it changes nothing but how long records wait; a worker that
// sleeps learns of it by the bell, whose fences order the load after the store.
impl Demand {
    pub(crate) const fn new(workers: Vec<Arc<Bell>>) -> Self {
        Self {
            granule: AtomicU64::new(0),
            workers,
        }
    }

    fn raise(&self, time: Timestamp) {
        self.granule.fetch_max(granule(time), Ordering::Relaxed);
    }

    /// Whether workers deliver up to the last packet at this time. One that lags behind a worker
    /// that has raised it in a later granule does so, too.
    pub(crate) fn is_raised(&self, time: Timestamp) -> bool {
        granule(time) <= self.granule.load(Ordering::Relaxed)
    }

    /// Raises it, and wakes the workers that wait for a batch.
    fn call(&self, time: Timestamp) {
        self.raise(time);
        self.workers.iter().for_each(|bell| bell.ring());
    }
}
