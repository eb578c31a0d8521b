//! Items of a run for Python's `for`: handed over in bunches, of bounded number and size.

use crate::error::{Failure, Names};
use crate::report::Report;
use crate::run::{Run, SLICE, Setting};
use flowpin_config::Plan;
use flowpin_engine::{Control, ProgressSink, RunError};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The run's end of a feed.
pub(crate) struct Giver<T> {
    sender: SyncSender<Vec<T>>,
    bunch: Vec<T>,
    bytes: usize,
    begun: Instant,
}

impl<T> Giver<T> {
    /// Hands an item over, with the bytes that it holds; waits if too many wait.
    ///
    /// # Errors
    /// The feed was closed: the run ends.
    pub(crate) fn give(&mut self, item: T, bytes: usize) -> Result<(), RunError> {
        self.bunch.push(item);
        self.bytes += bytes;
        let is_full = self.bunch.len() >= BUNCH || self.bytes >= BUNCH_BYTES;
        if is_full || self.begun.elapsed() >= PATIENCE {
            return self.flush();
        }
        Ok(())
    }

    /// Another one that feeds the same reader.
    pub(crate) fn another(&self) -> Self {
        Self {
            sender: self.sender.clone(),
            bunch: Vec::new(),
            bytes: 0,
            begun: Instant::now(),
        }
    }

    /// Hands over what waits.
    ///
    /// # Errors
    /// As [`Giver::give`].
    pub(crate) fn flush(&mut self) -> Result<(), RunError> {
        (self.bytes, self.begun) = (0, Instant::now());
        let bunch = std::mem::take(&mut self.bunch);
        self.sender.send(bunch).map_err(|_| RunError::StreamWrite {
            path: "the reader".into(),
            source: ErrorKind::BrokenPipe.into(),
        })
    }
}

impl<T> Drop for Giver<T> {
    fn drop(&mut self) {
        if !self.bunch.is_empty() {
            // Nobody is left who would want it.
            let _closed = self.flush();
        }
    }
}

/// Python's end of a feed.
pub(crate) struct Feed<T> {
    run: Arc<Run>,
    /// None once it is closed.
    open: Mutex<Option<Open<T>>>,
}

struct Open<T> {
    receiver: Receiver<Vec<T>>,
    waiting: VecDeque<T>,
}

impl<T: Send + 'static> Feed<T> {
    /// Starts `work`, which gives items.
    ///
    /// # Errors
    /// As [`Run::start`].
    pub(crate) fn start(
        py: Python<'_>,
        setting: Setting,
        work: impl FnOnce(
            &Plan,
            &mut Giver<T>,
            &Control,
            &dyn ProgressSink,
            &Names,
        ) -> Result<Report, RunError>
        + Send
        + 'static,
    ) -> PyResult<Self> {
        let (sender, receiver) = sync_channel(BUNCHES);
        let mut giver = Giver {
            sender,
            bunch: Vec::new(),
            bytes: 0,
            begun: Instant::now(),
        };
        let work = move |plan: &Plan, control: &Control, progress: &dyn ProgressSink, names: &_| {
            let report = work(plan, &mut giver, control, progress, names)?;
            giver.flush()?;
            Ok(report)
        };
        let run = Run::start(py, setting, work, || {})?;
        let open = Open {
            receiver,
            waiting: VecDeque::new(),
        };
        Ok(Self {
            run,
            open: Mutex::new(Some(open)),
        })
    }

    /// The next item; none at the end.
    ///
    /// # Errors
    /// Why the run failed; Ctrl-C.
    pub(crate) fn next(&self, py: Python<'_>) -> PyResult<Option<T>> {
        loop {
            let taken = py.detach(|| {
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.as_mut().map_or(Taken::End, Open::take)
            });
            match taken {
                Taken::Item(item) => return Ok(Some(item)),
                Taken::Nothing => py.check_signals()?,
                Taken::End => {
                    let was_open = self.close();
                    return match was_open {
                        true => self.run.ended(py).map(|()| None),
                        false => Ok(None),
                    };
                }
            }
        }
    }

    /// The sums of the run.
    ///
    /// # Errors
    /// As [`Run::report`].
    pub(crate) fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.run.report(py)
    }

    /// No more items are wanted. Returns whether some were.
    pub(crate) fn close(&self) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.take().is_some()
    }
}

impl<T> Drop for Feed<T> {
    fn drop(&mut self) {
        self.run.stop();
    }
}

/// What a feed gives.
enum Taken<T> {
    Item(T),
    /// Nothing came in time.
    Nothing,
    End,
}

impl<T> Open<T> {
    fn take(&mut self) -> Taken<T> {
        if let Some(item) = self.waiting.pop_front() {
            return Taken::Item(item);
        }
        match self.receiver.recv_timeout(SLICE) {
            Ok(bunch) => {
                self.waiting.extend(bunch);
                self.waiting.pop_front().map_or(Taken::Nothing, Taken::Item)
            }
            Err(RecvTimeoutError::Timeout) => Taken::Nothing,
            Err(RecvTimeoutError::Disconnected) => Taken::End,
        }
    }
}

/// A connection by its name in records.
///
/// # Errors
/// The text names none.
pub(crate) fn wanted(connection: Option<&str>) -> Result<flowpin_engine::Wanted, Failure> {
    let Some(text) = connection else {
        return Ok(flowpin_engine::Wanted::All);
    };
    text.parse().map_err(|error| {
        let text = format!("`{text}` does not name a connection: {error}");
        Failure::option("connection", text)
    })
}

/// Items of a bunch, and their bytes.
const BUNCH: usize = 1024;
const BUNCH_BYTES: usize = 256 << 10;
/// Bunches that may wait.
const BUNCHES: usize = 16;
/// Items do not wait longer for others.
const PATIENCE: Duration = Duration::from_millis(50);
