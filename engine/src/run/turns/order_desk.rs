//! Where described portions are completed in order and handed to the workers.

use super::portion::{Portion, Shelf};
use crate::RunError;
use crate::input::InOrder;
use crate::ledger::Account;
use crate::output::Delivery;
use crate::run::Context;
use crate::run::busy::Busy;
use crate::run::feeder::FeedError;
use flowpin_counters::Losses;
use flowpin_handoff::{Hint, InputEnd, ResultSender};
use flowpin_output::RecordBatch;
use flowpin_packet::{SHARD_COUNT, Tick};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The input's last step, for one thread at a time.
pub(super) struct OrderDesk<'a> {
    turns: Mutex<Turns<'a>>,
    shelf: Shelf,
    /// Whether an empty portion may be had.
    home: Hint,
    /// Whether records of the input stage wait for room.
    has_backlog: AtomicBool,
    /// Nothing more can be handed out.
    has_failed: AtomicBool,
}

struct Turns<'a> {
    owners: &'a [u8; SHARD_COUNT],
    in_order: InOrder,
    /// None after the end.
    ways: Option<Ways>,
    /// The input stage's own records that had no room on their way.
    own: VecDeque<RecordBatch>,
    /// Where the last portion ended, and the number of the next one.
    last: Tick,
    next: u64,
    /// The last records are made.
    is_over: bool,
    /// Portions that came back, without their parcels.
    spare: Vec<Portion>,
    failure: Option<FeedError>,
    losses: Losses,
    account: Account,
    /// What handing out has taken.
    busy: Busy,
}

/// To the workers, and to the output.
struct Ways {
    to_workers: InputEnd,
    sender: ResultSender<Delivery>,
}

impl<'a> OrderDesk<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        in_order: InOrder,
        to_workers: InputEnd,
        sender: Option<ResultSender<Delivery>>,
    ) -> Self {
        let home = Hint::default();
        home.raise();
        Self {
            turns: Mutex::new(Turns {
                owners: context.owners,
                in_order,
                ways: sender.map(|sender| Ways { to_workers, sender }),
                own: VecDeque::new(),
                last: Tick::default(),
                next: 0,
                is_over: false,
                spare: Vec::new(),
                failure: None,
                losses: Losses::default(),
                account: context.control.account(),
                busy: Busy::default(),
            }),
            shelf: Shelf::default(),
            home,
            has_backlog: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// An empty portion, if one more may be under way.
    pub(super) fn empty(&self) -> Option<Portion> {
        if !self.home.take() {
            return None;
        }
        let mut turns = self.lock();
        let parcel = turns.ways.as_mut()?.to_workers.try_take_parcel();
        match parcel {
            Ok(None) => None,
            Ok(Some(parcel)) => {
                // There may be more.
                self.home.raise();
                let mut portion = turns.spare.pop().unwrap_or_default();
                portion.parcel = parcel;
                Some(portion)
            }
            Err(error) => {
                self.fail(&mut turns, error.into());
                None
            }
        }
    }

    /// Takes back a portion that was not filled.
    pub(super) fn put_back(&self, mut portion: Portion) {
        let mut turns = self.lock();
        if let Some(ways) = &mut turns.ways {
            ways.to_workers
                .put_back(core::mem::take(&mut portion.parcel));
        }
        turns.keep(portion);
        self.home.raise();
    }

    /// A worker has given a batch back; true if that is news.
    pub(super) fn came_home(&self) -> bool {
        self.home.raise()
    }

    /// Takes a described portion.
    pub(super) fn put(&self, portion: Portion) {
        self.shelf.put(portion);
        // SeqCst: paired with the one in `settle`. Either the thread that hands out sees this
        // portion, or this one finds that it has left.
        fence(Ordering::SeqCst);
    }

    /// Hands out what is there in order, unless another thread does; the end, if `total` portions
    /// are all there are.
    pub(super) fn settle(&self, total: Option<u64>) {
        let is_due = self.shelf.is_ready()
            || self.has_backlog.load(Ordering::Relaxed)
            || total.is_some()
            || self.has_failed()
            || self.turns.is_poisoned();
        if !is_due {
            return;
        }
        loop {
            let mut turns = match self.turns.try_lock() {
                Ok(turns) => turns,
                Err(TryLockError::WouldBlock) => return,
                // A thread has panicked here: its number will be told.
                Err(TryLockError::Poisoned(turns)) => {
                    self.has_failed.store(true, Ordering::Relaxed);
                    turns.into_inner().ways = None;
                    return;
                }
            };
            while turns.has_room()
                && let Some(portion) = self.shelf.take_next()
            {
                let mut busy = turns.busy;
                let done = busy.spend(|| turns.hand_out(portion));
                turns.busy = busy;
                if let Err(error) = done {
                    self.fail(&mut turns, error);
                }
            }
            let is_over = total.is_some_and(|total| turns.next >= total) || self.has_failed();
            if is_over && let Err(error) = turns.end() {
                self.fail(&mut turns, error);
                // The workers have to see the end all the same.
                let _known = turns.end();
            }
            let has_room = turns.has_room();
            self.has_backlog.store(!has_room, Ordering::Relaxed);
            drop(turns);
            fence(Ordering::SeqCst);
            // Who put one there meanwhile did not wait for this thread.
            if !has_room || !self.shelf.is_ready() {
                return;
            }
        }
    }

    /// Whether nothing more can be handed out.
    pub(super) fn has_failed(&self) -> bool {
        // Relaxed: only ends the input early.
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Hands out nothing more: the workers see the end.
    pub(super) fn close(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.lock().ways = None;
    }

    /// The step, once all threads have ended, and what was dropped.
    ///
    /// # Errors
    ///
    /// Why it ended early.
    pub(super) fn into_parts(self) -> Result<(InOrder, Losses, Busy), RunError> {
        let turns = self.turns.into_inner();
        let turns = turns.unwrap_or_else(PoisonError::into_inner);
        match turns.failure {
            Some(failure) => Err(failure.into()),
            None => Ok((turns.in_order, turns.losses, turns.busy)),
        }
    }

    fn fail(&self, turns: &mut Turns<'_>, error: FeedError) {
        turns.failure.get_or_insert(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Turns<'a>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns<'_> {
    /// Sends records of the input stage as far as there is room; whether all are on their way.
    fn has_room(&mut self) -> bool {
        let Some(ways) = &mut self.ways else {
            return true;
        };
        if ways.sender.is_closed() {
            // Writing has failed, and is told by who writes.
            self.own.clear();
            return true;
        }
        while let Some(batch) = self.own.pop_front() {
            if let Err(delivery) = ways.sender.try_send(batch.into()) {
                self.own.push_front(delivery.records);
                return false;
            }
        }
        true
    }

    fn hand_out(&mut self, mut portion: Portion) -> Result<(), FeedError> {
        let mut parcel = core::mem::take(&mut portion.parcel);
        let tick = portion.tick;
        let whole = (&mut parcel, tick);
        (self.in_order).complete(&portion.listed, &portion.odd, self.owners, whole);
        (self.last, self.next) = (tick, portion.number + 1);
        self.keep(portion);
        let Some(ways) = &mut self.ways else {
            return Ok(());
        };
        ways.to_workers.send(parcel, tick)?;
        self.own.push_back(self.in_order.tick(tick));
        self.in_order.recycle(ways.sender.empty().records);
        self.account.enter(&self.in_order.losses());
        Ok(())
    }

    /// Sends the last records of the input stage, then ends the stream.
    fn end(&mut self) -> Result<(), FeedError> {
        let Some(ways) = &mut self.ways else {
            return Ok(());
        };
        if self.failure.is_none() {
            let Some(losses) = ways.to_workers.try_finish()? else {
                return Ok(());
            };
            self.losses = losses;
        }
        if !self.is_over {
            self.is_over = true;
            self.own
                .push_back(self.in_order.last_records(self.last.time));
        }
        if self.has_room() {
            self.ways = None;
        }
        Ok(())
    }

    fn keep(&mut self, mut portion: Portion) {
        portion.listed.clear();
        portion.odd.clear();
        self.spare.push(portion);
    }
}
