//! Alerts of rules: a section of the page, and the same as JSON. The section is omitted without
//! rules.

use super::page::{Cell, Page};
use super::{Detail, number};
use flowpin_engine::{AlertCounts, Counted, RunReport};
use flowpin_words::printable;
use serde::Serialize;

/// The section with the rules that have alerted most.
pub(super) fn alerts(page: &mut Page, report: &RunReport, detail: Detail) {
    let found = &report.found.alerts;
    if found.rules_loaded == 0 {
        return;
    }
    let rules = u64::try_from(found.rules_loaded).unwrap_or(u64::MAX);
    let about = format!(
        "{} of {}",
        number::things(found.total(), "alert"),
        number::things(rules, "rule")
    );
    page.title("Alerts", &about);
    if found.rules.is_empty() {
        page.line(Cell::dim("no rule has alerted".to_owned()));
        return;
    }
    let shown = detail.rows(ROWS);
    let rows: Vec<_> = found.rules.iter().take(shown).map(row).collect();
    page.rows(&rows);
    let more = found.rules.len().saturating_sub(shown);
    if more > 0 {
        let more = number::count(u64::try_from(more).unwrap_or(u64::MAX));
        page.line(Cell::dim(format!("and {more} more rules (-v lists all)")));
    }
}

fn row(rule: &Counted) -> Vec<Cell> {
    vec![
        Cell::alert(format!("{}:{}", rule.gid, rule.sid)),
        Cell::right(number::count(rule.alerts)),
        Cell::left(printable(rule.message.as_bytes())),
    ]
}

const ROWS: usize = 10;

/// As JSON: `null` without rules.
#[derive(Serialize)]
pub(super) struct Alerts {
    rules: usize,
    alerts: u64,
    by_rule: Vec<ByRule>,
}

#[derive(Serialize)]
struct ByRule {
    gid: u32,
    sid: u32,
    signature: String,
    severity: u8,
    alerts: u64,
}

impl Alerts {
    pub(super) fn of(found: &AlertCounts) -> Option<Self> {
        let by_rule = found.rules.iter().map(|rule| ByRule {
            gid: rule.gid,
            sid: rule.sid,
            signature: rule.message.clone(),
            severity: rule.priority,
            alerts: rule.alerts,
        });
        (found.rules_loaded > 0).then(|| Self {
            rules: found.rules_loaded,
            alerts: found.total(),
            by_rule: by_rule.collect(),
        })
    }
}
