//! The summary of a run, as text and as JSON.
//!
//! Owns texts and layout only; every figure comes from the engine's report.

mod alerts;
mod connections;
mod hints;
mod json;
pub(crate) mod page;
mod quality;
mod ranking;
mod scans;
mod service;
mod streams;
mod traffic;

pub(crate) use json::json;

use console::Term;
use flowpin_engine::RunReport;
use flowpin_words::number;
use page::Page;

/// The level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The most important rows, for one screen.
    Some,
    /// All rows.
    All,
}

impl Detail {
    /// How many rows to show, of a list that shows `some` of them normally.
    const fn rows(self, some: usize) -> usize {
        match self {
            Self::Some => some,
            Self::All => usize::MAX,
        }
    }
}

/// The summary as text with styles, for a screen of `width` columns.
pub(crate) fn text(report: &RunReport, detail: Detail, width: usize) -> String {
    let mut page = Page::new(width);
    traffic::inputs(&mut page, report, detail);
    traffic::traffic(&mut page, report);
    hints::section(&mut page, report);
    connections::transports(&mut page, report);
    connections::states(&mut page, report);
    connections::protocols(&mut page, report, detail);
    connections::messages(&mut page, report);
    connections::ports(&mut page, report, detail);
    ranking::talkers(&mut page, report, detail);
    ranking::host_pairs(&mut page, report, detail);
    ranking::vlans(&mut page, report, detail);
    alerts::alerts(&mut page, report, detail);
    scans::scans(&mut page, report, detail);
    quality::quality(&mut page, report);
    streams::streams(&mut page, report);
    quality::refusals(&mut page, report, detail);
    quality::losses(&mut page, report);
    traffic::workers(&mut page, report, detail);
    traffic::conservation(&mut page, report);
    traffic::outputs(&mut page, report, detail);
    page.into_text()
}

/// Only the section about protocols; empty if nothing was examined.
pub(crate) fn protocols(report: &RunReport, detail: Detail) -> String {
    let mut page = Page::new(width(false));
    connections::protocols(&mut page, report, detail);
    page.into_text()
}

/// The width of the summary: that of the screen, if there is one.
pub(crate) fn width(to_stderr: bool) -> usize {
    let screen = if to_stderr {
        Term::stderr()
    } else {
        Term::stdout()
    };
    let columns = screen
        .size_checked()
        .map(|(_, columns)| usize::from(columns));
    columns.map_or(WIDTH_PLAIN, |columns| columns.clamp(WIDTH_MIN, WIDTH_MAX))
}

const WIDTH_MIN: usize = 60;
const WIDTH_MAX: usize = 110;
/// Without a screen.
const WIDTH_PLAIN: usize = 100;

#[cfg(test)]
mod tests;
