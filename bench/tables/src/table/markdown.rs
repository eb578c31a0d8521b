//! A table as markdown, padded, so that it can be read on a terminal too.

use super::{Cell, Table, short};

/// Title, source, table and notes.
pub(crate) fn markdown(table: &Table) -> String {
    let mut lines = vec![heads(table)];
    for row in &table.rows {
        let mut line = vec![row.name.clone()];
        line.extend(row.cells.iter().map(text));
        line.resize(table.columns.len() + 1, String::new());
        lines.push(line);
    }
    let widths: Vec<usize> = (0..=table.columns.len())
        .map(|at| {
            let lengths = lines.iter().filter_map(|line| line.get(at));
            lengths.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut out = format!("### {}\n\n{}\n\n", table.title, table.source);
    for (number, line) in lines.iter().enumerate() {
        out.push_str(&padded(line, &widths));
        if number == 0 {
            let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
            out.push_str(&padded(&rule, &widths));
        }
    }
    for note in &table.notes {
        out.push_str(&format!("\n{note}\n"));
    }
    out
}

fn heads(table: &Table) -> Vec<String> {
    let mut heads = vec![table.of.clone()];
    for column in &table.columns {
        let whose = if column.theirs { "theirs: " } else { "" };
        let unit = if column.unit.is_empty() { "" } else { ", " };
        heads.push(format!("{whose}{}{unit}{}", column.name, column.unit));
    }
    heads
}

fn padded(line: &[String], widths: &[usize]) -> String {
    let mut out = String::from("|");
    for (at, (cell, &width)) in line.iter().zip(widths).enumerate() {
        if at == 0 {
            out.push_str(&format!(" {cell:<width$} |"));
        } else {
            out.push_str(&format!(" {cell:>width$} |"));
        }
    }
    out.push('\n');
    out
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Figure(one) if one.runs < 2 => short(one.median),
        Cell::Figure(figure) => {
            let [median, least, most] = [figure.median, figure.least, figure.most].map(short);
            format!("{median} ({least}–{most})")
        }
        Cell::Number(number) => short(*number),
        Cell::Text(text) => text.clone(),
        Cell::Nothing => "–".to_owned(),
    }
}
