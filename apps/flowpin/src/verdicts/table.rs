//! A table. Columns are as wide as the first rows need; wider cells later stick out.

use super::{by, sums, transport};
use anstyle::{AnsiColor, Style};
use core::net::SocketAddr;
use flowpin_engine::Listed;
use flowpin_record::{Confidence, RecordEndpoint};
use flowpin_words::number;
use std::io::{self, Write};

/// Rows that wait for the widths.
#[derive(Default)]
pub(super) struct Table {
    first: Vec<Row>,
    widths: Option<[usize; COLUMNS]>,
}

const COLUMNS: usize = 4;
/// The number of rows that decide the widths of columns.
const FIRST_ROWS: usize = 500;

/// Identifier, transport, both ends, protocol; and why.
struct Row {
    cells: [String; COLUMNS],
    style: Style,
    why: String,
}

impl Table {
    /// Takes the next row, and writes it as soon as widths are known.
    pub(super) fn row(&mut self, out: &mut impl Write, listed: &Listed) -> io::Result<()> {
        let row = row(listed);
        match &self.widths {
            Some(widths) => row.write(out, widths),
            None => {
                self.first.push(row);
                if self.first.len() >= FIRST_ROWS {
                    self.flush(out)?;
                }
                Ok(())
            }
        }
    }

    /// Writes the rows that wait.
    pub(super) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut widths = self.widths.unwrap_or_default();
        for row in &self.first {
            for (width, cell) in widths.iter_mut().zip(&row.cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        self.widths = Some(widths);
        for row in self.first.drain(..) {
            row.write(out, &widths)?;
        }
        Ok(())
    }
}

impl Row {
    fn write(&self, out: &mut impl Write, widths: &[usize; COLUMNS]) -> io::Result<()> {
        for (index, (cell, width)) in self.cells.iter().zip(widths).enumerate() {
            let style = if index + 1 == COLUMNS {
                self.style
            } else {
                Style::new()
            };
            let padding = width.saturating_sub(cell.chars().count());
            write!(out, "{style}{cell}{style:#}{:padding$}  ", "")?;
        }
        let dim = Style::new().dimmed();
        writeln!(out, "{dim}{}{dim:#}", self.why)
    }
}

fn row(listed: &Listed) -> Row {
    let record = &listed.record;
    let has_ports = flowpin_record::has_ports(record.protocol);
    let ends = format!(
        "{} → {}",
        end(&record.client, has_ports),
        end(&record.server, has_ports)
    );
    let looked = number::things(u64::from(listed.inspected), "packet");
    let (protocol, style, why) = match &record.app {
        Some(app) => {
            let style = match app.confidence {
                Confidence::Sure => Style::new().bold(),
                Confidence::Likely => AnsiColor::Yellow.on_default(),
            };
            let name = match app.original {
                Some(original) => format!("{original} → {}", app.name),
                None => app.name.to_owned(),
            };
            let (sure, by) = (app.confidence.name(), by(app.by_client));
            let why = format!("{}, {sure}, by the {by}, {looked}", app.rule);
            (name, style, why)
        }
        None if listed.inspected == 0 => {
            let (packets, _) = sums(listed);
            let why = format!("no payload in {}", number::things(packets, "packet"));
            ("-".to_owned(), Style::new().dimmed(), why)
        }
        None => {
            let hint = listed.port_hint.map(|name| {
                let port = record.server.port;
                format!("; port {port} suggests {name}")
            });
            let why = format!("{looked} examined{}", hint.unwrap_or_default());
            ("unknown".to_owned(), Style::new().dimmed(), why)
        }
    };
    let uid = record.uid.to_string();
    Row {
        cells: [uid, transport(listed).to_lowercase(), ends, protocol],
        style,
        why,
    }
}

fn end(end: &RecordEndpoint, has_ports: bool) -> String {
    if has_ports {
        SocketAddr::new(end.address, end.port).to_string()
    } else {
        end.address.to_string()
    }
}
