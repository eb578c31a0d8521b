//! From one core to many: the parser paper's Table IV and Figure 5.

use super::{PARSER, PARSER_MACHINE};
use crate::lab::Lab;
use crate::table::{Cell, Table};
use anyhow::Result;

/// A trace, and their Gbit/s with 1 to 5 cores.
const THEIRS: [(&str, &str, [f64; 5]); 3] = [
    ("File-1", "parser-file-1", [7.4, 7.3, 12.0, 15.3, 19.0]),
    ("File-2", "parser-file-2", [2.1, 2.1, 4.1, 5.9, 7.8]),
    ("File-3", "parser-file-3", [1.4, 1.4, 2.6, 3.9, 5.3]),
];

/// Cores beyond theirs that are predicted.
const MORE: [usize; 2] = [8, 16];

/// How far a prediction may be off before it needs an explanation.
const OFF_MAX: f64 = 0.15;

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "speedup",
        "More cores",
        &format!(
            "{PARSER}, Table IV and Figure 5 ({PARSER_MACHINE}). Ours: predicted from the cost \
             of the stages by the papers' rule, and measured where the machine has the cores."
        ),
        "trace, cores",
    )
    .theirs("rate", "Gbit/s")
    .ours("measured", "Gbit/s")
    .ours("predicted", "Gbit/s")
    .theirs("speedup", "×")
    .ours("predicted speedup", "×")
    .ours("pipeline", "")
    .draw(&[0, 1, 2]);
    let mut missed = Vec::new();
    for (name, preset, theirs) in THEIRS {
        let profile = lab.profile(preset)?;
        let gbps = |rate: f64| rate * profile.rule().packet_len * 8.0 / 1e9;
        let first = profile.mappings.first().map_or(1.0, |one| one.predicted);
        for mapping in &profile.mappings {
            let cores = mapping.cores;
            if cores > theirs.len() && !MORE.contains(&cores) {
                continue;
            }
            let their = theirs.get(cores - 1).copied();
            let cells: Vec<Cell> = vec![
                their.into(),
                mapping.measured.map(gbps).into(),
                gbps(mapping.predicted).into(),
                their.map(|rate| rate / theirs[0]).into(),
                (mapping.predicted / first).into(),
                format!("{}x{}", mapping.stages, mapping.ways)
                    .as_str()
                    .into(),
            ];
            table.row(&format!("{name}, {cores}"), cells);
            if let Some(measured) = mapping.measured {
                let off = measured / mapping.predicted - 1.0;
                let word = if off.abs() <= OFF_MAX {
                    "within"
                } else {
                    "beyond"
                };
                missed.push(format!("{name} on {cores}: {:+.0} % ({word})", 100.0 * off));
            }
        }
    }
    if missed.is_empty() {
        table.note("Nothing was measured: there is one processor, or others had it.");
    } else {
        table.note(format!(
            "Measured against predicted, 15 % allowed: {}. What handing over costs is measured, \
             with a thread that only looks at the packets, and is in the prediction. What the \
             rule does not know: that two threads share a last-level cache and the way to memory, \
             that one waits for the other where a piece takes it longer than usual, and that \
             connections are not spread evenly.",
            missed.join("; ")
        ));
    }
    Ok(table)
}
