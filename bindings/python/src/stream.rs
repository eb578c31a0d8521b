//! What Python sees of a table: a stream of record batches that can be read once.

use crate::error::Failure;
use crate::parquet_file::ParquetFile;
use crate::queue::Queues;
use crate::report::Report;
use crate::run::Run;
use crate::tap::{Exported, Tap};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The rows of one table, on their way.
#[pyclass(frozen, module = "flowpin._native")]
pub(crate) struct Stream {
    name: String,
    schema: SchemaRef,
    run: Arc<Run>,
    queues: Queues,
    tap: Mutex<Option<Tap>>,
}

impl Stream {
    pub(crate) fn new(name: String, tap: Tap) -> Self {
        Self {
            name,
            schema: Arc::clone(&tap.schema),
            run: Arc::clone(&tap.run),
            queues: tap.queues.clone(),
            tap: Mutex::new(Some(tap)),
        }
    }

    /// The tap, once.
    fn take(&self, py: Python<'_>) -> PyResult<Tap> {
        let mut tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        tap.take()
            .ok_or_else(|| Failure::consumed(&self.name).raise(py))
    }
}

#[pymethods]
impl Stream {
    /// The name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The names of its columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// Whether its rows were given away.
    #[getter]
    fn is_consumed(&self) -> bool {
        let tap = self.tap.lock();
        tap.unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The rows, for any program that takes Arrow's C stream. A cast is the consumer's business.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let tap = self.take(py)?;
        let is_done = false;
        stream_capsule(py, Box::new(Exported { tap, is_done }))
    }

    /// The next rows; none at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Batches>> {
        let tap = self.take(py)?;
        let next = tap.next();
        let batch = match next {
            Ok(Some(batch)) => batch,
            other => return other.map(|_| None),
        };
        let mut place = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(tap);
        let schema = Arc::clone(&self.schema);
        let all = vec![batch];
        Ok(Some(Batches { schema, all }))
    }

    /// The sums of the run; waits for its end.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.run.report(py)
    }

    /// Bytes of rows of all tables that had to wait in a file so far.
    #[getter]
    fn spilled_bytes(&self) -> u64 {
        self.queues.spilled_bytes()
    }

    /// Bytes read, bytes to read if that is known, packets.
    fn progress(&self) -> (u64, Option<u64>, u64) {
        self.run.progress()
    }

    /// No rows are wanted any more.
    fn close(&self) {
        let mut tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        drop(tap.take());
    }
}

/// Rows that are here.
#[pyclass(frozen, module = "flowpin._native")]
pub(crate) struct Batches {
    schema: SchemaRef,
    all: Vec<RecordBatch>,
}

#[pymethods]
impl Batches {
    /// How many rows there are.
    #[getter]
    fn num_rows(&self) -> usize {
        self.all.iter().map(RecordBatch::num_rows).sum()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let all = self.all.clone().into_iter().map(Ok);
        let batches = RecordBatchIterator::new(all, Arc::clone(&self.schema));
        stream_capsule(py, Box::new(batches))
    }
}

/// Reads several tables of a run to their ends, all at the same time, into memory. `progress` is
/// called now and then.
///
/// # Errors
/// Why the run failed; Ctrl-C.
#[pyfunction]
#[pyo3(signature = (streams, progress=None))]
pub(crate) fn drain(
    py: Python<'_>,
    streams: Vec<PyRef<'_, Stream>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<Batches>> {
    let taps = taken(py, &streams)?;
    let empty = taps.iter().map(|tap| Batches {
        schema: Arc::clone(&tap.schema),
        all: Vec::new(),
    });
    let mut all: Vec<Batches> = empty.collect();
    drain_into(py, taps, progress, |table, batch| {
        if let Some(batches) = all.get_mut(table) {
            batches.all.push(batch);
        }
        Ok(())
    })?;
    Ok(all)
}

/// Reads several tables of a run to their ends, all at the same time, into a Parquet file each:
/// no more of a table is in memory than a row group. Returns the number of rows of each.
///
/// # Errors
/// Why the run failed; Ctrl-C; a file cannot be written. No file is there then.
#[pyfunction]
#[pyo3(signature = (streams, paths, progress=None, are_all_made=true))]
pub(crate) fn write_parquet(
    py: Python<'_>,
    streams: Vec<PyRef<'_, Stream>>,
    paths: Vec<PathBuf>,
    progress: Option<Bound<'_, PyAny>>,
    are_all_made: bool,
) -> PyResult<Vec<u64>> {
    let taps = taken(py, &streams)?;
    let mut files = Vec::new();
    for (tap, path) in taps.iter().zip(paths) {
        let mut file = ParquetFile::new(path, Arc::clone(&tap.schema));
        if are_all_made {
            file.open().map_err(|error| error.raise(py))?;
        }
        files.push(file);
    }
    drain_into(py, taps, progress, |table, batch| {
        match files.get_mut(table) {
            Some(file) => py.detach(|| file.write(&batch)),
            None => Ok(()),
        }
    })?;
    let finished = files.into_iter().map(|file| py.detach(|| file.finish()));
    let finished: Result<_, Failure> = finished.collect();
    finished.map_err(|error| error.raise(py))
}

fn taken(py: Python<'_>, streams: &[PyRef<'_, Stream>]) -> PyResult<Vec<Tap>> {
    streams.iter().map(|stream| stream.take(py)).collect()
}

/// Gives all rows of all taps to `take`, as they come.
fn drain_into(
    py: Python<'_>,
    taps: Vec<Tap>,
    progress: Option<Bound<'_, PyAny>>,
    mut take: impl FnMut(usize, RecordBatch) -> Result<(), Failure>,
) -> PyResult<()> {
    let mut taps: Vec<Option<Tap>> = taps.into_iter().map(Some).collect();
    let mut told = Instant::now();
    // One tap is waited for, the others are asked: each that has rows is served.
    let mut waits_for = 0;
    while taps.iter().any(Option::is_some) {
        for (table, place) in taps.iter_mut().enumerate() {
            let Some(tap) = place.as_mut() else { continue };
            let patience = match table == waits_for {
                true => WAIT,
                false => Duration::ZERO,
            };
            match tap.next_within(py, patience)? {
                None => {}
                Some(Some(batch)) => take(table, batch).map_err(|error| error.raise(py))?,
                Some(None) => *place = None,
            }
        }
        let open = taps.iter().position(Option::is_some);
        waits_for = open.unwrap_or_default();
        if let (Some(progress), Some(tap)) = (&progress, taps.iter().flatten().next())
            && told.elapsed() >= TELL_EVERY
        {
            told = Instant::now();
            progress.call1(tap.run.progress())?;
        }
    }
    Ok(())
}

/// How long one table is waited for while others may have rows.
const WAIT: Duration = Duration::from_millis(10);

/// Progress is told so often.
const TELL_EVERY: Duration = Duration::from_millis(100);

fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref());
    let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

fn stream_capsule(
    py: Python<'_>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(batches);
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
