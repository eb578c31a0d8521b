//! The end of the hand-off that the input holds: it takes parcels, fills them, sends.

use crate::HandoffError;
use crate::batch::Batch;
use crate::bell::Bell;
use crate::lane::{Lane, lane};
use crate::parcel::Parcel;
use crate::pieces::Pieces;
use crate::worker::WorkerEnd;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Tick;
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
        empty: Vec::new(),
        parcels_out: 0,
        pieces: Pieces::new(pieces),
        next_number: 0,
        tick: Tick::default(),
        drop_when_full: options.drop_when_full,
        losses: Losses::default(),
        bell: options.bell,
    };
    (input, ends)
}

/// The input's end: takes parcels, which whoever reads fills, and sends them.
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
///     let mut parcel = input.take_parcel()?; // waits for one to come home
///     parcel.piece.len = 0;                  // … read something into it
///     parcel.batches[0].metas.push(PacketMeta::default());
///     input.send(parcel, Timestamp::new(second, 0))?;
/// }
/// input.finish()?;
/// assert_eq!(thread.join().unwrap(), 100);
/// # Ok::<(), flowpin_handoff::HandoffError>(())
/// ```
#[derive(Debug)]
pub struct InputEnd {
    lanes: Vec<Lane>,
    /// Lists of parcels, to be used again.
    empty: Vec<Vec<Batch>>,
    /// Parcels that were taken and neither sent nor put back.
    parcels_out: usize,
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

    /// A parcel to fill: the piece that came home last, or a new one while fewer exist than may be
    /// out. Waits until sending it will not have to. Send or put back each one: in the order of the
    /// input, whatever the order in which they are filled.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn take_parcel(&mut self) -> Result<Parcel, HandoffError> {
        self.take_parcel_while(|| {})
    }

    /// As [`InputEnd::take_parcel`], but calls `meanwhile` before each look, for a thread that has
    /// something else to do, such as taking results that workers wait to be rid of.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn take_parcel_while(
        &mut self,
        mut meanwhile: impl FnMut(),
    ) -> Result<Parcel, HandoffError> {
        let bell = Arc::clone(&self.bell);
        bell.wait_for(|| {
            meanwhile();
            self.try_take_parcel().transpose()
        })
    }

    /// A parcel to fill if there is one and sending it would not have to wait.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn try_take_parcel(&mut self) -> Result<Option<Parcel>, HandoffError> {
        self.welcome_home()?;
        let every_lane_free = || self.lanes.iter().all(|lane| !lane.spare.is_empty());
        let ready =
            self.pieces.free() > self.parcels_out && (self.drop_when_full || every_lane_free());
        if !ready {
            return Ok(None);
        }
        self.parcels_out += 1;
        let mut batches = self.empty.pop().unwrap_or_default();
        batches.extend(self.lanes.iter_mut().map(Lane::open));
        Ok(Some(Parcel {
            piece: self.pieces.take(),
            batches,
        }))
    }

    /// Takes back a parcel that is not sent after all.
    pub fn put_back(&mut self, parcel: Parcel) {
        let Parcel { piece, mut batches } = parcel;
        self.parcels_out -= 1;
        self.pieces.keep(piece);
        for (lane, mut batch) in self.lanes.iter_mut().zip(batches.drain(..)) {
            batch.clear();
            lane.keep(batch);
        }
        self.empty.push(batches);
    }

    /// Hands a packet's number over by itself, where a queue for that is measured.
    #[cfg(flowpin_bench)]
    pub fn announce(&mut self, worker: usize, number: u64) {
        if let Some(lane) = self.lanes.get_mut(worker)
            && let Some(tickets) = &mut lane.tickets
        {
            tickets.push(number, &lane.bell.0, || lane.out.is_closed());
        }
    }

    /// Sends every worker its batch of a parcel; an empty one is a tick. Never waits.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn send(&mut self, parcel: Parcel, tick: impl Into<Tick>) -> Result<(), HandoffError> {
        let Parcel {
            mut piece,
            mut batches,
        } = parcel;
        self.parcels_out -= 1;
        self.set_tick(tick.into());
        piece.number = self.next_number;
        self.next_number += 1;
        let shell = self.pieces.enclose(piece);
        debug_assert!(shell.is_some(), "a parcel that was not taken from here");
        for (worker, batch) in batches.drain(..).enumerate() {
            self.send_batch(worker, batch, shell);
        }
        self.empty.push(batches);
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
            self.send_empty(worker);
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
            self.try_finish().transpose()
        })
    }

    /// What was dropped, once every worker has got the last stream time; then this end may be
    /// dropped, which ends the stream.
    ///
    /// # Errors
    ///
    /// If a worker is gone.
    pub fn try_finish(&mut self) -> Result<Option<Losses>, HandoffError> {
        self.welcome_home()?;
        for worker in 0..self.lanes.len() {
            if self.lanes[worker].owed_tick {
                self.send_empty(worker);
            }
        }
        let all_told = self.lanes.iter().all(|lane| !lane.owed_tick);
        Ok(all_told.then_some(self.losses))
    }

    /// What was dropped so far.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    fn set_tick(&mut self, tick: Tick) {
        debug_assert!(tick.time >= self.tick.time, "stream time went backwards");
        self.tick = tick;
    }

    /// Tells a worker the time alone.
    fn send_empty(&mut self, worker: usize) {
        if let Some(lane) = self.lanes.get_mut(worker) {
            let batch = lane.open();
            self.send_batch(worker, batch, None);
        }
    }

    /// Sends a worker a batch. If it is not one of its own, as all of those were out, its packets
    /// are dropped, and the time goes with a later batch.
    fn send_batch(&mut self, worker: usize, mut batch: Batch, shell: Option<usize>) {
        let Some(lane) = self.lanes.get_mut(worker) else {
            return;
        };
        if batch.is_scrap {
            // One may have come home since.
            if let Some(mut own) = lane.spare.pop() {
                core::mem::swap(&mut own.metas, &mut batch.metas);
                core::mem::swap(&mut own.extra, &mut batch.extra);
                lane.keep(core::mem::replace(&mut batch, own));
            } else {
                self.losses.count(Loss::RingFull, batch.metas.len() as u64);
                batch.clear();
                lane.keep(batch);
                lane.owed_tick = true;
                return;
            }
        }
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
            // Cannot be: the ring has a place for every batch that there is.
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
