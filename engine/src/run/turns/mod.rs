//! `1xN`: N threads that each do everything: connections of their own, and turns at the rest.
//!
//! ```text
//!   in order, one thread at a time      any thread       in order, one at a time
//!   read a piece, list its frames ──► describe them ──► fragments, tunnels, hand out
//!                                                              │
//!         ┌──── batches ◄─────────────────┬────────────────────┘
//!         ▼                               ▼
//!   thread 0: its worker ─┐         thread 1: its worker ─┐        …
//!                         └─► records ◄───────────────────┘
//!                                └─► merge and write, in order, one thread at a time
//! ```
//!
//! A thread handles its own batches. Before the last of them, and without any, it takes a turn at
//! the input; without any, it also writes what is there to be written. It does not wait for a turn
//! that another thread has. So no core is idle while there is work, whatever the stages cost, and
//! there are no more threads than cores. The answer is that of every shape: what depends on the
//! order of the input happens in that order.
//!
//! There is no circular wait. A thread that has no room for its records writes meanwhile; those
//! that have no batch deliver up to the last packet when they are called (decision 0030). No thread
//! waits for room while it holds a turn.

mod claims;
mod order_desk;
mod output_desk;
mod portion;
mod reading_desk;

use crate::RunError;
use crate::input::{Describer, InputStage};
use crate::ledger::Account;
use crate::output::{Demand, Far, Output};
use crate::run::busy::Busy;
use crate::run::shape::Shape;
use crate::run::threads::{Others, RESULTS_OUT, work};
use crate::run::{Context, Ended};
use crate::worker::stages::Stages;
use crate::worker::{Finished, Worker};
use flowpin_handoff::{Bell, HandoffOptions, WorkerEnd, handoff, results};
use flowpin_packet::SHARD_COUNT;
use order_desk::OrderDesk;
use output_desk::OutputDesk;
use portion::Portion;
use reading_desk::ReadingDesk;
use std::sync::Arc;
use std::thread::{self, Builder};

/// What the threads share.
struct Floor<'a> {
    reading: ReadingDesk<'a>,
    order: OrderDesk<'a>,
    output: Arc<OutputDesk>,
    /// Which worker owns each shard.
    owners: &'a [u8; SHARD_COUNT],
    /// Where the threads wait.
    bells: Vec<Arc<Bell>>,
}

/// One thread's part in what the threads share.
struct Helper<'f, 'a> {
    floor: &'f Floor<'a>,
    describer: Describer,
    /// What reading before its turn has taken, and describing.
    fetching: Busy,
    describing: Busy,
    /// Where to look first for a thread that sleeps.
    next: usize,
}

impl Others for Helper<'_, '_> {
    fn help(&mut self) {
        self.floor.output.collect();
        self.read_ahead();
    }

    fn read_ahead(&mut self) {
        let Floor {
            reading,
            order,
            output,
            owners,
            ..
        } = self.floor;
        let must_end = output.has_failed() || order.has_failed();
        let portion = reading.read(
            must_end,
            || order.empty(),
            |portion| order.put_back(portion),
            &mut self.fetching,
        );
        if let Some(mut portion) = portion {
            let Portion {
                parcel,
                listed,
                odd,
                ..
            } = &mut portion;
            let describer = &mut self.describer;
            (self.describing).spend(|| describer.describe(listed, owners, parcel, odd));
            order.put(portion);
        }
        order.settle(reading.total());
    }

    fn call(&mut self) {
        let Floor { order, bells, .. } = self.floor;
        if order.came_home() {
            // A piece may be there to be filled: for one thread, if any sleeps.
            let (before, behind) = bells.split_at(self.next.min(bells.len()));
            Bell::ring_one(behind.iter().chain(before).map(|bell| &**bell));
            self.next = (self.next + 1) % bells.len().max(1);
        }
    }
}

/// Runs the whole input through threads that each do everything.
pub(crate) fn run<O: Stages + Send>(
    context: &Context<'_>,
    input: InputStage,
    workers: Vec<Worker<O>>,
    mut output: Output,
) -> Result<Ended, RunError> {
    output.measure();
    let count = workers.len();
    let (to_workers, ends) = handoff(HandoffOptions {
        workers: count,
        batches_out: context.pieces_out,
        drop_when_full: context.drop_when_full,
        ..HandoffOptions::default()
    });
    // The input stage is the last source.
    let (mut senders, receiver) = results(count + 1, RESULTS_OUT, Arc::default());
    let of_input = senders.pop();
    let bells: Vec<_> = ends.iter().map(WorkerEnd::bell).collect();
    let demand = Arc::new(Demand::new(bells.clone()));
    let (reading, describers, in_order) = input.divide(count);
    let floor = Floor {
        reading: ReadingDesk::new(context, reading, count),
        order: OrderDesk::new(context, in_order, to_workers, of_input),
        output: Arc::new(OutputDesk::new(receiver, output)),
        owners: context.owners,
        bells,
    };
    let hands = workers.into_iter().zip(describers).zip(ends).zip(senders);
    let hands = hands.map(|(((worker, describer), end), sender)| {
        let desk = Arc::clone(&floor.output);
        let meanwhile = Box::new(move || desk.collect());
        Hand {
            cpu: context.cpu(end.worker()),
            account: context.control.account(),
            far: Far::busy(sender, Arc::clone(&demand), meanwhile),
            worker,
            describer,
            end,
        }
    });
    let ended = work_all(&floor, hands.collect());
    floor.order.close();
    // A failure to write comes first: it is why the input may have stopped.
    let output = floor.output.close()?;
    let (reading, failure, read) = floor.reading.take();
    let in_order = floor.order.into_parts();
    let (workers, describers) = ended?;
    let mut read = read;
    let mut described = Busy::default();
    let describers = describers.into_iter().map(|left| {
        read = read.and(left.fetching);
        described = described.and(left.describing);
        left.describer
    });
    let describers = describers.collect();
    if let Some(failure) = failure {
        return Err(failure);
    }
    let (in_order, losses, ordered) = in_order?;
    // Without it a thread has panicked while it read.
    let reading = reading.ok_or(RunError::WorkerLost(0))?;
    let mut input = InputStage::join(reading, describers, in_order).summary();
    input.losses.add(&losses);
    Ok(Ended {
        shape: Shape::Turns(count),
        workers,
        input,
        steps: vec![
            read.of_step("read"),
            described.of_step("describe"),
            ordered.of_step("order"),
            output.busy.of_step("write"),
        ],
        output,
    })
}

/// What one thread has of its own.
struct Hand<O> {
    cpu: Option<usize>,
    account: Account,
    far: Far,
    worker: Worker<O>,
    describer: Describer,
    end: WorkerEnd,
}

impl<O: Stages> Hand<O> {
    /// A thread, from its first turn to its worker's last record.
    fn work(self, floor: &Floor<'_>) -> (Finished, Done) {
        crate::run::pin(self.cpu);
        let _last_word = LastWord(floor);
        let mut helper = Helper {
            floor,
            describer: self.describer,
            fetching: Busy::default(),
            describing: Busy::default(),
            next: self.end.worker(),
        };
        let finished = work(self.worker, self.end, self.far, self.account, &mut helper);
        let done = Done {
            describer: helper.describer,
            fetching: helper.fetching,
            describing: helper.describing,
        };
        (finished, done)
    }
}

/// Calls the others when a thread has ended, for whatever reason: they find out.
struct LastWord<'f, 'a>(&'f Floor<'a>);

impl Drop for LastWord<'_, '_> {
    fn drop(&mut self) {
        self.0.order.came_home();
        self.0.bells.iter().for_each(|bell| bell.ring());
    }
}

/// What a thread has done besides its worker's work.
struct Done {
    describer: Describer,
    fetching: Busy,
    describing: Busy,
}

/// What the threads leave, in the order of their workers.
type Left = (Vec<Finished>, Vec<Done>);

/// Starts all threads but the first, which is this one, and waits for them.
fn work_all<O: Stages + Send>(floor: &Floor<'_>, hands: Vec<Hand<O>>) -> Result<Left, RunError> {
    thread::scope(|scope| {
        let mut hands = hands.into_iter();
        let first = hands.next();
        let mut threads = Vec::new();
        for hand in hands {
            let thread = Builder::new().name(format!("worker-{}", hand.end.worker()));
            match thread.spawn_scoped(scope, move || hand.work(floor)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    // Those that run see the end of the input.
                    floor.order.close();
                    return Err(RunError::Thread(error));
                }
            }
        }
        let mut left: Vec<_> = first.into_iter().map(|hand| hand.work(floor)).collect();
        for (number, thread) in (1..).zip(threads) {
            left.push(thread.join().map_err(|_| RunError::WorkerLost(number))?);
        }
        Ok(left.into_iter().unzip())
    })
}
