//! The protocol of each connection, on standard output: as a table, JSON lines or CSV.
//!
//! ```text
//!  C0XWfTK4LReq  tcp  10.91.1.2:41001 → 10.91.2.2:25  smtp → tls  tls-client-hello, sure, …
//! ```
//!
//! Owns texts and layout; the engine provides the data.

mod csv;
mod json;
mod table;

use crate::cli::ListFormat;
use flowpin_engine::{ListSink, Listed, RunError};
use std::io::{self, Write};
use std::path::PathBuf;
use table::Table;

/// Prints the list.
pub(crate) struct Lister {
    out: Box<dyn Write>,
    format: ListFormat,
    table: Table,
    /// The selected protocols; if empty, all.
    only: Vec<String>,
    /// The number of connections listed.
    pub(crate) listed: u64,
}

impl Lister {
    /// On standard output: in colours on a terminal.
    pub(crate) fn on_stdout(format: ListFormat, only: &[String]) -> Self {
        let out: Box<dyn Write> = match format {
            ListFormat::Table => Box::new(io::BufWriter::new(anstream::stdout())),
            ListFormat::Json | ListFormat::Csv => Box::new(io::BufWriter::new(io::stdout())),
        };
        Self {
            out,
            format,
            table: Table::default(),
            only: only.to_vec(),
            listed: 0,
        }
    }

    /// Writes the waiting rows; `more` follows a table.
    pub(crate) fn finish(&mut self, more: &str) -> Result<(), RunError> {
        let more = match self.format {
            ListFormat::Table => more,
            ListFormat::Json | ListFormat::Csv => "",
        };
        self.table
            .flush(&mut self.out)
            .and_then(|()| self.out.write_all(more.as_bytes()))
            .and_then(|()| self.out.flush())
            .map_err(failed)
    }

    fn is_wanted(&self, listed: &Listed) -> bool {
        let name = match listed.record.app {
            Some(app) => app.name,
            None if listed.inspected > 0 => UNKNOWN,
            None => SILENT,
        };
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

impl ListSink for Lister {
    fn begin(&mut self, names: &[&str]) -> Result<(), RunError> {
        let is_known = |name: &str| [UNKNOWN, SILENT].contains(&name) || names.contains(&name);
        if let Some(wrong) = self.only.iter().find(|name| !is_known(name)) {
            return Err(RunError::NoSuchProtocol(wrong.clone()));
        }
        match self.format {
            ListFormat::Csv => csv::head(&mut self.out).map_err(failed),
            ListFormat::Json | ListFormat::Table => Ok(()),
        }
    }

    fn connection(&mut self, listed: &Listed) -> Result<(), RunError> {
        if !self.is_wanted(listed) {
            return Ok(());
        }
        self.listed += 1;
        match self.format {
            ListFormat::Table => self.table.row(&mut self.out, listed),
            ListFormat::Json => json::line(&mut self.out, listed),
            ListFormat::Csv => csv::line(&mut self.out, listed),
        }
        .map_err(failed)
    }
}

fn failed(source: io::Error) -> RunError {
    let path = PathBuf::from("standard output");
    RunError::StreamWrite { path, source }
}

/// There is payload, but no rule matched.
const UNKNOWN: &str = "unknown";
/// There is no payload to examine.
const SILENT: &str = "silent";

/// The transport protocol, as named in EVE JSON.
fn transport(listed: &Listed) -> String {
    let number = listed.record.protocol;
    let name = flowpin_record::eve_protocol_name(number).map(str::to_owned);
    name.unwrap_or_else(|| number.to_string())
}

/// All packets of the connection, and the bytes of their frames.
fn sums(listed: &Listed) -> (u64, u64) {
    let (up, down) = (&listed.record.to_server, &listed.record.to_client);
    (
        up.packets.saturating_add(down.packets),
        up.frame_bytes.saturating_add(down.frame_bytes),
    )
}

/// The side whose bytes decided.
const fn by(by_client: bool) -> &'static str {
    if by_client { "client" } else { "server" }
}
