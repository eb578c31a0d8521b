//! One run on many machines, for `flowpin.spark`: splits, shares and parts as plain values, which
//! travel between processes.

use crate::error::{Failure, Names};
use crate::feed::{Feed, Giver};
use crate::report::Report;
use crate::run::Setting;
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use flowpin_config::Plan;
use flowpin_counters::Loss;
use flowpin_engine::parts::{
    self, Begun, Deal, Division, Joint, Note, OpenConnection, Part, PartNote, Share, Slice, Whole,
};
use flowpin_engine::{BatchSink, Clock, Control, ProgressSink, RunError, Splitter, TimesSeen};
use flowpin_packet::Timestamp;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// What cuts one capture into splits.
#[pyclass(frozen, module = "flowpin._native", name = "Splitter")]
pub(crate) struct PySplitter(Splitter);

#[pymethods]
impl PySplitter {
    /// By the first bytes of a capture; none if it is not to be cut.
    #[staticmethod]
    fn of(head: &[u8]) -> Option<Self> {
        Splitter::new(head).map(Self)
    }

    /// The bytes before the first record.
    #[getter]
    fn head<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.head())
    }

    /// Where a record seems to begin.
    fn guess(&self, py: Python<'_>, data: &[u8], start: usize) -> Option<usize> {
        py.detach(|| self.0.guess(data, start))
    }

    /// The first border at or behind `until`, from one on, and the packets in between.
    fn walk(
        &self,
        py: Python<'_>,
        data: &[u8],
        start: usize,
        until: usize,
    ) -> Option<(usize, u64)> {
        let walked = py.detach(|| self.0.walk(data, start, until));
        walked.map(|walked| (walked.end, walked.packets))
    }

    #[classattr]
    const HEAD_LEN: usize = Splitter::HEAD_LEN;
    #[classattr]
    const RECORD_LEN_MAX: usize = Splitter::RECORD_LEN_MAX;
}

/// First, least and greatest; steps behind and ahead.
pub(crate) type Times = (Option<(u64, u64, u64)>, u64, u64);
/// Packets, the first one's time, times, the clock behind them, whether that is needed, damage.
type Surveyed = (
    u64,
    Option<u64>,
    Times,
    Option<Vec<u64>>,
    bool,
    Vec<(String, String)>,
);
/// A capture in memory: its name, its bytes.
pub(crate) type Bytes = Option<(String, PyBackedBytes)>;

fn owned(data: Bytes) -> parts::Bytes {
    data.map(|(name, bytes)| (name, bytes.to_vec()))
}

/// What a split begins with, once it was surveyed: the clock, the time behind it, its packets.
pub(crate) type Started = (Vec<u64>, Option<u64>, Option<u64>);

fn begun(py: Python<'_>, (clock, next, packets): Started) -> PyResult<Begun> {
    Ok(Begun {
        clock: of_words(py, &clock)?,
        next: next.map(Timestamp),
        packets,
    })
}

/// Surveys a split.
pub(crate) fn survey(
    py: Python<'_>,
    setting: &Setting,
    data: Bytes,
    started: Option<Started>,
) -> PyResult<Surveyed> {
    let begun = started.map(|started| begun(py, started)).transpose()?;
    let (plan, names) = (&setting.plan, &setting.names);
    let data = owned(data);
    let done = py.detach(|| parts::survey(plan, data, begun, &Control::default()));
    for feeder in &setting.feeders {
        feeder.call_method0(py, "check")?;
    }
    let done = done.map_err(|error| Failure::of_run(&error).renamed(names).raise(py))?;
    let report = Report::of_inputs(done.packets, &done.inputs, names);
    let TimesSeen {
        span,
        behind_max_ns,
        ahead_max_ns,
    } = done.times;
    let span = span.map(|(first, least, greatest)| (first.0, least.0, greatest.0));
    Ok((
        done.packets,
        done.first.map(|time| time.0),
        (span, behind_max_ns, ahead_max_ns),
        done.clock.map(Vec::from),
        done.is_silent,
        report.damage,
    ))
}

/// The clock before the first packet.
///
/// # Errors
/// An option keeps the run from being divided.
pub(crate) fn clock(py: Python<'_>, plan: &Plan) -> PyResult<Vec<u64>> {
    if let Some((option, why)) = parts::refusal(plan) {
        let text = format!("{option}: not with by='connection', as {why}");
        return Err(Failure::option(option, text).raise(py));
    }
    Ok(Clock::new(plan.clock_leap_max_ns).words().into())
}

/// The clock behind packets that were surveyed without it; none if it has to be given.
pub(crate) fn clock_over(
    py: Python<'_>,
    plan: &Plan,
    words: &[u64],
    (span, behind_max_ns, ahead_max_ns): Times,
) -> PyResult<Option<Vec<u64>>> {
    let mut clock = Clock::of_words(plan.clock_leap_max_ns, of_words(py, words)?);
    let times = TimesSeen {
        span: span.map(|(first, least, greatest)| {
            (Timestamp(first), Timestamp(least), Timestamp(greatest))
        }),
        behind_max_ns,
        ahead_max_ns,
    };
    Ok(clock.pass_over(&times).then(|| clock.words().into()))
}

fn of_words(py: Python<'_>, words: &[u64]) -> PyResult<[u64; 9]> {
    let words = words.try_into();
    words.map_err(|_| Failure::defect("the clock").raise(py))
}

/// Parts, and the pairs of hosts that are together.
pub(crate) type Divided = (u16, Vec<(IpAddr, IpAddr)>);

fn division((parts, hosts): Divided) -> Division {
    Division { parts, hosts }
}

/// From where to where a slice goes, and what is open where it begins.
pub(crate) type Sliced = (u64, Option<u64>, PyBackedBytes);

fn slice(py: Python<'_>, (from, until, open): &Sliced) -> PyResult<Slice> {
    Ok(Slice {
        from: Timestamp(*from),
        until: until.map(Timestamp),
        open: open_of(py, open)?,
    })
}

fn open_of(py: Python<'_>, bytes: &[u8]) -> PyResult<Vec<OpenConnection>> {
    let open = OpenConnection::of_bytes(bytes);
    open.ok_or_else(|| Failure::defect("what is open").raise(py))
}

/// The names of the losses from limits that connections share.
pub(crate) fn losses_shared(in_slices: bool) -> Vec<&'static str> {
    let all = Loss::ALL.iter().copied();
    let shared = all.filter(|&loss| parts::is_shared(loss, in_slices));
    shared.map(Loss::name).collect()
}

/// An item that travels: of a kind, with a number, and bytes.
type Item = (String, u64, Vec<u8>);

/// Items that travel.
#[pyclass(frozen, module = "flowpin._native")]
pub(crate) struct Items {
    feed: Feed<Item>,
    /// What the caller's iterator has raised.
    raised: Raised,
}

type Raised = Arc<Mutex<Option<PyErr>>>;

#[pymethods]
impl Items {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(String, u64, Bound<'py, PyBytes>)>> {
        let next = self.feed.next(py);
        let raised = &mut *self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = raised.take() {
            return Err(error);
        }
        Ok(next?.map(|(kind, number, bytes)| (kind, number, PyBytes::new(py, &bytes))))
    }

    /// The sums; waits for the end.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.feed.report(py)
    }
}

impl Items {
    /// Starts `work`, which asks an iterator of Python's for what it needs: `item` reads that. What
    /// the iterator raises ends the run, and is raised again by who reads the items.
    fn start<T: 'static>(
        py: Python<'_>,
        setting: Setting,
        iterator: Py<PyAny>,
        item: fn(&Bound<'_, PyAny>) -> PyResult<T>,
        work: impl FnOnce(Asked<T>, &mut Step<'_>) -> Result<Report, RunError> + Send + 'static,
    ) -> PyResult<Self> {
        let raised = Raised::default();
        let seen = Arc::clone(&raised);
        let feed = Feed::start(py, setting, move |plan, giver, control, progress, names| {
            let stop = Arc::clone(&control.stop);
            let asked = Box::new(move || {
                let next = Python::attach(|py| {
                    let next = iterator.bind(py).try_iter()?.next().transpose()?;
                    next.map(|one| item(&one)).transpose()
                });
                next.unwrap_or_else(|error| {
                    *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    stop.store(true, Ordering::Relaxed);
                    None
                })
            });
            let mut step = Step {
                plan,
                giver,
                control,
                progress,
                names,
            };
            work(asked, &mut step)
        })?;
        Ok(Self { feed, raised })
    }
}

/// Gives the next one; none at the end.
type Asked<T> = Box<dyn FnMut() -> Option<T> + Send>;

/// What a step of a divided run works with.
struct Step<'a> {
    plan: &'a Plan,
    giver: &'a mut Giver<Item>,
    control: &'a Control,
    progress: &'a dyn ProgressSink,
    names: &'a Names,
}

/// Deals the packets of a split out that lie in a slice: shares, each with its part as its kind.
pub(crate) fn deal(
    py: Python<'_>,
    setting: Setting,
    data: Bytes,
    (packets_before, started): (u64, Started),
    (divided, (from, until)): (Divided, (u64, Option<u64>)),
) -> PyResult<Items> {
    let split = Deal {
        packets_before,
        begun: begun(py, started)?,
    };
    let slice = Slice {
        from: Timestamp(from),
        until: until.map(Timestamp),
        open: Vec::new(),
    };
    let data = owned(data);
    let feed = Feed::start(py, setting, move |plan, giver, control, progress, _| {
        let mut give = |share: Share| {
            // Not before the source is open: who waits for this closes its end of a pipe.
            progress.started();
            let len = share.bytes.len();
            giver.give((share.part.to_string(), share.number, share.bytes), len)
        };
        let which = (&division(divided), &slice);
        parts::deal(plan, data, &split, which, control, &mut give)?;
        Ok(Report::default())
    })?;
    let raised = Raised::default();
    Ok(Items { feed, raised })
}

/// Runs a part: its records' batches by the names of their tables; notes as `.hosts`, and by the
/// names of what is decided from them (`.scans`); in the end what is open behind its slice, as
/// `.open`.
pub(crate) fn part(
    py: Python<'_>,
    setting: Setting,
    shares: Py<PyAny>,
    divided: Divided,
    (number, (packets, end), sliced): (u16, (u64, u64), Sliced),
) -> PyResult<Items> {
    let slice = slice(py, &sliced)?;
    Items::start(py, setting, shares, share_of, move |shares, step| {
        let division = division(divided);
        let part = Part {
            division: &division,
            number,
            whole: Whole {
                packets,
                end: Timestamp(end),
            },
            slice: &slice,
        };
        let mut notes = step.giver.another();
        let note = Box::new(move |note: PartNote| {
            let (kind, number, bytes) = match note {
                PartNote::Joint(note) => (note.joint.name(), note.order, note.bytes),
                PartNote::Hosts(one, other) => ("hosts", 0, format!("{one} {other}").into_bytes()),
            };
            let len = bytes.len();
            // Who wants no more has closed the feed: then the records end the run.
            let _closed = notes.give((format!(".{kind}"), number, bytes), len);
        });
        let sink = Tables::boxed(step.plan, step.giver.another());
        let (plan, control) = (step.plan, step.control);
        let done = parts::run_part(plan, part, shares, sink, note, control, step.progress)?;
        if slice.until.is_some() {
            let open = OpenConnection::to_bytes(&done.open);
            let len = open.len();
            step.giver.give((".open".to_owned(), 0, open), len)?;
        }
        Ok(Report::of(&done.report, step.names))
    })
}

/// Finds what a part hands on to the next slice: shares, each as `.carried`.
pub(crate) fn carry(
    py: Python<'_>,
    setting: Setting,
    shares: Py<PyAny>,
    (until, open): (u64, PyBackedBytes),
) -> PyResult<Items> {
    let open = open_of(py, &open)?;
    Items::start(py, setting, shares, share_of, move |shares, step| {
        step.progress.started();
        let giver = &mut *step.giver;
        let mut give = |number, share: Vec<u8>| {
            let len = share.len();
            giver.give((".carried".to_owned(), number, share), len)
        };
        let border = (Timestamp(until), open.as_slice());
        parts::carry(step.plan, shares, border, step.control, &mut give)?;
        Ok(Report::default())
    })
}

/// The names of what parts leave to be decided.
pub(crate) fn joints(plan: &Plan) -> Vec<&'static str> {
    Joint::of(plan).into_iter().map(Joint::name).collect()
}

/// Whether one of these is decided by rules.
pub(crate) fn needs_rules(joint: &str) -> bool {
    joint == Joint::Alerts.name()
}

/// Decides one of these: `notes` gives part, number and bytes.
pub(crate) fn join(
    py: Python<'_>,
    setting: Setting,
    notes: Py<PyAny>,
    (joint, parts): (&str, u16),
    (packets, end): (u64, u64),
) -> PyResult<Items> {
    let joint = Joint::named(joint).ok_or_else(|| Failure::defect("what is joined").raise(py))?;
    Items::start(py, setting, notes, note_of, move |mut notes, step| {
        step.progress.started();
        let whole = Whole {
            packets,
            end: Timestamp(end),
        };
        let mut next = || {
            let next = notes().map(|(part, order, bytes)| {
                let note = Note {
                    joint,
                    order,
                    bytes,
                };
                (part, note)
            });
            Ok(next)
        };
        let sink = Tables::boxed(step.plan, step.giver.another());
        let which = (joint, parts);
        let losses = parts::join(step.plan, which, whole, &mut next, sink, step.control)?;
        Ok(Report::default().with_losses(&losses))
    })
}

fn share_of(share: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(share.extract::<PyBackedBytes>()?.to_vec())
}

fn note_of(note: &Bound<'_, PyAny>) -> PyResult<(u16, u64, Vec<u8>)> {
    let (part, order, bytes) = note.extract::<(u16, u64, PyBackedBytes)>()?;
    Ok((part, order, bytes.to_vec()))
}

/// Record batches as bytes.
struct Tables {
    names: Vec<(usize, String)>,
    giver: Giver<Item>,
}

impl Tables {
    fn boxed(plan: &Plan, giver: Giver<Item>) -> Box<dyn BatchSink> {
        let tables = flowpin_engine::tables(plan).into_iter();
        let names = tables.map(|table| (table.number, table.name)).collect();
        Box::new(Self { names, giver })
    }
}

impl BatchSink for Tables {
    fn wants(&self, table: usize) -> bool {
        self.names.iter().any(|&(number, _)| number == table)
    }

    fn take(&mut self, table: usize, batch: RecordBatch) -> bool {
        let Some((_, name)) = self.names.iter().find(|&&(number, _)| number == table) else {
            return true;
        };
        let mut bytes = Vec::new();
        let written = StreamWriter::try_new(&mut bytes, &batch.schema()).and_then(|mut writer| {
            writer.write(&batch)?;
            writer.finish()
        });
        let len = bytes.len();
        written.is_ok() && self.giver.give((name.clone(), 0, bytes), len).is_ok()
    }
}
