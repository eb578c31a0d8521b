//! A table as bars: a group for each row, a bar for each column that is drawn.

use super::{Table, short};
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const NAMES: f64 = 210.0;
const BARS: f64 = 440.0;
const BAR: f64 = 16.0;
const GROUP_GAP: f64 = 10.0;
const TOP: f64 = 64.0;
const OURS: [&str; 4] = ["#2f6db0", "#7aa6cc", "#b8d4ea", "#1d4470"];
const THEIRS: [&str; 3] = ["#b0a08a", "#d8cdbd", "#877455"];

/// None if nothing is to be drawn.
pub(crate) fn picture(table: &Table) -> Option<String> {
    if table.drawn.is_empty() {
        return None;
    }
    let mut svg = String::new();
    // Writing to a string cannot fail.
    draw(&mut svg, table).ok()?;
    Some(svg)
}

fn draw(svg: &mut String, table: &Table) -> std::fmt::Result {
    let value = |row: usize, column: usize| {
        let cell = table.rows.get(row)?.cells.get(column)?;
        cell.number()
    };
    let rows: Vec<usize> = (0..table.rows.len())
        .filter(|&row| {
            table
                .drawn
                .iter()
                .any(|&column| value(row, column).is_some())
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "some dozens")]
    let group = table.drawn.len() as f64 * BAR + GROUP_GAP;
    #[expect(clippy::cast_precision_loss, reason = "some dozens")]
    let tall = TOP + rows.len() as f64 * group + 10.0;
    let most = rows
        .iter()
        .flat_map(|&row| {
            table
                .drawn
                .iter()
                .filter_map(move |&column| value(row, column))
        })
        .fold(f64::MIN_POSITIVE, f64::max);
    let title = escaped(&table.title);
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {tall}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"24\" font-size=\"15\">{title}</text>"
    )?;
    legend(svg, table)?;
    let mut top = TOP;
    for &row in &rows {
        let name = table.rows.get(row).map_or("", |row| &row.name);
        let middle = top + (group - GROUP_GAP) / 2.0 + 4.0;
        writeln!(
            svg,
            "<text x=\"10\" y=\"{middle:.0}\">{}</text>",
            escaped(name)
        )?;
        let mut y = top;
        for (&column, colour) in table.drawn.iter().zip(colours(table)) {
            if let Some(value) = value(row, column) {
                let wide = (value / most * BARS).max(0.5);
                let (end, line) = (NAMES + wide + 5.0, y + BAR - 4.0);
                writeln!(
                    svg,
                    "<rect x=\"{NAMES}\" y=\"{y:.0}\" width=\"{wide:.1}\" height=\"{:.0}\" \
                     fill=\"{colour}\"/><text x=\"{end:.0}\" y=\"{line:.0}\">{}</text>",
                    BAR - 2.0,
                    short(value)
                )?;
            }
            y += BAR;
        }
        top += group;
    }
    writeln!(svg, "</svg>")
}

fn legend(svg: &mut String, table: &Table) -> std::fmt::Result {
    let mut x = 10.0;
    for (&column, colour) in table.drawn.iter().zip(colours(table)) {
        let Some(column) = table.columns.get(column) else {
            continue;
        };
        let whose = if column.theirs { "theirs: " } else { "" };
        let label = format!("{whose}{}, {}", column.name, column.unit);
        writeln!(
            svg,
            "<rect x=\"{x:.0}\" y=\"38\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\
             <text x=\"{:.0}\" y=\"48\">{}</text>",
            x + 17.0,
            escaped(&label)
        )?;
        #[expect(clippy::cast_precision_loss, reason = "a label")]
        let wide = label.chars().count() as f64 * 6.6;
        x += wide + 34.0;
    }
    Ok(())
}

/// A colour for each drawn column: one family for theirs, one for ours.
fn colours(table: &Table) -> Vec<&'static str> {
    let (mut ours, mut theirs) = (OURS.iter().cycle(), THEIRS.iter().cycle());
    let of = |&column: &usize| {
        let is_theirs = table.columns.get(column).is_some_and(|one| one.theirs);
        let next = if is_theirs {
            theirs.next()
        } else {
            ours.next()
        };
        next.copied().unwrap_or("black")
    };
    table.drawn.iter().map(of).collect()
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
