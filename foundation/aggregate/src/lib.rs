//! The interface of aggregates: everything that no single connection shows.
//!
//! ```text
//!  worker: connection records ─► Observer ──news at ticks──┐
//!                                                          ├─► Decider ─► records, in merge order
//!  worker: connection records ─► Observer ──news at ticks──┘      │       findings, losses
//!                                 (one a worker)                  (one a run)
//! ```
//!
//! A connection belongs to one worker; a scan, an address or a pair of hosts does not. So an
//! aggregate has two sides, and the engine joins them: one line in `engine/src/aggregates/mod.rs`.
//!
//! An implementation promises that its results depend on the input alone: not on how connections
//! are divided among workers, nor on when ticks come. Two ways lead there:
//!
//! - sums whose order does not matter, for any division (`pipeline/90-detect/totals`);
//! - a decision in the order of [`RecordKey`]s, or of intervals of stream time, once every worker
//!   has delivered everything up to there (`portscan`, `data-channels`).
//!
//! Deliberately knows neither formatters nor threads.

mod traffic;
pub mod travel;

pub use traffic::{CountedAs, Traffic};
pub use travel::Travel;

use core::fmt::Debug;
use core::marker::PhantomData;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_packet::Timestamp;
use flowpin_record::{Alert, ConnRecord, DataChannel, MessagePlace, RecordKey, RecordSink};
use std::io;

/// An aggregate: its two sides, and when they are needed.
pub trait Aggregate {
    /// The side on the workers.
    type Observer: Observer;
    /// The side in the output stage.
    type Decider: Decider<News = <Self::Observer as Observer>::News>;

    /// Whether a run with this plan has this aggregate.
    fn is_wanted(plan: &Plan) -> bool;

    /// The observer of one worker. `secret` keys its hash tables, so that no sender can aim at
    /// them; results must not depend on it.
    ///
    /// # Errors
    /// Where the system gives no memory.
    fn observer(plan: &Plan, secret: u64) -> io::Result<Self::Observer>;

    /// The decider of a run with that many workers.
    fn decider(plan: &Plan, workers: usize) -> Self::Decider;
}

/// What one worker sees of an aggregate.
pub trait Observer: Debug + Send + Sized {
    /// What it hands over.
    type News: Debug + Send;

    /// A connection record is written: the last one of its connection, or an interim one
    /// (`record.interim > 0`).
    #[inline]
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        let _ = (key, record);
    }

    /// A connection announces another one.
    fn data_channel(&mut self, key: RecordKey, place: &MessagePlace, told: DataChannel<'_>) {
        let _ = (key, place, told);
    }

    /// A rule fits something of a connection.
    fn alert(&mut self, key: RecordKey, place: &MessagePlace, alert: Alert<'_>) {
        let _ = (key, place, alert);
    }

    /// How much memory the news take that were not handed over yet. Totals of a fixed size are
    /// none.
    #[inline]
    fn held_bytes(&self) -> usize {
        0
    }

    /// What was seen since the last tick. Stream time has come to `now`.
    fn tick(&mut self, now: Timestamp) -> Option<Self::News> {
        let _ = now;
        None
    }

    /// All that is left, after the last connection has ended. The input has ended at `end`, which
    /// is behind the time of every packet and not behind that of any connection's record.
    fn finish(self, end: Timestamp) -> Option<Self::News>;
}

/// What all workers' observations come to.
pub trait Decider: Debug + Send {
    /// What workers hand over.
    type News;
    /// What is left for the summary of the run.
    type Findings: Debug + Default + Send;

    /// Whether it emits records. One that does is a source of the merger.
    const EMITS: bool;

    /// Takes what a worker hands over; each worker's news come in order.
    fn add(&mut self, worker: usize, news: Self::News);

    /// Decides what can be decided: every worker has delivered everything up to `delivered`.
    /// Returns the key up to which all records of this aggregate are emitted.
    fn decide(&mut self, delivered: RecordKey, out: &mut impl Emit) -> RecordKey {
        let _ = out;
        delivered
    }

    /// What did not fit, up to now. Complete after [`Decider::take_findings`].
    fn losses(&self) -> Losses {
        Losses::default()
    }

    /// What was found. Called once, after the last decision.
    fn take_findings(&mut self) -> Self::Findings;
}

/// Where a decider emits records.
pub trait Emit: RecordSink {
    /// The worker's record with this key is replaced by one of this aggregate. Keys come in order.
    fn supersede(&mut self, key: RecordKey);
}

/// The observer of an aggregate that sees packets instead of records: a stage of the worker
/// observes them, and hands the news over itself.
#[derive(Debug)]
pub struct InStage<N>(PhantomData<fn() -> N>);

impl<N> Default for InStage<N> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<N: Debug + Send> Observer for InStage<N> {
    type News = N;

    fn finish(self, _: Timestamp) -> Option<N> {
        None
    }
}
