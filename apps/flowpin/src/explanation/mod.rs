//! Explanations on standard output: for people, stage by stage, or as JSON lines.
//!
//! ```text
//!  PacketAccount ─┬─► sections (text)      one packet, every stage
//!                 ├─► lines (short)        each packet of a connection
//!                 └─► json
//! ```
//!
//! Owns words and layout; everything that is said is the engine's.

mod json;
mod question;
mod sections;
mod short;
mod streams;
mod text;
mod words;

pub(crate) use question::{is_header, question_of_record};

use crate::summary::number;
use flowpin_engine::{ExplainReport, ExplainSink, PacketAccount, RunError};
use std::io::{self, Write};
use std::path::PathBuf;

/// Prints accounts as they come.
pub(crate) struct Printer {
    out: Box<dyn Write>,
    is_json: bool,
    is_long: bool,
    is_first: bool,
}

impl Printer {
    /// On standard output: in colours on a terminal. `is_long`: every stage of each packet.
    pub(crate) fn on_stdout(is_json: bool, is_long: bool) -> Self {
        let out: Box<dyn Write> = if is_json {
            Box::new(io::BufWriter::new(io::stdout()))
        } else {
            Box::new(io::BufWriter::new(anstream::stdout()))
        };
        Self {
            out,
            is_json,
            is_long,
            is_first: true,
        }
    }

    /// Writes what is known once the input has ended.
    pub(crate) fn finish(&mut self, report: &ExplainReport) -> Result<(), RunError> {
        for connection in &report.connections {
            let done = if self.is_json {
                json::connection(&mut self.out, connection)
            } else {
                text::write(&mut self.out, &sections::connection(connection))
            };
            done.map_err(failed)?;
        }
        if report.connections_left_out > 0 && !self.is_json {
            let more = number::things(report.connections_left_out, "more connection");
            writeln!(self.out, "\n{more} of the same Community ID: not explained")
                .map_err(failed)?;
        }
        self.out.flush().map_err(failed)
    }
}

impl ExplainSink for Printer {
    fn packet(&mut self, account: PacketAccount) -> Result<(), RunError> {
        let done = if self.is_json {
            json::packet(&mut self.out, &account)
        } else if self.is_long {
            let gap = if self.is_first { "" } else { "\n" };
            self.is_first = false;
            write!(self.out, "{gap}")
                .and_then(|()| text::title(&mut self.out, &account))
                .and_then(|()| text::write(&mut self.out, &sections::packet(&account)))
        } else {
            short::packet(&mut self.out, &account)
        };
        done.map_err(failed)
    }
}

fn failed(source: io::Error) -> RunError {
    let path = PathBuf::from("standard output");
    RunError::StreamWrite { path, source }
}
