//! The Python package `flowpin`: the engine in the interpreter's process, its records as Arrow
//! tables.
//!
//! ```text
//!  Python: flowpin.read(source, records, options) ─► Reader, Records      python/flowpin
//!             │                                         │ to_arrow, __arrow_c_stream__, …
//!  ───────────┼─────────────────────────────────────────┼────────────────────────────────
//!             ▼                                         ▼
//!          options ► run (a thread) ─batches─► queue ► tap ► stream       this crate
//! ```
//!
//! Owns the way of batches from the run to Python, and the way of errors. Guarantees that the
//! rows are those of the Parquet files that `flowpin run` writes, that memory is bounded while
//! they wait, and that no wait holds the interpreter's lock or keeps Ctrl-C waiting. Decides
//! nothing about packets: that is the engine's.

mod captured;
mod conversations;
mod error;
mod explanations;
mod feed;
mod grammar;
mod options;
mod parquet_file;
mod parts;
mod queue;
mod report;
mod run;
mod spill;
mod stream;
mod tap;
mod verdicts;

use crate::captured::{CapturePacket, Packets};
use crate::conversations::{StreamPart, Streams};
use crate::error::{Failure, Names};
use crate::explanations::Explanations;
use crate::grammar::Grammar;
use crate::parts::{Bytes, Divided, Items, PySplitter, Sliced, Started, Times};
use crate::queue::Queues;
use crate::report::Report;
use crate::run::{Run, Setting};
use crate::stream::Stream;
use crate::tap::Tap;
use crate::verdicts::{Verdict, Verdicts};
use flowpin_config::Plan;
use flowpin_engine::{ProgressSink, TableSchema};
use flowpin_packet::Timestamp;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// Where packets come from: paths, what they are called in messages, and what feeds them.
type Source = (Vec<PathBuf>, Vec<(String, String)>, Vec<Py<PyAny>>);
/// Options as words, and grammars that were compiled before.
type Given = (Vec<options::Words>, Vec<Py<Grammar>>);

/// Starts a run and returns its tables. `records`: the names of those that are wanted; none: all.
///
/// # Errors
/// The options, the names or the source are wrong.
#[pyfunction]
#[pyo3(signature = (source, records, config, options))]
fn read(
    py: Python<'_>,
    source: Source,
    records: Option<Vec<String>>,
    config: Option<PathBuf>,
    options: Given,
) -> PyResult<Vec<Stream>> {
    let setting = setting(py, source, config, &options)?;
    let tables = wanted(&setting.plan, records.as_deref()).map_err(|error| error.raise(py))?;
    let numbers: Vec<_> = tables.iter().map(|table| table.number).collect();
    let queues = Queues::new(&numbers);
    let (sink, end) = (queues.clone(), queues.clone());
    let work = move |plan: &Plan, control: &_, progress: &dyn ProgressSink, names: &_| {
        let report = flowpin_engine::run_batches(plan, Box::new(sink), control, progress)?;
        Ok(Report::of(&report, names))
    };
    let run = Run::start(py, setting, work, move || end.finish())?;
    let streams = tables.into_iter().map(|table| {
        let tap = Tap {
            run: Arc::clone(&run),
            queues: queues.clone(),
            table: table.number,
            schema: table.schema,
        };
        Stream::new(table.name, tap)
    });
    Ok(streams.collect())
}

/// The packets of captures that pass the filter, as they were captured.
///
/// # Errors
/// The options or the source are wrong.
#[pyfunction]
#[pyo3(signature = (source, config, options))]
fn packets(
    py: Python<'_>,
    source: Source,
    config: Option<PathBuf>,
    options: Given,
) -> PyResult<Packets> {
    Packets::start(py, setting(py, source, config, &options)?)
}

/// The bytes of conversations, or of one.
///
/// # Errors
/// The options, the name of the connection or the source are wrong.
#[pyfunction]
#[pyo3(signature = (source, connection, config, options))]
fn streams(
    py: Python<'_>,
    source: Source,
    connection: Option<&str>,
    config: Option<PathBuf>,
    options: Given,
) -> PyResult<Streams> {
    Streams::start(py, setting(py, source, config, &options)?, connection)
}

/// The protocol of each connection.
///
/// # Errors
/// The options or the source are wrong.
#[pyfunction]
#[pyo3(signature = (source, config, options))]
fn identify(
    py: Python<'_>,
    source: Source,
    config: Option<PathBuf>,
    options: Given,
) -> PyResult<Verdicts> {
    Verdicts::start(py, setting(py, source, config, &options)?)
}

/// What each stage saw of a packet, or of a connection's packets: `asked` as in
/// [`Explanations::start`].
///
/// # Errors
/// The options, what is asked for or the source are wrong.
#[pyfunction]
#[pyo3(signature = (source, asked, is_text, config, options))]
fn explain(
    py: Python<'_>,
    source: Source,
    asked: (Option<u64>, Option<String>, Option<String>),
    is_text: bool,
    config: Option<PathBuf>,
    options: Given,
) -> PyResult<Explanations> {
    let (packet, connection, record) = &asked;
    let asked = (*packet, connection.as_deref(), record.as_deref());
    Explanations::start(py, setting(py, source, config, &options)?, asked, is_text)
}

/// Surveys a split of a capture: a part of its bytes, or a source.
///
/// # Errors
/// The options or the source are wrong.
#[pyfunction]
#[pyo3(signature = (source, config, options, data, started))]
fn survey(
    py: Python<'_>,
    source: Source,
    config: Option<PathBuf>,
    options: Given,
    data: Bytes,
    started: Option<Started>,
) -> PyResult<Py<PyAny>> {
    let setting = setting_without_rules(py, source, config, &options)?;
    let surveyed = parts::survey(py, &setting, data, started)?;
    Ok(surveyed.into_pyobject(py)?.into_any().unbind())
}

/// The clock before the first packet; or behind packets that were surveyed, if that needs no more.
///
/// # Errors
/// The options are wrong, or keep the run from being divided.
#[pyfunction]
#[pyo3(signature = (config, options, behind))]
fn clock(
    py: Python<'_>,
    config: Option<PathBuf>,
    options: Given,
    behind: Option<(Vec<u64>, Times)>,
) -> PyResult<Option<Vec<u64>>> {
    let plan = planned(py, Vec::new(), config, &options, false)?;
    match behind {
        None => parts::clock(py, &plan).map(Some),
        Some((words, times)) => parts::clock_over(py, &plan, &words, times),
    }
}

/// Deals the packets of a split out among parts.
///
/// # Errors
/// The options or the source are wrong.
#[pyfunction]
#[pyo3(signature = (source, config, options, data, split, which))]
fn deal(
    py: Python<'_>,
    source: Source,
    config: Option<PathBuf>,
    options: Given,
    data: Bytes,
    split: (u64, Started),
    which: (Divided, (u64, Option<u64>)),
) -> PyResult<Items> {
    let setting = setting_without_rules(py, source, config, &options)?;
    parts::deal(py, setting, data, split, which)
}

/// Analyses the shares of a part: its number, where the whole input ends, and its slice.
///
/// # Errors
/// The options are wrong.
#[pyfunction]
#[pyo3(signature = (config, options, shares, division, part))]
fn part(
    py: Python<'_>,
    config: Option<PathBuf>,
    options: Given,
    shares: Py<PyAny>,
    division: Divided,
    part: (u16, (u64, u64), Sliced),
) -> PyResult<Items> {
    let setting = setting(py, Source::default(), config, &options)?;
    parts::part(py, setting, shares, division, part)
}

/// Finds in the shares of a part what the next slice needs: `border` is the slice's end, and what
/// is open there.
///
/// # Errors
/// The options are wrong.
#[pyfunction]
#[pyo3(signature = (config, options, shares, border))]
fn carry(
    py: Python<'_>,
    config: Option<PathBuf>,
    options: Given,
    shares: Py<PyAny>,
    border: (u64, PyBackedBytes),
) -> PyResult<Items> {
    let setting = setting_without_rules(py, Source::default(), config, &options)?;
    parts::carry(py, setting, shares, border)
}

/// The last moment up to this one at which a slice may begin.
#[pyfunction]
const fn slice_border(time_ns: u64) -> u64 {
    flowpin_engine::parts::Slice::border(Timestamp(time_ns)).0
}

/// The names of the losses from limits that connections share.
#[pyfunction]
fn losses_shared(in_slices: bool) -> Vec<&'static str> {
    parts::losses_shared(in_slices)
}

/// The names of what no part of a run with these options can decide.
///
/// # Errors
/// The options are wrong.
#[pyfunction]
fn joints(py: Python<'_>, config: Option<PathBuf>, options: Given) -> PyResult<Vec<&'static str>> {
    let plan = planned(py, Vec::new(), config, &options, true)?;
    Ok(parts::joints(&plan))
}

/// Decides one of these for so many parts. `source`: the capture, if it is one that has a path.
///
/// # Errors
/// The options are wrong.
#[pyfunction]
#[pyo3(signature = (source, config, options, notes, joint, whole))]
fn join(
    py: Python<'_>,
    source: Source,
    config: Option<PathBuf>,
    options: Given,
    notes: Py<PyAny>,
    joint: (String, u16),
    whole: (u64, u64),
) -> PyResult<Items> {
    let (name, parts) = joint;
    let needs_rules = parts::needs_rules(&name);
    let setting = setting_with(py, source, config, &options, needs_rules)?;
    parts::join(py, setting, notes, (&name, parts), whole)
}

fn setting(
    py: Python<'_>,
    source: Source,
    config: Option<PathBuf>,
    options: &Given,
) -> PyResult<Setting> {
    setting_with(py, source, config, options, true)
}

/// For what compares nothing with rules: to read them takes longer than to look at a split.
fn setting_without_rules(
    py: Python<'_>,
    source: Source,
    config: Option<PathBuf>,
    options: &Given,
) -> PyResult<Setting> {
    setting_with(py, source, config, options, false)
}

fn setting_with(
    py: Python<'_>,
    (paths, names, feeders): Source,
    config: Option<PathBuf>,
    options: &Given,
    needs_rules: bool,
) -> PyResult<Setting> {
    let plan = planned(py, paths, config, options, needs_rules)?;
    Ok(Setting {
        plan,
        names: Names(names),
        feeders,
    })
}

/// The plan; warns of what was left out of it.
fn planned(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    config: Option<PathBuf>,
    (words, grammars): &Given,
    needs_rules: bool,
) -> PyResult<Plan> {
    let grammars: Vec<&Grammar> = grammars.iter().map(Py::get).collect();
    // Large rule sets take seconds.
    let planned = py.detach(|| options::plan(paths, config, words, &grammars, needs_rules));
    let planned = planned.map_err(|error| error.raise(py))?;
    if !planned.warnings.is_empty() {
        let warn = py.import("flowpin._errors")?.getattr("warn_of_settings")?;
        warn.call1((planned.warnings,))?;
    }
    Ok(planned.plan)
}

/// The tables with these names, or all, in the order of the engine's.
fn wanted(plan: &Plan, records: Option<&[String]>) -> Result<Vec<TableSchema>, Failure> {
    let tables = flowpin_engine::tables(plan);
    let Some(records) = records else {
        return Ok(tables);
    };
    if records.is_empty() {
        let text = "no kind of records is named; leave `records` out for all";
        return Err(Failure::option("records", text));
    }
    for record in records {
        if tables.iter().all(|table| table.name != *record) {
            let all: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            let all = all.join(", ");
            let text = match record.as_str() {
                "alert" => "there are no alerts without rules; `alert` needs `rules`".to_owned(),
                record => format!("there are no records `{record}`; there are {all}"),
            };
            return Err(Failure::option("records", text));
        }
    }
    let named = tables.into_iter();
    Ok(named
        .filter(|table| records.contains(&table.name))
        .collect())
}

/// The names of all options of `read`.
#[pyfunction]
fn options_known() -> Vec<String> {
    options::names()
}

/// The names of the options that name files.
#[pyfunction]
fn options_of_files() -> Vec<String> {
    options::names_of_files()
}

/// The names of all kinds of records, with these options.
#[pyfunction]
fn records_known(py: Python<'_>, config: Option<PathBuf>, options: Given) -> PyResult<Vec<String>> {
    let plan = planned(py, Vec::new(), config, &options, true)?;
    let tables = flowpin_engine::tables(&plan).into_iter();
    Ok(tables.map(|table| table.name).collect())
}

#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(read, module)?)?;
    module.add_function(wrap_pyfunction!(packets, module)?)?;
    module.add_function(wrap_pyfunction!(streams, module)?)?;
    module.add_function(wrap_pyfunction!(identify, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(survey, module)?)?;
    module.add_function(wrap_pyfunction!(clock, module)?)?;
    module.add_function(wrap_pyfunction!(deal, module)?)?;
    module.add_function(wrap_pyfunction!(part, module)?)?;
    module.add_function(wrap_pyfunction!(carry, module)?)?;
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(joints, module)?)?;
    module.add_function(wrap_pyfunction!(slice_border, module)?)?;
    module.add_function(wrap_pyfunction!(losses_shared, module)?)?;
    module.add_function(wrap_pyfunction!(options_known, module)?)?;
    module.add_function(wrap_pyfunction!(options_of_files, module)?)?;
    module.add_function(wrap_pyfunction!(records_known, module)?)?;
    module.add_function(wrap_pyfunction!(stream::drain, module)?)?;
    module.add_function(wrap_pyfunction!(stream::write_parquet, module)?)?;
    module.add_class::<Grammar>()?;
    module.add_class::<Stream>()?;
    module.add_class::<stream::Batches>()?;
    module.add_class::<CapturePacket>()?;
    module.add_class::<StreamPart>()?;
    module.add_class::<Verdict>()?;
    module.add_class::<Packets>()?;
    module.add_class::<Items>()?;
    module.add_class::<PySplitter>()?;
    module.add_class::<Streams>()?;
    module.add_class::<Verdicts>()?;
    module.add_class::<Explanations>()?;
    module.add_class::<Report>()
}
