//! `flowpin.identify`: the protocol of each connection.

use crate::feed::{Feed, Giver};
use crate::report::Report;
use crate::run::Setting;
use flowpin_engine::{ListSink, Listed, RunError};
use flowpin_record::RecordEndpoint;
use pyo3::prelude::*;

/// A connection, and which protocol it speaks.
#[pyclass(frozen, get_all, module = "flowpin")]
pub(crate) struct Verdict {
    /// The connection, as in records.
    uid: String,
    /// Time of its first packet, in nanoseconds since 1970.
    start_ns: u64,
    /// `TCP`, `UDP`, … as in EVE; a number if it has no name.
    transport: String,
    /// Address and port of who began it; no port where there is none.
    client: (String, Option<u16>),
    /// Address and port of the other side.
    server: (String, Option<u16>),
    /// The protocol, if there is a verdict.
    protocol: Option<String>,
    /// What it began as, if it changed (STARTTLS, upgrades).
    original: Option<String>,
    /// The rule that decided.
    rule: Option<String>,
    /// How sure it is.
    confidence: Option<&'static str>,
    /// The protocol that the port suggests, where there is no verdict.
    port_hint: Option<&'static str>,
    /// Packets of both directions.
    packets: u64,
    /// Bytes of their frames.
    frame_bytes: u64,
}

#[pymethods]
impl Verdict {
    fn __repr__(&self) -> String {
        let protocol = self.protocol.as_deref().unwrap_or("None");
        format!("Verdict({}, {}, {protocol})", self.uid, self.transport)
    }
}

impl Verdict {
    fn of(listed: &Listed) -> Self {
        let record = &listed.record;
        let app = record.app.as_ref();
        let has_ports = flowpin_record::has_ports(record.protocol);
        let end = |end: &RecordEndpoint| (end.address.to_string(), has_ports.then_some(end.port));
        let (up, down) = (&record.to_server, &record.to_client);
        let transport = flowpin_record::eve_protocol_name(record.protocol);
        Self {
            uid: record.uid.to_string(),
            start_ns: record.start.0,
            transport: transport.map_or_else(|| record.protocol.to_string(), str::to_owned),
            client: end(&record.client),
            server: end(&record.server),
            protocol: app.map(|app| app.name.to_owned()),
            original: app.and_then(|app| app.original).map(str::to_owned),
            rule: app.map(|app| app.rule.to_owned()),
            confidence: app.map(|app| app.confidence.name()),
            port_hint: listed.port_hint,
            packets: up.packets.saturating_add(down.packets),
            frame_bytes: up.frame_bytes.saturating_add(down.frame_bytes),
        }
    }
}

/// The verdicts, one by one.
#[pyclass(frozen, module = "flowpin._native")]
pub(crate) struct Verdicts(Feed<Verdict>);

impl Verdicts {
    pub(crate) fn start(py: Python<'_>, setting: Setting) -> PyResult<Self> {
        let feed = Feed::start(py, setting, |plan, giver, control, progress, names| {
            let mut sink = Sink(giver);
            let report = flowpin_engine::identify(plan, &mut sink, control, progress)?;
            Ok(Report::of(&report, names))
        });
        Ok(Self(feed?))
    }
}

#[pymethods]
impl Verdicts {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Verdict>> {
        self.0.next(py)
    }

    /// The sums; waits for the end.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.0.report(py)
    }

    /// No more verdicts are wanted.
    fn close(&self) {
        self.0.close();
    }
}

struct Sink<'a>(&'a mut Giver<Verdict>);

impl ListSink for Sink<'_> {
    fn connection(&mut self, listed: &Listed) -> Result<(), RunError> {
        self.0.give(Verdict::of(listed), 0)
    }
}
