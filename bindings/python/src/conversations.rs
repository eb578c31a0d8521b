//! `flowpin.streams`: the bytes of conversations, in the order of their packets.

use crate::feed::{Feed, Giver, wanted};
use crate::report::Report;
use crate::run::Setting;
use core::net::SocketAddr;
use flowpin_engine::{RunError, StreamEnd, StreamPlace, StreamSink};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A part of a stream: bytes, a gap, or the end.
#[pyclass(frozen, module = "flowpin")]
pub(crate) struct StreamPart {
    /// The connection, as in records.
    #[pyo3(get)]
    uid: String,
    /// `tcp` or `udp`.
    #[pyo3(get)]
    protocol: &'static str,
    /// Address and port of who began it.
    #[pyo3(get)]
    client: (String, u16),
    /// Address and port of the other side.
    #[pyo3(get)]
    server: (String, u16),
    /// Whether the stream goes from the client to the server.
    #[pyo3(get)]
    to_server: bool,
    /// Bytes of the stream before this part, gaps included.
    #[pyo3(get)]
    offset: u64,
    /// Time of the packet, in nanoseconds since 1970.
    #[pyo3(get)]
    time_ns: u64,
    /// That packet's number, from 1.
    #[pyo3(get)]
    packet_number: u64,
    what: What,
}

enum What {
    Data(Vec<u8>),
    Gap(u64),
    End(&'static str),
}

#[pymethods]
impl StreamPart {
    /// The bytes: for UDP, a datagram. None where there are none.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        match &self.what {
            What::Data(bytes) => Some(PyBytes::new(py, bytes)),
            _ => None,
        }
    }

    /// How many bytes are missing in the capture here; 0: none.
    #[getter]
    const fn gap(&self) -> u64 {
        match self.what {
            What::Gap(len) => len,
            _ => 0,
        }
    }

    /// How the stream has ended, if this is its end: `fin`, `reset`, `ended`.
    #[getter]
    const fn end(&self) -> Option<&'static str> {
        match self.what {
            What::End(how) => Some(how),
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        let what = match &self.what {
            What::Data(bytes) => format!("<{} bytes>", bytes.len()),
            What::Gap(len) => format!("<gap of {len} bytes>"),
            What::End(how) => format!("<end: {how}>"),
        };
        let (uid, offset) = (&self.uid, self.offset);
        let way = if self.to_server {
            "to server"
        } else {
            "to client"
        };
        format!("StreamPart({uid}, {way}, offset={offset}, {what})")
    }
}

/// The parts of streams, one by one.
#[pyclass(frozen, module = "flowpin._native")]
pub(crate) struct Streams(Feed<StreamPart>);

impl Streams {
    pub(crate) fn start(
        py: Python<'_>,
        setting: Setting,
        connection: Option<&str>,
    ) -> PyResult<Self> {
        let wanted = wanted(connection).map_err(|error| error.raise(py))?;
        let feed = Feed::start(py, setting, move |plan, giver, control, progress, names| {
            let mut sink = Sink(giver);
            let report = flowpin_engine::streams(plan, wanted, &mut sink, control, progress)?;
            let losses = report.losses;
            Ok(Report::of_inputs(report.packets, &report.inputs, names).with_losses(&losses))
        });
        Ok(Self(feed?))
    }
}

#[pymethods]
impl Streams {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<StreamPart>> {
        self.0.next(py)
    }

    /// The sums; waits for the end.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.0.report(py)
    }

    /// No more parts are wanted.
    fn close(&self) {
        self.0.close();
    }
}

struct Sink<'a>(&'a mut Giver<StreamPart>);

impl Sink<'_> {
    fn give(&mut self, at: &StreamPlace<'_>, what: What) -> Result<(), RunError> {
        let conversation = at.conversation;
        let end = |end: SocketAddr| (end.ip().to_string(), end.port());
        let bytes = match &what {
            What::Data(bytes) => bytes.len(),
            _ => 0,
        };
        let part = StreamPart {
            uid: conversation.uid.to_string(),
            protocol: match conversation.protocol {
                TCP => "tcp",
                _ => "udp",
            },
            client: end(conversation.client),
            server: end(conversation.server),
            to_server: at.to_server,
            offset: at.offset,
            time_ns: at.time.0,
            packet_number: at.packet_number,
            what,
        };
        self.0.give(part, bytes)
    }
}

impl StreamSink for Sink<'_> {
    fn data(&mut self, at: &StreamPlace<'_>, bytes: &[u8]) -> Result<(), RunError> {
        self.give(at, What::Data(bytes.to_vec()))
    }

    fn gap(&mut self, at: &StreamPlace<'_>, len: u64) -> Result<(), RunError> {
        self.give(at, What::Gap(len))
    }

    fn closed(&mut self, at: &StreamPlace<'_>, how: StreamEnd) -> Result<(), RunError> {
        let how = match how {
            StreamEnd::Fin => "fin",
            StreamEnd::Reset => "reset",
            StreamEnd::Ended => "ended",
        };
        self.give(at, What::End(how))
    }
}

/// IP's number for it.
const TCP: u8 = 6;
