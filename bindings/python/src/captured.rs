//! `flowpin.packets`: packets as they were captured.

use crate::feed::{Feed, Giver};
use crate::report::Report;
use crate::run::Setting;
use flowpin_engine::{CapturedPacket, PacketSink, RunError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A packet as it was captured.
#[pyclass(frozen, module = "flowpin")]
pub(crate) struct CapturePacket {
    /// Its number, from 1, as in records.
    #[pyo3(get)]
    number: u64,
    /// Its time, in nanoseconds since 1970.
    #[pyo3(get)]
    time_ns: u64,
    /// Its length on the wire.
    #[pyo3(get)]
    wire_len: u32,
    /// The number of its link type.
    #[pyo3(get)]
    link_type: Option<u16>,
    bytes: Vec<u8>,
}

#[pymethods]
impl CapturePacket {
    /// Its bytes, from the link layer on.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    fn __repr__(&self) -> String {
        let (number, captured) = (self.number, self.bytes.len());
        format!(
            "CapturePacket(number={number}, time_ns={}, data=<{captured} bytes>)",
            self.time_ns
        )
    }
}

/// The packets of a capture, one by one.
#[pyclass(frozen, module = "flowpin._native")]
pub(crate) struct Packets(Feed<CapturePacket>);

impl Packets {
    pub(crate) fn start(py: Python<'_>, setting: Setting) -> PyResult<Self> {
        let feed = Feed::start(py, setting, |plan, giver, control, progress, names| {
            let mut sink = Sink(giver);
            let report = flowpin_engine::packets(plan, &mut sink, control, progress)?;
            Ok(Report::of_inputs(report.packets, &report.inputs, names))
        });
        Ok(Self(feed?))
    }
}

#[pymethods]
impl Packets {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<CapturePacket>> {
        self.0.next(py)
    }

    /// The sums; waits for the end.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.0.report(py)
    }

    /// No more packets are wanted.
    fn close(&self) {
        self.0.close();
    }
}

struct Sink<'a>(&'a mut Giver<CapturePacket>);

impl PacketSink for Sink<'_> {
    fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<(), RunError> {
        let taken = CapturePacket {
            number: packet.number,
            time_ns: packet.time.0,
            wire_len: packet.wire_len,
            link_type: packet.link,
            bytes: packet.bytes.to_vec(),
        };
        self.0.give(taken, packet.bytes.len())
    }
}
