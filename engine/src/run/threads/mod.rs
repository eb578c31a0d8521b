//! `2xN` and `3xN`: an input thread, N workers, and the output on the input thread or its own.
//!
//! ```text
//!  input thread ──batches──► worker 0 ──records──┐
//!     ▲  │                   worker 1 ──records──┼─► merge, write   2xN: on the input thread,
//!     │  └──────────────────► …                  │   whenever it waits and after each piece
//!     └── pieces return ◄─────┘                  └─► 3xN: on a thread of its own
//! ```
//!
//! There is no circular wait: the input thread takes results while it waits for pieces, and an
//! output thread waits for the disk only. A worker that waits because too many of its records are
//! on their way calls the others, also those that wait for a batch: they deliver up to the last
//! packet, so that the records of the one that lags most can be written (decision 0030).

mod outlet;

pub(super) use outlet::{give_back, write_all};

use crate::RunError;
use crate::input::InputStage;
use crate::ledger::Account;
use crate::output::{Demand, Exit, Far, Output};
use crate::run::busy::Busy;
use crate::run::feeder::{FeedError, Feeder};
use crate::run::shape::Shape;
use crate::run::{Context, Ended};
use crate::worker::stages::Stages;
use crate::worker::{Finished, Worker};
use flowpin_handoff::{Bell, HandoffOptions, Received, WorkerEnd, handoff, results};
use flowpin_packet::Tick;
use outlet::Outlet;
use std::sync::Arc;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// Results of one source that may be in flight: one a tick.
pub(super) const RESULTS_OUT: usize = 16;

/// Runs the input through several workers.
pub(crate) fn run<O: Stages + Send>(
    context: &Context<'_>,
    shape: Shape,
    input: InputStage,
    workers: Vec<Worker<O>>,
    mut output: Output,
) -> Result<Ended, RunError> {
    output.measure();
    let mut busy = Busy::default();
    let count = workers.len();
    let own_thread = matches!(shape, Shape::InputWorkersOutput(_));
    let bell = Arc::<Bell>::default();
    let (to_workers, ends) = handoff(HandoffOptions {
        workers: count,
        batches_out: context.pieces_out,
        drop_when_full: context.drop_when_full,
        bell: Arc::clone(&bell),
    });
    let results_bell = if own_thread { Arc::default() } else { bell };
    // The input stage is the last source.
    let (mut senders, receiver) = results(count + 1, RESULTS_OUT, results_bell);
    let input_sender = senders.pop().filter(|_| own_thread);
    let demand = Arc::new(Demand::new(ends.iter().map(WorkerEnd::bell).collect()));
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(count);
        for ((worker, end), sender) in workers.into_iter().zip(ends).zip(senders) {
            let far = Far::new(sender, Arc::clone(&demand));
            threads.push(start(scope, context, worker, end, far)?);
        }
        let mut outlet = match input_sender {
            Some(sender) => Outlet::start(scope, context, sender, receiver, output)?,
            None => Outlet::here(receiver, output, count),
        };
        let mut feeder = Feeder::new(context, input, to_workers);
        let fed = busy.spend(|| feed(&mut feeder, &mut outlet));
        let (input, to_workers) = feeder.into_parts();
        let ended =
            busy.spend(|| fed.and_then(|()| Ok(to_workers.finish_while(|| outlet.collect())?)));
        let (batch, mut summary) = input.finish();
        outlet.deliver(batch);
        // A failure to write comes first: it is why a worker may have stopped.
        let written = outlet.close()?;
        summary.losses.add(&ended?);
        let workers = threads
            .into_iter()
            .enumerate()
            .map(|(number, thread)| thread.join().map_err(|_| RunError::WorkerLost(number)));
        Ok(Ended {
            shape,
            workers: workers.collect::<Result<_, _>>()?,
            input: summary,
            steps: vec![
                match own_thread {
                    true => busy,
                    false => busy.without(written.busy),
                }
                .of_step("input"),
                written.busy.of_step("write"),
            ],
            output: written,
        })
    })
}

/// Sends the whole input to the workers.
fn feed(feeder: &mut Feeder<'_>, outlet: &mut Outlet<'_>) -> Result<(), FeedError> {
    while !feeder.is_stopped() && !outlet.has_failed() {
        let parcel = feeder.to_workers.take_parcel_while(|| outlet.collect())?;
        let Some(own) = feeder.feed(parcel)? else {
            break;
        };
        outlet.deliver(own);
        outlet.collect();
        outlet.recycle(&mut feeder.input);
    }
    Ok(())
}

fn start<'scope, O: Stages + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    context: &Context<'_>,
    worker: Worker<O>,
    end: WorkerEnd,
    far: Far,
) -> Result<ScopedJoinHandle<'scope, Finished>, RunError> {
    let number = end.worker();
    let cpu = context.cpu(number + 1);
    let account = context.control.account();
    Builder::new()
        .name(format!("worker-{number}"))
        .spawn_scoped(scope, move || {
            crate::run::pin(cpu);
            work(worker, end, far, account, &mut ())
        })
        .map_err(RunError::Thread)
}

/// What a worker's thread does besides its own work.
pub(super) trait Others {
    /// Called before each look for a batch that was not there at once.
    fn help(&mut self) {}

    /// Called with a batch in hand, and none behind it.
    fn read_ahead(&mut self) {}

    /// Called after each batch.
    fn call(&mut self) {}
}

impl Others for () {}

/// A worker thread, from its first batch to its last record.
pub(super) fn work<O: Stages>(
    mut worker: Worker<O>,
    mut end: WorkerEnd,
    far: Far,
    mut account: Account,
    others: &mut impl Others,
) -> Finished {
    let demand = far.demand();
    worker.set_exit(Exit::Far(Box::new(far)));
    let mut last = Tick::default();
    while !worker.exit().is_closed() {
        // Up to the last packet of the last piece all is delivered: nothing to be called for.
        let is_exact = worker.has_delivered(last);
        let is_called = || {
            others.help();
            !is_exact && demand.is_raised(last.time)
        };
        let delivery = match end.recv_unless(is_called) {
            Received::Batch(mut batch) => {
                if !end.has_next() {
                    others.read_ahead();
                }
                let mut metas = core::mem::take(&mut batch.metas);
                worker.process(batch.bytes(), &mut metas);
                batch.metas = metas;
                last = batch.tick;
                end.give_back(batch);
                others.call();
                account.enter(&worker.losses());
                worker.tick(last)
            }
            Received::Called => worker.tick_exactly(last),
            Received::Ended => break,
        };
        worker.send(delivery);
    }
    while !worker.exit().is_closed()
        && let Some(delivery) = worker.end_some()
    {
        worker.send(delivery);
    }
    let mut exit = core::mem::replace(worker.exit(), Exit::Nowhere);
    let (delivery, mut finished) = worker.finish();
    // Without a receiver the output has failed, and reports that itself.
    exit.send(delivery, |_| {});
    let cpu_ns = flowpin_cpu::thread_cpu_time().as_nanos();
    finished.report.cpu_ns = u64::try_from(cpu_ns).unwrap_or(u64::MAX);
    finished
}
