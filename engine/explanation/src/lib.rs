//! Explanations of packets and connections: for people, stage by stage, or as JSON lines.
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

pub use question::{NoQuestion, SAME_RUN, explained, is_header, question_of_record};

use flowpin_engine::{ExplainReport, ExplainSink, PacketAccount, RunError};
use flowpin_words::number;
use std::io::{self, Write};
use std::path::PathBuf;

/// The form of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON object a line, for each packet and for the connection.
    Json,
    /// Every stage of each packet, for people, with ANSI's styles.
    Long,
    /// A line for each packet, likewise.
    Short,
}

/// Writes accounts as they come.
#[derive(Debug)]
pub struct Printer<W> {
    out: W,
    form: Form,
    is_first: bool,
}

impl<W: Write> Printer<W> {
    /// Writes there, in that form.
    pub const fn new(out: W, form: Form) -> Self {
        Self {
            out,
            form,
            is_first: true,
        }
    }

    /// What it writes to.
    pub const fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes what is known once the input has ended.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(&mut self, report: &ExplainReport) -> Result<(), RunError> {
        let is_json = self.form == Form::Json;
        for connection in &report.connections {
            let done = if is_json {
                json::connection(&mut self.out, connection)
            } else {
                text::write(&mut self.out, &sections::connection(connection))
            };
            done.map_err(failed)?;
        }
        if report.connections_left_out > 0 && !is_json {
            let more = number::things(report.connections_left_out, "more connection");
            writeln!(self.out, "\n{more} of the same Community ID: not explained")
                .map_err(failed)?;
        }
        self.out.flush().map_err(failed)
    }
}

impl<W: Write> ExplainSink for Printer<W> {
    fn packet(&mut self, account: PacketAccount) -> Result<(), RunError> {
        let done = match self.form {
            Form::Json => json::packet(&mut self.out, &account),
            Form::Long => {
                let gap = if self.is_first { "" } else { "\n" };
                self.is_first = false;
                write!(self.out, "{gap}")
                    .and_then(|()| text::title(&mut self.out, &account))
                    .and_then(|()| text::write(&mut self.out, &sections::packet(&account)))
            }
            Form::Short => short::packet(&mut self.out, &account),
        };
        done.map_err(failed)
    }
}

fn failed(source: io::Error) -> RunError {
    let path = PathBuf::from("standard output");
    RunError::StreamWrite { path, source }
}
