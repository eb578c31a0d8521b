//! The reading end of one table: rows as they come, once.

use crate::error::Failure;
use crate::queue::{Next, Queues};
use crate::run::{Run, SLICE};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// The rows of a table. Who drops it wants no more of them.
pub(crate) struct Tap {
    pub(crate) run: Arc<Run>,
    pub(crate) queues: Queues,
    pub(crate) table: usize,
    pub(crate) schema: SchemaRef,
}

impl Tap {
    /// The next rows; none at the end. Waits without the interpreter's lock, whether the caller
    /// holds it or not: Python's own threads may have to read what the run waits for.
    ///
    /// # Errors
    /// Why the run failed; Ctrl-C.
    pub(crate) fn next(&self) -> PyResult<Option<RecordBatch>> {
        // At full speed the lock is not needed at all.
        if let Ok(Next::Batch(batch)) = self.queues.next(self.table, Duration::ZERO) {
            return Ok(Some(batch));
        }
        // An interpreter that shuts down has no reader any more.
        Python::try_attach(|py| {
            loop {
                if let Some(next) = self.next_within(py, SLICE)? {
                    return Ok(next);
                }
            }
        })
        .unwrap_or(Ok(None))
    }

    /// The next rows, or that there are none any more; nothing if none came within `patience`.
    ///
    /// # Errors
    /// As [`Tap::next`].
    pub(crate) fn next_within(
        &self,
        py: Python<'_>,
        patience: Duration,
    ) -> PyResult<Option<Option<RecordBatch>>> {
        py.check_signals()?;
        let next = py.detach(|| self.queues.next(self.table, patience));
        match next.map_err(|error| Failure::from(error).raise(py))? {
            Next::Batch(batch) => Ok(Some(Some(batch))),
            Next::Wait => Ok(None),
            Next::End => self.run.ended(py).map(|()| Some(None)),
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if !self.queues.close(self.table) {
            self.run.stop();
        }
    }
}

/// A tap in the hands of a program that takes Arrow's C stream.
pub(crate) struct Exported {
    pub(crate) tap: Tap,
    /// It has failed or ended.
    pub(crate) is_done: bool,
}

impl Iterator for Exported {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.tap.next();
        self.is_done = !matches!(next, Ok(Some(_)));
        match next {
            Ok(batch) => batch.map(Ok),
            Err(error) => Some(Err(ArrowError::ExternalError(passed_on(&error).into()))),
        }
    }
}

impl RecordBatchReader for Exported {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.tap.schema)
    }
}

/// The text of an exception. A Ctrl-C is put back, so that the interpreter raises it itself as soon
/// as the other program has returned.
fn passed_on(error: &PyErr) -> String {
    let text = Python::try_attach(|py| {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            let put_back = py.import("_thread").and_then(|thread| {
                let interrupt = thread.getattr("interrupt_main")?;
                interrupt.call0()
            });
            return put_back.map_or_else(|error| error.to_string(), |_| "interrupted".to_owned());
        }
        error.value(py).to_string()
    });
    text.unwrap_or_default()
}
