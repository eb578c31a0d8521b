//! The end of the hand-off that the input holds: it takes pieces, fills batches, sends.

use crate::HandoffError;
use crate::batch::Batch;
use crate::bell::{Bell, LastWord};
use crate::pieces::Pieces;
use crate::worker::WorkerEnd;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::{PacketMeta, Piece, Tick};
use flowpin_ring::{Consumer, Producer, ring_with_chunk};
use std::sync::Arc;

/// How many of what a hand-off has, and what it does when a worker is slow.
#[derive(Clone, Debug)]
pub struct HandoffOptions {
    /// Workers, at least 1.
    pub workers: usize,
    /// Batches that a worker can have at once, at least 1: how far the input runs ahead.
    pub batches_out: usize,
    /// Live input: drop what a worker with all its batches out should get, and count it, instead
    /// of waiting for it.
    pub drop_when_full: bool,
    /// Wakes the input; shared with whatever else its thread waits for.
    pub bell: Arc<Bell>,
}

impl Default for HandoffOptions {
    fn default() -> Self {
        Self {
            workers: 1,
            batches_out: 8,
            drop_when_full: false,
            bell: Arc::default(),
        }
    }
}

/// Both sides of a hand-off: the input's end, and one end for each worker.
pub fn handoff(options: HandoffOptions) -> (InputEnd, Vec<WorkerEnd>) {
    let workers = options.workers.max(1);
    let batches_out = options.batches_out.max(1);
    let (lanes, ends) = (0..workers)
        .map(|n| lane(n, batches_out, &options.bell))
        .unzip();
    // Dropping: each worker may hold `batches_out` different pieces and one more is being read,
    // so one is always free. Waiting: a worker can hold no more pieces than batches anyway.
    let pieces = if options.drop_when_full {
        workers * batches_out + 1
    } else {
        batches_out
    };
    let input = InputEnd {
        lanes,
        open: (0..workers).map(|_| Batch::default()).collect(),
        pieces: Pieces::new(pieces),
        next_number: 0,
        tick: Tick::default(),
        drop_when_full: options.drop_when_full,
        losses: Losses::default(),
        bell: options.bell,
    };
    (input, ends)
}

/// The way to one worker and back.
#[derive(Debug)]
struct Lane {
    out: Producer<Batch>,
    home: Consumer<Batch>,
    /// Empty batches besides the open one, the one that came home last on top.
    spare: Vec<Batch>,
    /// The worker does not know the latest stream time, as it had no batch left to carry it.
    owed_tick: bool,
    #[cfg(flowpin_bench)]
    tickets: Option<crate::one_by_one::Sending>,
    // Behind the rings: they close first.
    bell: LastWord,
}

fn lane(worker: usize, batches_out: usize, input_bell: &Arc<Bell>) -> (Lane, WorkerEnd) {
    // A chunk of 1: a batch is dozens of cache lines by itself, and a place must be free again
    // as soon as its batch was taken.
    let (out, batches) = ring_with_chunk(batches_out, 1);
    let (returned, home) = ring_with_chunk(batches_out, 1);
    let bell = Arc::new(Bell::default());
    #[cfg(flowpin_bench)]
    let (tickets, taken) = crate::one_by_one::queue();
    let end = WorkerEnd::new(
        worker,
        batches,
        returned,
        Arc::clone(&bell),
        Arc::clone(input_bell),
        #[cfg(flowpin_bench)]
        taken,
    );
    let spare = (0..batches_out).map(|_| Batch::default()).collect();
    (
        Lane {
            out,
            home,
            spare,
            owed_tick: false,
            #[cfg(flowpin_bench)]
            tickets,
            bell: LastWord(bell),
        },
        end,
    )
}

/// The input's end: takes pieces, fills a batch for each worker, sends.
///
/// Dropping it ends the stream, as [`InputEnd::finish`] does.
///
/// ```
/// use flowpin_handoff::{HandoffOptions, handoff};
/// use flowpin_packet::{PacketMeta, Timestamp};
///
/// let (mut input, mut workers) = handoff(HandoffOptions::default());
/// let mut worker = workers.remove(0);
/// let thread = std::thread::spawn(move || {
///     let mut packets = 0;
///     while let Some(batch) = worker.recv() {
///         packets += batch.metas.len();
///         worker.give_back(batch);
///     }
///     packets
/// });
/// for second in 0..100 {
///     let mut piece = input.take_piece()?; // waits for one to come home
///     piece.len = 0;                       // … read something into it
///     input.batch_for(0).metas.push(PacketMeta::default());
///     input.send_piece(piece, Timestamp::new(second, 0))?;
/// }
/// input.finish()?;
/// assert_eq!(thread.join().unwrap(), 100);
/// # Ok::<(), flowpin_handoff::HandoffError>(())
/// ```
#[derive(Debug)]
pub struct InputEnd {
    lanes: Vec<Lane>,
    /// The batch that each worker will get next.
    open: Vec<Batch>,
    pieces: Pieces,
    next_number: u64,
    tick: Tick,
    drop_when_full: bool,
    losses: Losses,
    bell: Arc<Bell>,
}

impl InputEnd {
    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.lanes.len()
    }

    /// A piece to read into: the one that came home last, or a new one while fewer exist than
    /// may be out. Waits until sending it will not have to. Send each piece before taking the
    /// next, or put it back.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn take_piece(&mut self) -> Result<Piece, HandoffError> {
        self.take_piece_while(|| {})
    }

    /// As [`InputEnd::take_piece`], but calls `meanwhile` before each look, for a thread that
    /// has something else to do, such as taking results that workers wait to be rid of.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn take_piece_while(&mut self, mut meanwhile: impl FnMut()) -> Result<Piece, HandoffError> {
        let bell = Arc::clone(&self.bell);
        bell.wait_for(|| {
            meanwhile();
            self.try_take_piece().transpose()
        })
    }

    /// A piece to read into if there is one and sending it would not have to wait.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn try_take_piece(&mut self) -> Result<Option<Piece>, HandoffError> {
        self.welcome_home()?;
        let every_lane_free = || self.lanes.iter().all(|lane| !lane.spare.is_empty());
        let ready = self.pieces.any_free() && (self.drop_when_full || every_lane_free());
        Ok(ready.then(|| self.pieces.take()))
    }

    /// Takes back a piece that is not sent after all.
    pub fn put_back(&mut self, piece: Piece) {
        self.pieces.keep(piece);
    }

    /// The batch that collects a worker's packets of the piece that is being read.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    #[inline]
    pub fn batch_for(&mut self, worker: usize) -> &mut Batch {
        &mut self.open[worker]
    }

    /// Adds a packet of the piece that is being read to a worker's batch.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    #[inline]
    pub fn push(&mut self, worker: usize, meta: PacketMeta) {
        self.open[worker].metas.push(meta);
        #[cfg(flowpin_bench)]
        if let Some(lane) = self.lanes.get_mut(worker)
            && let Some(tickets) = &mut lane.tickets
        {
            tickets.push(meta.number, &lane.bell.0, || lane.out.is_closed());
        }
    }

    /// Sends every worker its batch of `piece`; an empty one is a tick. Never waits for a piece
    /// that was taken from here.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn send_piece(
        &mut self,
        mut piece: Piece,
        tick: impl Into<Tick>,
    ) -> Result<(), HandoffError> {
        self.set_tick(tick.into());
        piece.number = self.next_number;
        self.next_number += 1;
        while !self.pieces.any_free() {
            // Only for a piece that was not taken from here.
            self.welcome_home()?;
            std::thread::yield_now();
        }
        let shell = self.pieces.enclose(piece);
        for worker in 0..self.lanes.len() {
            self.send_batch(worker, shell);
        }
        if let Some(shell) = shell {
            self.pieces.settle(shell);
        }
        self.welcome_home()
    }

    /// Tells every worker the time without a piece (live input while no packet comes). Never
    /// waits: a worker that has no batch left learns it with the next one that it gets.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn send_tick(&mut self, tick: impl Into<Tick>) -> Result<(), HandoffError> {
        self.set_tick(tick.into());
        self.welcome_home()?;
        for worker in 0..self.lanes.len() {
            self.send_batch(worker, None);
        }
        Ok(())
    }

    /// Ends the stream: workers get what was sent, then `None`. Waits only for a worker that had
    /// no batch left to learn the last stream time from. Returns what was dropped.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn finish(self) -> Result<Losses, HandoffError> {
        self.finish_while(|| {})
    }

    /// As [`InputEnd::finish`], but calls `meanwhile` before each look.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn finish_while(mut self, mut meanwhile: impl FnMut()) -> Result<Losses, HandoffError> {
        let bell = Arc::clone(&self.bell);
        bell.wait_for(|| {
            meanwhile();
            if let Err(error) = self.welcome_home() {
                return Some(Err(error));
            }
            for worker in 0..self.lanes.len() {
                if self.lanes[worker].owed_tick {
                    self.send_batch(worker, None);
                }
            }
            let all_told = self.lanes.iter().all(|lane| !lane.owed_tick);
            all_told.then_some(Ok(self.losses))
        })
    }

    /// What was dropped so far.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    fn set_tick(&mut self, tick: Tick) {
        debug_assert!(tick.time >= self.tick.time, "stream time went backwards");
        self.tick = tick;
    }

    /// Sends a worker its open batch and opens a spare one. Without a spare one the packets are
    /// dropped, and the time goes with a later batch.
    fn send_batch(&mut self, worker: usize, shell: Option<usize>) {
        let (Some(lane), Some(open)) = (self.lanes.get_mut(worker), self.open.get_mut(worker))
        else {
            return;
        };
        let Some(next) = lane.spare.pop() else {
            self.losses.count(Loss::RingFull, open.metas.len() as u64);
            open.clear();
            lane.owed_tick = true;
            return;
        };
        let mut batch = core::mem::replace(open, next);
        batch.number = self.next_number.saturating_sub(1);
        batch.tick = self.tick;
        let wants_piece = !batch.metas.is_empty();
        batch.set_piece(
            shell
                .filter(|_| wants_piece)
                .and_then(|s| self.pieces.lend(s)),
        );
        lane.owed_tick = false;
        #[cfg(flowpin_bench)]
        if let Some(tickets) = &mut lane.tickets {
            tickets.flush();
        }
        if let Err(mut batch) = lane.out.push(batch) {
            // Cannot be: the ring has a place for every batch besides the open one.
            debug_assert!(false, "more batches went out than there are");
            if let Some(piece) = batch.clear() {
                self.pieces.give_back(piece);
            }
            lane.spare.push(batch);
            return;
        }
        lane.bell.0.ring();
    }

    /// Empties the batches that came home and sees that all workers are still there.
    fn welcome_home(&mut self) -> Result<(), HandoffError> {
        for (worker, lane) in self.lanes.iter_mut().enumerate() {
            while let Some(mut batch) = lane.home.pop() {
                if let Some(piece) = batch.clear() {
                    self.pieces.give_back(piece);
                }
                lane.spare.push(batch);
            }
            if lane.home.is_closed() {
                return Err(HandoffError::WorkerGone { worker });
            }
        }
        Ok(())
    }
}
