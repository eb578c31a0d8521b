//! Layout: a title, sections with the folder of their source code beside, rows in columns.

use anstyle::Style;
use flowpin_engine::PacketAccount;
use flowpin_words::number;
use flowpin_words::printable;
use std::io::{self, Write};

/// What one stage says.
#[derive(Debug)]
pub(super) struct Section {
    name: &'static str,
    source: &'static str,
    rows: Vec<(String, String)>,
}

impl Section {
    pub(super) const fn new(name: &'static str, source: &'static str) -> Self {
        Self {
            name,
            source,
            rows: Vec::new(),
        }
    }

    /// Another row: a label, which may be empty, and what it says.
    pub(super) fn row(&mut self, label: impl Into<String>, text: impl Into<String>) {
        self.rows.push((label.into(), text.into()));
    }

    /// The same, if there is something to say.
    pub(super) fn maybe(&mut self, label: &str, text: Option<String>) {
        if let Some(text) = text {
            self.row(label, text);
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The title of a packet.
pub(super) fn title(out: &mut impl Write, account: &PacketAccount) -> io::Result<()> {
    let (date, clock) = number::date_and_time(account.time);
    let bold = Style::new().bold();
    writeln!(
        out,
        "{bold}Packet {}{bold:#}  {date} {clock}.{:06}  {} of {} bytes captured",
        account.number,
        account.time.subsec_nanos() / 1000,
        number::count(account.captured_len.into()),
        number::count(account.wire_len.into()),
    )
}

/// Sections, with an empty line before each.
pub(super) fn write(out: &mut impl Write, sections: &[Section]) -> io::Result<()> {
    for section in sections.iter().filter(|section| !section.is_empty()) {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let gap = SOURCE_AT.saturating_sub(section.name.chars().count());
        let (name, source) = (section.name, section.source);
        writeln!(out, "\n{bold}{name}{bold:#}{:gap$}{dim}{source}{dim:#}", "")?;
        let widths = section.rows.iter().map(|(label, _)| label.chars().count());
        let width = widths.max().unwrap_or(0);
        for (label, text) in &section.rows {
            let padding = width.saturating_sub(label.chars().count());
            // What was captured may be anything: it must not move the cursor.
            let text = printable(text.as_bytes());
            writeln!(out, "  {label}{:padding$}  {text}", "")?;
        }
    }
    Ok(())
}

/// The column of the folders.
const SOURCE_AT: usize = 40;
