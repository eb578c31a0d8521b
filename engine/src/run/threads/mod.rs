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

use crate::RunError;
use crate::input::{InputStage, Lane};
use crate::ledger::Account;
use crate::output::{Demand, Exit, Far, Output};
use crate::run::shape::Shape;
use crate::run::{Context, Ended};
use crate::worker::stages::Stages;
use crate::worker::{Finished, Worker};
use flowpin_handoff::{
    Bell, HandoffError, HandoffOptions, InputEnd, Received, WorkerEnd, handoff, results,
};
use flowpin_packet::{PacketMeta, Piece, Tick};
use outlet::Outlet;
use std::sync::Arc;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// Results of one source that may be in flight: one a tick.
const RESULTS_OUT: usize = 16;

/// Runs the input through several workers.
pub(crate) fn run<O: Stages + Send>(
    context: &Context<'_>,
    shape: Shape,
    mut input: InputStage,
    workers: Vec<Worker<O>>,
    output: Output,
) -> Result<Ended, RunError> {
    let count = workers.len();
    let own_thread = matches!(shape, Shape::InputWorkersOutput(_));
    let bell = Arc::<Bell>::default();
    let (mut to_workers, ends) = handoff(HandoffOptions {
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
        let fed = feed(context, &mut input, &mut to_workers, &mut outlet);
        let ended = fed.and_then(|()| Ok(to_workers.finish_while(|| outlet.collect())?));
        let (batch, mut summary) = input.finish();
        outlet.deliver(batch);
        // A failure to write comes first: it is why a worker may have stopped.
        let written = outlet.close()?;
        summary.losses.add(&ended.map_err(lost)?);
        let workers = threads
            .into_iter()
            .enumerate()
            .map(|(number, thread)| thread.join().map_err(|_| RunError::WorkerLost(number)));
        Ok(Ended {
            shape,
            workers: workers.collect::<Result<_, _>>()?,
            input: summary,
            output: written,
        })
    })
}

/// Why feeding ended early.
#[derive(Debug)]
enum FeedError {
    Run(RunError),
    Handoff(HandoffError),
}

impl From<HandoffError> for FeedError {
    fn from(error: HandoffError) -> Self {
        Self::Handoff(error)
    }
}

fn lost(error: FeedError) -> RunError {
    match error {
        FeedError::Run(error) => error,
        FeedError::Handoff(HandoffError::WorkerGone { worker }) => RunError::WorkerLost(worker),
    }
}

/// Sends the whole input to the workers.
fn feed(
    context: &Context<'_>,
    input: &mut InputStage,
    to_workers: &mut InputEnd,
    outlet: &mut Outlet<'_>,
) -> Result<(), FeedError> {
    let owners = context.owners;
    let mut pending = Pending::default();
    let mut account = context.control.account();
    while !context.is_stopped() && !outlet.has_failed() {
        let mut piece = to_workers.take_piece_while(|| outlet.collect())?;
        if !input
            .fill(&mut piece)
            .map_err(|error| FeedError::Run(error.into()))?
        {
            to_workers.put_back(piece);
            break;
        }
        let mut lane = FanOut {
            to_workers,
            owners,
            pending: &mut pending,
        };
        let tick = input.walk(&piece, &mut lane);
        lane.flush();
        to_workers.send_piece(piece, tick)?;
        outlet.deliver(input.tick(tick));
        outlet.collect();
        outlet.recycle(input);
        account.enter(&input.losses());
        context.progress(input);
    }
    Ok(())
}

/// Deals packets out to the batches of the workers that own their shards.
pub(crate) struct FanOut<'a> {
    pub(crate) to_workers: &'a mut InputEnd,
    /// Which worker owns each shard.
    pub(crate) owners: &'a [u8; flowpin_packet::SHARD_COUNT],
    pub(crate) pending: &'a mut Pending,
}

/// Descriptors on their way to a batch.
// PERF: one that is copied right after its fields were written waits for each of them (94 % of
// this thread's work): a few later they have arrived.
#[derive(Default)]
pub(crate) struct Pending {
    metas: [PacketMeta; PENDING],
    len: usize,
}

const PENDING: usize = 16;

impl FanOut<'_> {
    /// Moves the pending descriptors to the batches, in order.
    #[inline]
    pub(crate) fn flush(&mut self) {
        let Pending { metas, len } = &mut *self.pending;
        for meta in metas.iter().take(*len) {
            let owner = usize::from(self.owners[usize::from(meta.shard().0)]);
            self.to_workers.push(owner, *meta);
        }
        *len = 0;
    }
}

impl Lane for FanOut<'_> {
    #[inline]
    fn slot(&mut self) -> &mut PacketMeta {
        let Pending { metas, len } = &mut *self.pending;
        &mut metas[*len % PENDING]
    }

    #[inline]
    fn commit(&mut self, _: &Piece) {
        self.pending.len += 1;
        if self.pending.len == PENDING {
            self.flush();
        }
    }

    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]) {
        let meta = self.slot();
        let shard = usize::from(meta.shard().0);
        let extra = &mut self
            .to_workers
            .batch_for(usize::from(self.owners[shard]))
            .extra;
        let start = u32::try_from(extra.len()).unwrap_or(u32::MAX);
        extra.extend_from_slice(datagram);
        self.slot().frame_start = start;
        self.commit(piece);
    }
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
            work(worker, end, far, account)
        })
        .map_err(RunError::Thread)
}

/// A worker thread, from its first batch to its last record.
fn work<O: Stages>(
    mut worker: Worker<O>,
    mut end: WorkerEnd,
    far: Far,
    mut account: Account,
) -> Finished {
    let demand = far.demand();
    worker.set_exit(Exit::Far(Box::new(far)));
    let mut last = Tick::default();
    while !worker.exit().is_closed() {
        // Up to the last packet of the last piece all is delivered: nothing to be called for.
        let is_exact = worker.has_delivered(last);
        let delivery = match end.recv_unless(|| !is_exact && demand.is_raised(last.time)) {
            Received::Batch(mut batch) => {
                let mut metas = core::mem::take(&mut batch.metas);
                worker.process(batch.bytes(), &mut metas);
                batch.metas = metas;
                last = batch.tick;
                end.give_back(batch);
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
