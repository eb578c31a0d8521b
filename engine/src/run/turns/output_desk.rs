//! Where threads take turns at merging and writing.

use crate::RunError;
use crate::output::{Delivery, Output, OutputSummary};
use crate::run::threads::{give_back, write_all};
use flowpin_handoff::{Hint, ResultReceiver};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// The output, for one thread at a time.
pub(super) struct OutputDesk {
    books: Mutex<Option<Books>>,
    /// Whether something was delivered.
    hint: Arc<Hint>,
    has_failed: AtomicBool,
}

struct Books {
    /// None after a failure: what was not written will never be, so that its room is not free
    /// again, and nobody may wait for it.
    receiver: Option<ResultReceiver<Delivery>>,
    output: Output,
    failure: Option<RunError>,
}

impl OutputDesk {
    pub(super) fn new(receiver: ResultReceiver<Delivery>, output: Output) -> Self {
        let hint = receiver.hint();
        let books = Books {
            receiver: Some(receiver),
            output,
            failure: None,
        };
        Self {
            books: Mutex::new(Some(books)),
            hint,
            has_failed: AtomicBool::new(false),
        }
    }

    /// Merges and writes what has been delivered, unless another thread does.
    pub(super) fn collect(&self) {
        if !self.hint.is_raised() && !self.books.is_poisoned() {
            return;
        }
        match self.books.try_lock() {
            Ok(mut books) => {
                if let Some(books) = &mut *books
                    && self.hint.take()
                {
                    books.collect();
                    // Relaxed: only ends the input early.
                    self.has_failed
                        .fetch_or(books.failure.is_some(), Ordering::Relaxed);
                }
            }
            Err(TryLockError::WouldBlock) => {}
            // A thread has panicked here. Without a receiver nobody waits for room.
            Err(TryLockError::Poisoned(books)) => {
                self.has_failed.store(true, Ordering::Relaxed);
                *books.into_inner() = None;
            }
        }
    }

    /// Whether writing has failed, so that the run ends.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Takes the remaining results, once all senders are gone, and completes all files. Nothing was
    /// written if a thread has panicked here.
    pub(super) fn close(&self) -> Result<OutputSummary, RunError> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        match books.take() {
            Some(Books {
                failure: Some(failure),
                ..
            }) => Err(failure),
            Some(Books {
                receiver: Some(receiver),
                output,
                ..
            }) => write_all(receiver, output),
            _ => Ok(OutputSummary::default()),
        }
    }
}

impl Books {
    fn collect(&mut self) {
        let Self {
            receiver,
            output,
            failure,
        } = self;
        let Some(results) = receiver else {
            return;
        };
        let mut any = false;
        while let Some((source, delivery)) = results.try_recv() {
            any = true;
            output.push(source, delivery);
        }
        if any {
            let written = output.write(|source, batch| give_back(results, source, batch));
            *failure = written.err();
        }
        if failure.is_some() {
            *receiver = None;
        }
    }
}
