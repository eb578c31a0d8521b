//! Record batches between the run that makes them and the readers that take them.
//!
//! ```text
//!  run ──take(table, batch)──► conn │▪▪▪   ◄── reader of conn
//!   ▲   waits while memory is full  http │▪▪░░░ ◄── reader of http       ░ in the spill file
//! ```
//!
//! Memory is bounded: the run waits while the batches take [`MEMORY_MAX`]. It must not wait for a
//! reader that itself waits for another table's rows; then batches go to a file, in order.

use crate::spill::{Spill, Spilled};
use arrow_array::RecordBatch;
use flowpin_engine::BatchSink;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most that waiting batches take in memory, in bytes. One more is allowed for each reader
/// that waits.
pub(crate) const MEMORY_MAX: usize = 64 << 20;

/// What a reader is given.
#[derive(Debug)]
pub(crate) enum Next {
    /// The next rows.
    Batch(RecordBatch),
    /// There is nothing yet.
    Wait,
    /// There is nothing more.
    End,
}

/// The queues of all tables; clones are the same queues.
#[derive(Clone, Debug)]
pub(crate) struct Queues(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    tables: Vec<Queue>,
    /// What batches take in memory, in bytes.
    memory: usize,
    spill: Spill,
    /// Why batches could not be kept, until it is told.
    failure: Option<io::Error>,
    is_finished: bool,
}

#[derive(Debug, Default)]
struct Queue {
    held: VecDeque<Held>,
    /// It has a reader.
    is_open: bool,
    /// Its reader waits for rows.
    is_awaited: bool,
}

#[derive(Debug)]
enum Held {
    Here(RecordBatch, usize),
    There(Spilled),
}

impl Queues {
    /// For the tables with these numbers, each of which has a reader.
    pub(crate) fn new(open: &[usize]) -> Self {
        let count = open.iter().max().map_or(0, |last| last + 1);
        let tables = (0..count).map(|number| Queue {
            is_open: open.contains(&number),
            ..Queue::default()
        });
        Self(Arc::new(Inner {
            state: Mutex::new(State {
                tables: tables.collect(),
                memory: 0,
                spill: Spill::default(),
                failure: None,
                is_finished: false,
            }),
            changed: Condvar::new(),
        }))
    }

    /// The state. It is whole at any time, also where a thread that had it has panicked.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next rows of a table; waits for at most `patience`.
    ///
    /// # Errors
    /// Rows could not be kept in the spill file, or not be read from there.
    pub(crate) fn next(&self, table: usize, patience: Duration) -> io::Result<Next> {
        let mut state = self.state();
        let mut next = state.next(table)?;
        if matches!(next, Next::Wait) && !patience.is_zero() {
            state.await_rows(table, true);
            self.0.changed.notify_all();
            let waited = self.0.changed.wait_timeout(state, patience);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            next = state.next(table)?;
        }
        if !matches!(next, Next::Wait) {
            state.await_rows(table, false);
            self.0.changed.notify_all();
        }
        Ok(next)
    }

    /// The reader is gone. Returns whether another table has one.
    pub(crate) fn close(&self, table: usize) -> bool {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(queue) = state.tables.get_mut(table) {
            (queue.is_open, queue.is_awaited) = (false, false);
            for held in queue.held.drain(..) {
                match held {
                    Held::Here(_, bytes) => state.memory -= bytes,
                    Held::There(_) => state.spill.forget(),
                }
            }
        }
        self.0.changed.notify_all();
        state.tables.iter().any(|queue| queue.is_open)
    }

    /// The run has ended: what is there is all.
    pub(crate) fn finish(&self) {
        self.state().is_finished = true;
        self.0.changed.notify_all();
    }

    /// Bytes that were spilled so far.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.state().spill.bytes()
    }
}

impl BatchSink for Queues {
    fn wants(&self, table: usize) -> bool {
        self.state()
            .tables
            .get(table)
            .is_some_and(|queue| queue.is_open)
    }

    fn take(&mut self, table: usize, batch: RecordBatch) -> bool {
        let bytes = batch.get_array_memory_size();
        let mut state = self.state();
        loop {
            if !state.is_read() {
                return false;
            }
            let Some(queue) = state.tables.get(table).filter(|queue| queue.is_open) else {
                return true;
            };
            let is_awaited = queue.is_awaited && queue.held.is_empty();
            if is_awaited || state.memory + bytes <= MEMORY_MAX {
                state.keep(table, batch, bytes);
                break;
            }
            if state.is_awaited() {
                return self.spilled(state, table, &batch);
            }
            let waited = self.0.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        self.0.changed.notify_all();
        true
    }
}

impl Queues {
    fn spilled(&self, mut state: MutexGuard<'_, State>, table: usize, batch: &RecordBatch) -> bool {
        let kept = state.spill(table, batch);
        if let Err(error) = kept {
            state.failure = Some(error);
            state.is_finished = true;
            self.0.changed.notify_all();
            return false;
        }
        true
    }
}

impl State {
    fn is_read(&self) -> bool {
        !self.is_finished && self.tables.iter().any(|queue| queue.is_open)
    }

    /// Whether some reader waits for rows that the run has not made yet.
    fn is_awaited(&self) -> bool {
        let mut queues = self.tables.iter();
        queues.any(|queue| queue.is_awaited && queue.held.is_empty())
    }

    fn await_rows(&mut self, table: usize, is_awaited: bool) {
        if let Some(queue) = self.tables.get_mut(table) {
            queue.is_awaited = is_awaited;
        }
    }

    fn keep(&mut self, table: usize, batch: RecordBatch, bytes: usize) {
        if let Some(queue) = self.tables.get_mut(table) {
            queue.held.push_back(Held::Here(batch, bytes));
            self.memory += bytes;
        }
    }

    fn spill(&mut self, table: usize, batch: &RecordBatch) -> io::Result<()> {
        let spilled = self.spill.write(batch)?;
        if let Some(queue) = self.tables.get_mut(table) {
            queue.held.push_back(Held::There(spilled));
        }
        Ok(())
    }

    fn next(&mut self, table: usize) -> io::Result<Next> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let queue = self.tables.get_mut(table);
        let held = queue.and_then(|queue| queue.held.pop_front());
        Ok(match held {
            Some(Held::Here(batch, bytes)) => {
                self.memory -= bytes;
                Next::Batch(batch)
            }
            Some(Held::There(spilled)) => Next::Batch(self.spill.read(&spilled)?),
            None if self.is_finished => Next::End,
            None => Next::Wait,
        })
    }
}
