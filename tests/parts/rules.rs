//! What connections of several parts decide together: alerts, and the sums of pairs of hosts.

use crate::divided::{Rows, Sink, at_once, by_connection, decide, splits};
use crate::{all_in_a_file, assert_same, seconds};
use flowpin_engine::Plan;
use flowpin_engine::parts::{Division, Joint, Note, Whole};
use flowpin_packet::Timestamp;
use flowpin_rules::Reader;
use std::sync::Arc;

/// Thresholds, bits and sets reach over connections; the others are of a packet that belongs to no
/// connection, of a stream, of a message, of a connection's end.
const RULES: &str = include_str!("rules.rules");

/// Beside the records: rules with all that alerts can show, and host pairs.
fn with_rules(plan: &Plan) -> Plan {
    let mut reader = Reader::default();
    reader.read_text("test.rules", RULES);
    let loaded = reader.finish();
    assert!(loaded.problems.is_empty(), "{}", loaded.problems[0]);
    let mut plan = plan.clone();
    plan.rules.loaded = Some(Arc::new(loaded.set));
    (plan.rules.payload_bytes, plan.rules.packet) = (100, true);
    plan.output.host_pairs = true;
    plan
}

/// How many rows a table has.
fn count(plan: &Plan, rows: &Rows, name: &str) -> u64 {
    let tables = flowpin_engine::tables(plan);
    let table = tables.iter().find(|table| table.name == name).unwrap();
    let own = rows.iter().filter(|((of, _), _)| *of == table.number);
    own.map(|(_, count)| count).sum()
}

#[test]
fn parts_together_have_the_alerts_and_the_pairs_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let plan = with_rules(&plan);
    let whole = at_once(&plan);
    assert!(count(&plan, &whole, "alert") > 100);
    assert!(count(&plan, &whole, "host_pairs") > 10);
    for (split_len, parts) in [(20_000, 3), (300_000, 7)] {
        let splits = splits(&capture, split_len.min(capture.len()));
        let rows = by_connection(&plan, &splits, parts, &[]);
        assert_same(&plan, &whole, &rows, &format!("{parts} parts"));
    }
}

#[test]
fn slices_of_time_have_the_alerts_and_the_pairs_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let plan = with_rules(&plan);
    let whole = at_once(&plan);
    let splits = splits(&capture, 100_000);
    let times = seconds(&plan);
    let borders: Vec<Timestamp> = times.iter().copied().step_by(times.len() / 8).collect();
    let rows = by_connection(&plan, &splits, 2, &borders[1..]);
    assert_same(&plan, &whole, &rows, &format!("slices at {borders:?}"));
}

/// Rules are numbered by their place: by others these would be other alerts. What is no note at
/// all is refused, too.
#[test]
fn notes_of_other_rules_are_refused() {
    let (_, plan, _folder) = all_in_a_file();
    let plan = with_rules(&plan);
    let division = Division {
        parts: 1,
        hosts: Vec::new(),
    };
    let none = 0_u64.to_le_bytes();
    for (bytes, expected) in [
        ([none, none].concat(), "other rules than these"),
        (none[1..].to_vec(), "is damaged"),
    ] {
        let note = Note {
            joint: Joint::Alerts,
            order: 0,
            bytes,
        };
        let which = (&division, Whole::default());
        let refused = decide(&plan, which, vec![(0, note)], &Sink::default());
        let line = refused.unwrap_err().to_string();
        assert!(line.contains(expected), "{line}");
    }
}
