//! `flowpin.explain`: what each stage saw of packets, and decided.

use crate::error::Failure;
use crate::feed::{Feed, Giver, wanted};
use crate::report::Report;
use crate::run::Setting;
use flowpin_config::Format;
use flowpin_engine::{ExplainSink, PacketAccount, Question, RunError};
use flowpin_explanation::{Form, Printer, explained, question_of_record};
use pyo3::prelude::*;

/// The accounts of packets and of connections, one by one: text, or an object of JSON.
#[pyclass(frozen, module = "flowpin._native")]
pub(crate) struct Explanations(Feed<String>);

impl Explanations {
    /// `asked`: the number of a packet, the name of a connection, or a line of a log; one of them.
    pub(crate) fn start(
        py: Python<'_>,
        mut setting: Setting,
        asked: (Option<u64>, Option<&str>, Option<&str>),
        is_text: bool,
    ) -> PyResult<Self> {
        let question = question(asked).map_err(|error| error.raise(py))?;
        // Its records are shown as lines.
        setting.plan.output.formats = vec![Format::Eve];
        let form = match question {
            _ if !is_text => Form::Json,
            Question::Packet(_) => Form::Long,
            Question::Connection(_) => Form::Short,
        };
        let feed = Feed::start(py, setting, move |plan, giver, control, progress, names| {
            let mut sink = Sink {
                giver,
                printer: Printer::new(Vec::new(), form),
            };
            let report = flowpin_engine::explain(plan, question, &mut sink, control, progress)?;
            sink.printer.finish(&report)?;
            sink.give()?;
            explained(question, &report)?;
            Ok(Report {
                stopped_early: report.stopped_early,
                ..Report::of_inputs(report.packets, &report.inputs, names)
            })
        });
        Ok(Self(feed?))
    }
}

fn question(
    (packet, connection, record): (Option<u64>, Option<&str>, Option<&str>),
) -> Result<Question, Failure> {
    match (packet, connection, record) {
        (Some(number), None, None) => Ok(Question::Packet(number)),
        (None, Some(_), None) => wanted(connection).map(Question::Connection),
        (None, None, Some(line)) => {
            question_of_record(line).map_err(|why| Failure::option("record", why.to_string()))
        }
        _ => Err(Failure::options(
            "what is to be explained? give one of packet, connection and record",
        )),
    }
}

#[pymethods]
impl Explanations {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.0.next(py)
    }

    /// The sums; waits for the end.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.0.report(py)
    }

    /// No more accounts are wanted.
    fn close(&self) {
        self.0.close();
    }
}

struct Sink<'a> {
    giver: &'a mut Giver<String>,
    printer: Printer<Vec<u8>>,
}

impl Sink<'_> {
    /// Hands over what the printer has written.
    fn give(&mut self) -> Result<(), RunError> {
        let written = core::mem::take(self.printer.out());
        if written.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&written).into_owned();
        self.giver.give(text, written.len())
    }
}

impl ExplainSink for Sink<'_> {
    fn packet(&mut self, account: PacketAccount) -> Result<(), RunError> {
        self.printer.packet(account)?;
        self.give()
    }
}
