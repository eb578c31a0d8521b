//! Tested patterns as a table.

use super::{ends, transport};
use crate::summary;
use crate::summary::page::{Cell, Page};
use flowpin_engine::{Found, PatternTrial, PatternsReport};
use flowpin_words::number;
use std::path::Path;

/// The whole report.
pub(crate) fn trial(report: &PatternsReport) -> String {
    let mut page = Page::new(summary::width(false));
    patterns(&mut page, report);
    refused(&mut page, report);
    remarks(&mut page, report);
    matches(&mut page, report);
    page.into_text()
}

fn patterns(page: &mut Page, report: &PatternsReport) {
    let hints = report.patterns.iter().filter(|one| one.is_hint).count();
    let together = &report.together;
    let about = format!(
        "{} decide, {hints} only hint, {} refused; together {} automata, {} states, {}",
        report.patterns.len() - hints,
        report.refused.len(),
        together.automata,
        number::count(together.states as u64),
        number::bytes(together.bytes as u64),
    );
    page.title(&format!("{} patterns", report.patterns.len()), &about);
    if report.patterns.is_empty() {
        return;
    }
    let mut rows = vec![
        ["file", "protocol", "", "by chance", "states", "memory"]
            .map(Cell::dim)
            .into(),
    ];
    let was_tried = report.connections > 0;
    if was_tried && let Some(head) = rows.first_mut() {
        let more: &mut Vec<Cell> = head;
        more.extend(["examines", "matches"].map(Cell::dim));
    }
    rows.extend(report.patterns.iter().map(|one| row(one, was_tried)));
    page.rows(&rows);
    if was_tried {
        let untried = if report.untried > 0 {
            let untried = number::count(report.untried);
            format!("; {untried} not tested, too many open at the same time")
        } else {
            String::new()
        };
        let tried = number::things(report.connections, "connection");
        page.line(Cell::dim(format!("{tried} with payload{untried}")));
    }
}

fn row(one: &PatternTrial, was_tried: bool) -> Vec<Cell> {
    let what = if one.is_hint {
        Cell::alert("hints")
    } else {
        Cell::left("decides")
    };
    let mut row = vec![
        Cell::left(file_name(&one.file)),
        Cell::left(one.name.as_str()),
        what,
        Cell::right(chance(one.on_random.max(one.on_english))),
        Cell::right(number::count(one.states as u64)),
        Cell::right(number::bytes(one.bytes as u64)),
    ];
    if was_tried {
        let each = number::real(one.bytes_read) / number::real(one.attempts.max(1));
        row.push(Cell::right(format!("{each:.1} B")));
        row.push(Cell::right(number::count(one.matched)));
    }
    row
}

fn refused(page: &mut Page, report: &PatternsReport) {
    if report.refused.is_empty() {
        return;
    }
    page.title("Refused", "");
    for one in &report.refused {
        page.line(Cell::alert(one.reason.as_str()));
        page.line(Cell::dim(one.advice));
    }
}

/// Findings that their author may not expect.
fn remarks(page: &mut Page, report: &PatternsReport) {
    let mut rows = Vec::new();
    for one in &report.patterns {
        let name = || Cell::left(file_name(&one.file));
        if one.is_hint {
            rows.push(vec![name(), Cell::dim(loose(one))]);
        }
        if one.is_built_in {
            let text = "has the name of a built-in protocol, whose rules come first; the rule in \
                        records distinguishes the two";
            rows.push(vec![name(), Cell::dim(text)]);
        }
        for other in &one.namesakes {
            let text = format!("has the same name as {}", other.display());
            rows.push(vec![name(), Cell::dim(text)]);
        }
        let decided: u64 = one.decided.values().sum();
        if decided > 0 {
            let by: Vec<&str> = one.decided.keys().copied().take(4).collect();
            let text = format!(
                "of its {}, built-in rules decide {}: {}",
                number::things(one.matched, "connection"),
                number::count(decided),
                by.join(", ")
            );
            rows.push(vec![name(), Cell::dim(text)]);
        }
    }
    if !rows.is_empty() {
        page.title("Worth knowing", "");
        page.rows(&rows);
    }
}

fn loose(one: &PatternTrial) -> String {
    let anchor = if one.anchored {
        "make it longer or more exact"
    } else {
        "anchor it with `^`, or make it longer"
    };
    format!(
        "never decides, as 4 KiB of random bytes match it {}, of English text {}: {anchor}",
        chance(one.on_random),
        chance(one.on_english)
    )
}

fn matches(page: &mut Page, report: &PatternsReport) {
    for one in report.patterns.iter().filter(|one| one.matched > 0) {
        let shown = one.found.len() as u64;
        let about = if shown < one.matched {
            format!(
                "{} connections, the first {shown}",
                number::count(one.matched)
            )
        } else {
            number::things(one.matched, "connection")
        };
        page.title(&file_name(&one.file), &about);
        let rows: Vec<_> = one.found.iter().map(found).collect();
        page.rows(&rows);
    }
}

fn found(found: &Found) -> Vec<Cell> {
    let (client, server) = ends(found);
    let built_in = match &found.record.app {
        Some(app) => Cell::dim(format!("built-in: {}", app.name)),
        None => Cell::left("no built-in rule"),
    };
    vec![
        Cell::left(found.record.uid.to_string()),
        Cell::left(transport(found)),
        Cell::left(format!("{client} → {server}")),
        Cell::left(place(found)),
        built_in,
    ]
}

/// Where a match ended.
fn place(found: &Found) -> String {
    let whose = if found.to_server { "client" } else { "server" };
    let bytes = number::count(found.bytes);
    let end = if found.at_end { ", at the end" } else { "" };
    match found.datagram {
        Some(number) => format!("datagram {number}, {whose}'s, byte {bytes}{end}"),
        None => format!("{whose}'s byte {bytes}{end}"),
    }
}

/// A probability: `1 in 480`, or `1 in 10^9`.
fn chance(probability: f64) -> String {
    if probability <= 0.0 {
        return "never".to_owned();
    }
    let one_in = 1.0 / probability;
    if one_in < 1.05 {
        "always".to_owned()
    } else if one_in < 10.0 {
        format!("1 in {one_in:.1}")
    } else if one_in < 1e6 {
        format!("1 in {one_in:.0}")
    } else {
        format!("1 in 10^{:.0}", one_in.log10())
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::chance;

    #[test]
    fn chances_are_told_as_people_say_them() {
        assert_eq!(chance(0.0), "never");
        assert_eq!(chance(1.0), "always");
        assert_eq!(chance(0.413), "1 in 2.4");
        assert_eq!(chance(0.001), "1 in 1000");
        assert_eq!(chance(2e-12), "1 in 10^12");
    }
}
