//! How fast each trace is analysed: ICS'09, Figure 5; the Snort note's figures 8 and 9.

use super::results::{FILES, done_with, is_looked_at};
use super::{ICS09, ICS09_MACHINE};
use crate::lab::{Lab, plan};
use crate::table::{Cell, Table};
use anyhow::Result;
use flowpin_config::{PipelineShape, Plan};

/// Figure 5's ends, in Gbit/s on three cores: the only ones that the text states.
const GBPS: [(&str, f64); 2] = [("File-9", 2.0), ("File-10", 6.0)];

/// What the Snort note gained by eight cores: off line, and of 64 kB on line, the only way in
/// which it measured them.
const SNORT: [(&str, f64); 3] = [
    ("HTTP, 1 kB", 1.26),
    ("HTTP, 32 kB", 1.10),
    ("HTTP, 64 kB", 1.50),
];

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "rates",
        "How fast each trace is analysed",
        &format!(
            "{ICS09}, Figure 5 ({ICS09_MACHINE}, three cores); the Snort note's figure 8 and \
             Table 3 (two Xeon X5355, 2.66 GHz, eight cores). Ours: as much of each trace as in \
             the table before. `auto` chooses the pipeline itself, and pays for looking."
        ),
        "trace",
    )
    .theirs("rate", "Gbit/s")
    .ours("1x1", "Gbit/s")
    .ours("2x1", "Gbit/s")
    .ours("auto", "Gbit/s")
    .ours("it took", "")
    .theirs("gain", "×")
    .ours("2x1 : 1x1", "×")
    .ours("auto : 1x1", "×")
    .draw(&[0, 1, 2, 3]);
    for (name, preset, _) in FILES {
        if is_looked_at(lab, name) {
            row(lab, &mut table, name, preset)?;
        }
    }
    table.note(
        "The Snort note states connections a second for 64 kB; what a connection of that size is \
         made of is derived from the smaller ones.",
    );
    Ok(table)
}

fn row(lab: &mut Lab, table: &mut Table, name: &str, preset: &str) -> Result<()> {
    let trace = lab.preset(preset)?;
    let shapes = [
        PipelineShape::Single,
        PipelineShape::Auto,
        PipelineShape::InputAndWorkers(1),
    ];
    let plans: Vec<Plan> = shapes
        .iter()
        .take(1 + lab.cores())
        .map(|&pipeline| Plan {
            pipeline,
            ..plan(lab, &trace)
        })
        .collect();
    let taken = lab.run(&plans)?;
    let gbps: Vec<_> = taken.iter().map(|taken| taken.gbps()).collect();
    let stated = |of: &[(&str, f64)]| of.iter().find(|one| one.0 == name).map(|one| one.1);
    let [one, auto, two] = [0, 1, 2].map(|at| gbps.get(at).copied());
    let gain = |more: Option<crate::table::Figure>| Some(more?.median / one?.median);
    let cells: Vec<Cell> = vec![
        stated(&GBPS).into(),
        one.into(),
        two.into(),
        auto.into(),
        taken
            .get(1)
            .map(|taken| taken.report.pipeline.as_str())
            .into(),
        stated(&SNORT).into(),
        gain(two).into(),
        gain(auto).into(),
    ];
    table.row(name, cells);
    done_with(lab, preset)
}
