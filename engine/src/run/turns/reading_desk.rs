//! Where threads take turns at reading: the first step of the input, in order.

use super::portion::Portion;
use crate::RunError;
use crate::input::Reading;
use crate::ledger::Account;
use crate::run::Context;
use crate::run::busy::Busy;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

/// The input's first step, for one thread at a time.
pub(super) struct ReadingDesk<'a> {
    turns: Mutex<Turns<'a>>,
    /// How many portions there are in all, once that is known.
    total: AtomicU64,
}

struct Turns<'a> {
    context: &'a Context<'a>,
    /// None once it was taken back.
    reading: Option<Reading>,
    /// The number of the next portion.
    next: u64,
    is_over: bool,
    failure: Option<RunError>,
    account: Account,
    /// What reading has taken.
    busy: Busy,
}

/// More than there can be: not known yet.
const UNKNOWN: u64 = u64::MAX;

impl<'a> ReadingDesk<'a> {
    pub(super) fn new(context: &'a Context<'a>, reading: Reading) -> Self {
        Self {
            turns: Mutex::new(Turns {
                context,
                reading: Some(reading),
                next: 0,
                is_over: false,
                failure: None,
                account: context.control.account(),
                busy: Busy::default(),
            }),
            total: AtomicU64::new(UNKNOWN),
        }
    }

    /// Reads the next portion, unless another thread is reading, or the input is at its end.
    /// `empty` gives an empty one, if there is one now; `put_back` takes it if there is nothing to
    /// read. If `must_end`, nothing more is read.
    pub(super) fn read(
        &self,
        must_end: bool,
        empty: impl FnOnce() -> Option<Portion>,
        put_back: impl FnOnce(Portion),
    ) -> Option<Portion> {
        let mut turns = match self.turns.try_lock() {
            Ok(turns) => turns,
            Err(TryLockError::WouldBlock) => return None,
            // A thread has panicked here: its number will be told.
            Err(TryLockError::Poisoned(turns)) => {
                let mut turns = turns.into_inner();
                turns.is_over = true;
                turns
            }
        };
        turns.is_over |= must_end || turns.context.is_stopped();
        if !turns.is_over
            && let Some(mut portion) = empty()
        {
            let mut busy = turns.busy;
            let is_filled = busy.spend(|| turns.fill(&mut portion));
            turns.busy = busy;
            if is_filled {
                return Some(portion);
            }
            put_back(portion);
            turns.is_over = true;
        }
        if turns.is_over {
            // Relaxed: a number that stands for itself.
            self.total.store(turns.next, Ordering::Relaxed);
        }
        None
    }

    /// How many portions there are in all, once that is known.
    pub(super) fn total(&self) -> Option<u64> {
        let total = self.total.load(Ordering::Relaxed);
        (total != UNKNOWN).then_some(total)
    }

    /// What has read, once all threads have ended, and why it ended early.
    pub(super) fn take(&self) -> (Option<Reading>, Option<RunError>, Busy) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        (turns.reading.take(), turns.failure.take(), turns.busy)
    }
}

impl Turns<'_> {
    /// Reads a portion; false if there is nothing to read.
    fn fill(&mut self, portion: &mut Portion) -> bool {
        let Some(reading) = &mut self.reading else {
            return false;
        };
        match reading.fill(&mut portion.parcel.piece) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(error) => {
                self.failure = Some(error.into());
                return false;
            }
        }
        portion.tick = reading.list(&portion.parcel.piece, &mut portion.listed);
        portion.number = self.next;
        self.next += 1;
        self.account.enter(&reading.losses());
        self.context.progress(&reading.progress());
        true
    }
}
