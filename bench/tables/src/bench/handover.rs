//! Packets handed over one by one, through each queue, in the whole pipeline: ICS'09, Table 4.

use super::{ICS09, ICS09_MACHINE};
use crate::lab::{Lab, Variant, Way, Whole};
use crate::table::{Cell, Table};
use anyhow::Result;
use flowpin_config::PipelineShape;

/// A trace, and their Gbit/s with FastForward and with their optimised FIFO.
const THEIRS: [(&str, &str, [f64; 2]); 5] = [
    ("File-4", "ics09-file-4", [3.60, 3.93]),
    ("File-7", "ics09-file-7", [4.57, 4.74]),
    ("File-8", "ics09-file-8", [3.92, 4.13]),
    ("File-9", "ics09-file-9", [2.06, 2.21]),
    ("File-10", "ics09-file-10", [5.68, 6.12]),
];

/// Ours is what their optimised FIFO has become.
const OPTIMIZED: &str = "flowpin";
const FAST_FORWARD: &str = "FastForward";
const QUEUES: [&str; 6] = [
    OPTIMIZED,
    FAST_FORWARD,
    "MCRingBuffer",
    "B-Queue",
    "Lamport",
    "lock",
];

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "handover",
        "Handing over in the whole pipeline",
        &format!(
            "{ICS09}, Table 4 ({ICS09_MACHINE}). Ours: 2x1, all stages, the same trace through \
             each queue in turn; Flowpin hands over a piece of the input at once, the other rows \
             every packet by itself, as the papers did."
        ),
        "trace, handed over",
    )
    .theirs("rate", "Gbit/s")
    .ours("rate", "Gbit/s")
    .ours("all threads", "ns a packet")
    .ours("speed : by the piece", "×")
    .ours("CPU time : by the piece", "×")
    .draw(&[0, 1]);
    let variants = lab.variants()?;
    let mut gains = Vec::new();
    for (file, preset, theirs) in THEIRS {
        if !super::results::is_looked_at(lab, file) {
            continue;
        }
        let trace = lab.preset(preset)?;
        let whole = Whole::new(lab, &trace, PipelineShape::InputAndWorkers(1));
        let mut names = vec!["by the piece, as built for use".to_owned()];
        let mut ways = vec![Way {
            program: None,
            whole: whole.clone(),
        }];
        if let Some(program) = &variants {
            let others =
                QUEUES.map(|queue| (format!("one by one, {queue}"), Variant::queue(queue)));
            let same = (
                "by the piece, built for this table".to_owned(),
                Variant::default(),
            );
            for (name, variant) in [same].into_iter().chain(others) {
                names.push(name);
                ways.push(Way {
                    program: Some(program.clone()),
                    whole: whole.with(variant),
                });
            }
        }
        let taken = lab.ways(&ways)?;
        for (name, taken) in names.iter().zip(&taken) {
            let their = if name.ends_with(OPTIMIZED) || variants.is_none() {
                Some(theirs[1])
            } else if name.ends_with(FAST_FORWARD) {
                Some(theirs[0])
            } else {
                None
            };
            let cells: Vec<Cell> = vec![
                their.into(),
                taken.gbps.into(),
                taken.cpu_ns.into(),
                taken.speed.into(),
                taken.cpu.into(),
            ];
            table.row(&format!("{file}, {name}"), cells);
        }
        if let [_, _, optimized, fast_forward, ..] = taken.as_slice() {
            gains.push(format!(
                "{file} {:.2} and {:.2} ({:.2})",
                fast_forward.cpu.median / optimized.cpu.median,
                optimized.speed.median / fast_forward.speed.median,
                theirs[1] / theirs[0],
            ));
        }
        lab.forget(preset)?;
    }
    notes(&mut table, &gains);
    Ok(table)
}

fn notes(table: &mut Table, gains: &[String]) {
    if gains.is_empty() {
        table.note(
            "The other ways were not measured: they need the source tree, where a program that has \
             them is built (`target/variants`).",
        );
        return;
    }
    table.note(format!(
        "FastForward : ours, packets one by one, CPU time and time by the clock (theirs): {}. On \
         as many cores as threads the clock says what the paper's table says; both sides wait \
         with their processor, so CPU time has the waiting in it.",
        gains.join("; ")
    ));
    table.note(
        "One by one: an item of 32 bytes for each packet, pushed when the packet is found, taken \
         by the worker while it waits and checked against its descriptors, which stay in memory in \
         all rows; queues have 2,048 places. By the piece, a ring is asked a few thousand times a \
         second, so that no queue would make a difference. The last two columns are formed within \
         each round, against the first row.",
    );
    table.note(
        "Lost in these runs: nothing. One that loses anything, or finds other connections, \
         verdicts, messages or bytes than the first row, ends the bench.",
    );
}
