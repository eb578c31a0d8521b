//! Each bench in its short form: it finishes, and its fields are sane.

use super::ALL;
use crate::lab::{Extent, Lab};
use crate::table::{Cell, Table, markdown, picture};

fn check(name: &str) -> Table {
    let bench = ALL.iter().find(|bench| bench.name == name).unwrap();
    let mut lab = Lab::new(Extent::QUICK, None).unwrap();
    let table = (bench.run)(&mut lab).unwrap();
    assert_eq!(table.name, name);
    assert!(!table.rows.is_empty());
    for row in &table.rows {
        assert_eq!(row.cells.len(), table.columns.len(), "{name}: {}", row.name);
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            let number = cell.number().unwrap_or(0.0);
            assert!(number.is_finite(), "{name}: {}: {}", row.name, column.name);
        }
    }
    for &drawn in &table.drawn {
        let unit = &table.columns[drawn].unit;
        assert_eq!(
            *unit, table.columns[table.drawn[0]].unit,
            "{name}: one scale"
        );
    }
    let of = |theirs: bool| {
        let at = |at: usize| table.columns[at].theirs == theirs;
        let mut cells = table
            .rows
            .iter()
            .flat_map(|row| row.cells.iter().enumerate());
        cells.any(|(column, cell)| at(column) && *cell != Cell::Nothing)
    };
    assert!(of(true), "{name} has no figure of theirs");
    assert!(of(false), "{name} has no figure of ours");
    assert!(markdown(&table).contains(&table.title));
    assert!(picture(&table).is_some(), "{name} has no picture");
    let json = serde_json::to_string(&table).unwrap();
    let back: Table = serde_json::from_str(&json).unwrap();
    assert_eq!(markdown(&back), markdown(&table));
    table
}

fn number(table: &Table, row: &str, column: &str) -> f64 {
    let at = table
        .columns
        .iter()
        .position(|one| one.name == column && !one.theirs);
    let row = table.rows.iter().find(|one| one.name == row).unwrap();
    row.cells[at.unwrap()].number().unwrap()
}

/// What is counted does not depend on the machine, so that it is checked too.
#[test]
fn results_count_what_the_traces_hold() {
    let table = check("results");
    assert_eq!(
        number(&table, "File-10", "HTTP"),
        number(&table, "File-10", "HTTP made")
    );
    assert!(number(&table, "File-10", "HTTP") > 0.0);
    assert!(number(&table, "File-4", "BitTorrent") > 0.0);
}

#[test]
fn rates_finish() {
    check("rates");
}

#[test]
fn modes_finish() {
    let table = check("modes");
    assert!(table.rows.iter().any(|row| row.name.contains("one worker")));
}

#[test]
fn connections_finish() {
    check("connections");
}

#[test]
fn stages_finish() {
    check("stages");
}

#[test]
fn speedup_finishes() {
    check("speedup");
}

/// All three grammars read the same messages.
#[test]
fn patterns_finish() {
    let table = check("patterns");
    let messages = |row: &str| number(&table, row, "messages");
    assert!(messages("basic") > 0.0);
    assert_eq!(messages("basic"), messages("+20"));
}

#[test]
fn fifo_finishes() {
    check("fifo");
}

/// Without the other program there is what Flowpin takes for use.
#[test]
fn handover_finishes() {
    check("handover");
}

#[test]
fn malloc_finishes() {
    check("malloc");
}

#[test]
fn memory_finishes() {
    check("memory");
}

#[test]
fn memcpy_finishes() {
    check("memcpy");
}
