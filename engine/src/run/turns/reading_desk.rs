//! Where threads read: bytes in any order, and what they are in turns.
//!
//! ```text
//!  any thread                     one thread at a time, in order
//!  number ─► fetch the bytes ──► list the frames
//! ```
//!
//! Most of reading is the copy of bytes; where they may be fetched before their turn
//! ([`flowpin_capture::Ahead`]), several threads do. Pipes, packed files and interfaces are read
//! when it is their turn.

use super::claims::Claims;
use super::portion::{Portion, Shelf};
use crate::RunError;
use crate::input::Reading;
use crate::ledger::Account;
use crate::run::Context;
use crate::run::busy::Busy;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The input's first step.
pub(super) struct ReadingDesk<'a> {
    context: &'a Context<'a>,
    claims: Claims,
    /// Portions that wait for their turn.
    shelf: Shelf,
    /// How many portions were listed: the number of the one whose turn it is.
    listed: AtomicU64,
    turns: Mutex<Turns<'a>>,
    /// How many portions there are in all, once that is known.
    total: AtomicU64,
}

struct Turns<'a> {
    context: &'a Context<'a>,
    /// None once it was taken back.
    reading: Option<Reading>,
    is_over: bool,
    failure: Option<RunError>,
    account: Account,
    /// What reading in turns has taken.
    busy: Busy,
}

/// More than there can be: not known yet.
const UNKNOWN: u64 = u64::MAX;

/// Looks for the turn of a portion whose bytes are there, with pauses between them: about 20 µs. It
/// is listed fastest where it was fetched, as its bytes are in that thread's cache.
const LOOKS: u32 = 400;

impl<'a> ReadingDesk<'a> {
    pub(super) fn new(context: &'a Context<'a>, mut reading: Reading, threads: usize) -> Self {
        Self {
            context,
            claims: Claims::new(reading.ahead(), threads),
            shelf: Shelf::default(),
            listed: AtomicU64::new(0),
            turns: Mutex::new(Turns {
                context,
                reading: Some(reading),
                is_over: false,
                failure: None,
                account: context.control.account(),
                busy: Busy::default(),
            }),
            total: AtomicU64::new(UNKNOWN),
        }
    }

    /// Reads a portion, if there is something to be read now, and lists the next one in order, if
    /// it is there and no other thread is at that. `empty` gives an empty one, if there is one now;
    /// `put_back` takes those that are not filled. If `must_end`, nothing more is read. `busy` is
    /// told what fetching has taken.
    pub(super) fn read(
        &self,
        must_end: bool,
        empty: impl FnOnce() -> Option<Portion>,
        put_back: impl Fn(Portion),
        busy: &mut Busy,
    ) -> Option<Portion> {
        let mine = if self.claims.is_open() && !must_end {
            empty().and_then(|portion| self.fetch(portion, &put_back, busy))
        } else {
            None
        };
        let is_mine = mine.is_some_and(|number| self.is_turn(number));
        let turns = if is_mine {
            // Who has it has listed the one before, and is about to leave.
            self.turns.lock().map_err(TryLockError::Poisoned)
        } else if self.shelf.is_ready() || self.must_end(must_end) {
            self.turns.try_lock()
        } else {
            return None;
        };
        let mut turns = match turns {
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
        let portion = self.list(&mut turns, &put_back);
        if turns.is_over {
            self.claims.close();
            while let Some(portion) = self.shelf.take_next() {
                put_back(portion);
            }
            // Relaxed: a number that stands for itself.
            let listed = self.listed.load(Ordering::Relaxed);
            self.total.store(listed, Ordering::Relaxed);
        }
        portion
    }

    /// How many portions there are in all, once that is known.
    pub(super) fn total(&self) -> Option<u64> {
        let total = self.total.load(Ordering::Relaxed);
        (total != UNKNOWN).then_some(total)
    }

    /// What has read, once all threads have ended, why it ended early, and what it has taken.
    pub(super) fn take(&self) -> (Option<Reading>, Option<RunError>, Busy) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        (turns.reading.take(), turns.failure.take(), turns.busy)
    }

    /// Numbers an empty portion, reads its bytes if they may be read now, and puts it where it
    /// waits for its turn. Returns its number.
    fn fetch(
        &self,
        mut portion: Portion,
        put_back: impl Fn(Portion),
        busy: &mut Busy,
    ) -> Option<u64> {
        let Some(claim) = self.claims.number(&mut portion) else {
            put_back(portion);
            return None;
        };
        let number = portion.number;
        let piece = &mut portion.parcel.piece;
        portion.fetched = claim.map(|claim| {
            let fetched = busy.spend(|| claim.fetch(piece));
            self.claims.fetched();
            fetched
        });
        self.shelf.put(portion);
        Some(number)
    }

    /// Waits a little for the turn of a portion.
    fn is_turn(&self, number: u64) -> bool {
        (0..LOOKS).any(|_| {
            // Acquire: paired with the store in `list`.
            let is_turn = self.listed.load(Ordering::Acquire) == number;
            if !is_turn {
                core::hint::spin_loop();
            }
            is_turn
        })
    }

    /// Lists the portion whose turn it is.
    fn list(
        &self,
        turns: &mut MutexGuard<'_, Turns<'a>>,
        put_back: impl Fn(Portion),
    ) -> Option<Portion> {
        if turns.is_over {
            return None;
        }
        let mut portion = self.shelf.take_next()?;
        let mut busy = turns.busy;
        let is_filled = busy.spend(|| turns.fill(&mut portion));
        turns.busy = busy;
        if !is_filled {
            turns.is_over = true;
            put_back(portion);
            return None;
        }
        let ahead = turns.reading.as_mut().and_then(Reading::ahead);
        self.claims.listed(ahead);
        self.listed.store(portion.number + 1, Ordering::Release);
        Some(portion)
    }

    /// Whether this is the end, and not known to be.
    fn must_end(&self, must_end: bool) -> bool {
        self.total().is_none()
            && (must_end || self.context.is_stopped() || self.turns.is_poisoned())
    }
}

impl Turns<'_> {
    /// Reads a portion; false if there is nothing to read.
    fn fill(&mut self, portion: &mut Portion) -> bool {
        let Some(reading) = &mut self.reading else {
            return false;
        };
        let piece = &mut portion.parcel.piece;
        let filled = match portion.fetched.take() {
            Some(fetched) => reading.fill_fetched(piece, &fetched),
            None => reading.fill(piece),
        };
        match filled {
            Ok(true) => {}
            Ok(false) => return false,
            Err(error) => {
                self.failure = Some(error.into());
                return false;
            }
        }
        portion.tick = reading.list(&portion.parcel.piece, &mut portion.listed);
        self.account.enter(&reading.losses());
        self.context.progress(&reading.progress());
        true
    }
}
