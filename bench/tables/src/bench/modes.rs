//! Five ways to divide the work: ICS'09, Table 3, and its section 4.4's worst case.

use super::{ICS09, ICS09_MACHINE};
use crate::lab::{Lab, Taken, plan};
use crate::table::{Cell, Figure, Table};
use anyhow::Result;
use flowpin_config::{Cut, PipelineShape, Plan};
use flowpin_engine::{Handover, Profile, Rule};

const FILE: &str = "ics09-file-1";

/// A way: theirs, and what is most like it here.
struct Mode {
    name: &'static str,
    /// Cycles a frame, and millions of frames a second.
    theirs: (f64, f64),
    shape: PipelineShape,
    cut: Cut,
}

const MODES: [Mode; 5] = [
    Mode {
        name: "1: 1x1",
        theirs: (2490.0, 0.97),
        shape: PipelineShape::Single,
        cut: Cut::L3,
    },
    Mode {
        name: "2: 2x1, cut behind the checksums",
        theirs: (1940.0, 1.18),
        shape: PipelineShape::InputAndWorkers(1),
        cut: Cut::L3,
    },
    Mode {
        name: "3: 2x1, cut before the decoding",
        theirs: (1690.0, 1.36),
        shape: PipelineShape::InputAndWorkers(1),
        cut: Cut::Capture,
    },
    Mode {
        name: "4: 2x1, cut before the checksums",
        theirs: (1250.0, 1.83),
        shape: PipelineShape::InputAndWorkers(1),
        cut: Cut::L2,
    },
    Mode {
        name: "5: 2x2, cut before the checksums",
        theirs: (840.0, 2.73),
        shape: PipelineShape::InputAndWorkers(2),
        cut: Cut::L2,
    },
];

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "modes",
        "Where to cut, and how many ways",
        &format!(
            "{ICS09}, Table 3, trace File-1 ({ICS09_MACHINE}). Ours: the same packets, \
             connections and services. Predicted from the cost of the stages by the papers' rule."
        ),
        "mode",
    )
    .theirs("a frame", "cycles")
    .ours("predicted", "cycles")
    .ours("measured", "cycles")
    .theirs("rate", "Mpps")
    .ours("rate", "Mpps")
    .ours("all threads", "ns a packet")
    .draw(&[0, 1, 2]);
    let profile = lab.profile(FILE)?;
    let rule = profile.rule();
    let trace = lab.preset(FILE)?;
    let cores = lab.cores();
    let plans: Vec<Plan> = MODES
        .iter()
        .map(|mode| Plan {
            pipeline: mode.shape,
            cut: mode.cut,
            ..plan(lab, &trace)
        })
        .collect();
    let taken = lab.run(&plans)?;
    for (mode, taken) in MODES.iter().zip(&taken) {
        let enough = threads(mode.shape) <= cores;
        let cells: Vec<Cell> = vec![
            mode.theirs.0.into(),
            pace(&rule, mode.shape, mode.cut).into(),
            Some(cycles_of(&rule, taken)).filter(|_| enough).into(),
            mode.theirs.1.into(),
            Some(taken.mpps).filter(|_| enough).into(),
            taken.cpu_ns.into(),
        ];
        table.row(mode.name, cells);
    }
    let worst = lab.one_worker(FILE, 2)?;
    let two = Plan {
        pipeline: PipelineShape::InputAndWorkers(2),
        ..plan(lab, &worst)
    };
    let taken = lab.run(&[two])?;
    for taken in &taken {
        let shape = PipelineShape::InputAndWorkers(1);
        let cells: Vec<Cell> = vec![
            Cell::Nothing,
            pace(&rule, shape, Cut::L2).into(),
            cycles_of(&rule, taken).into(),
            1.83.into(),
            taken.mpps.into(),
            taken.cpu_ns.into(),
        ];
        table.row("5, all connections on one worker", cells);
    }
    table.note(stages(&profile));
    table.note(
        "Theirs put fragments together on the worker from mode 3 on; ours does so on the input \
         thread in every mode, as later fragments have no ports to tell the worker by. A frame's \
         cycles are those of the thread that sets the pace: predicted from what its stages cost, \
         measured as the time stamp counter's ticks between two frames. A mode with more threads \
         than the machine has cores has no rate.",
    );
    Ok(table)
}

const fn threads(shape: PipelineShape) -> usize {
    match shape {
        PipelineShape::Turns(threads) => threads as usize,
        PipelineShape::InputAndWorkers(workers) => 1 + workers as usize,
        PipelineShape::InputWorkersOutput(workers) => 2 + workers as usize,
        PipelineShape::Single | PipelineShape::Auto => 1,
    }
}

/// Cycles a packet of the slowest stage, by the papers' rule; none where the cost of decoding
/// would have to be known apart from hashing.
fn pace(rule: &Rule, shape: PipelineShape, cut: Cut) -> Option<f64> {
    let [behind, before] = rule.handover;
    let (late, fifo) = match cut {
        Cut::L3 => (0.0, behind),
        Cut::L2 => (rule.checksums, before),
        Cut::Capture | Cut::Auto => return None,
    };
    let (input, worker) = (rule.input - late, rule.worker + late);
    let PipelineShape::InputAndWorkers(workers) = shape else {
        return Some(input + worker + rule.output);
    };
    let worker = (worker + fifo.worker) / f64::from(workers);
    Some((input + fifo.input + rule.output).max(worker))
}

/// Ticks between two frames.
fn cycles_of(rule: &Rule, taken: &Taken) -> Figure {
    let each = |mpps: f64| rule.hertz / mpps / 1e6;
    Figure {
        median: each(taken.mpps.median),
        least: each(taken.mpps.most),
        most: each(taken.mpps.least),
        runs: taken.mpps.runs,
    }
}

/// Table 3's rows, ours.
fn stages(profile: &Profile) -> String {
    let cycles = |names: &[&str]| -> f64 {
        let named = profile
            .stages
            .iter()
            .filter(|one| names.contains(&one.name));
        named.map(|stage| stage.cost.cycles).sum()
    };
    let [_, fifo]: [Handover; 2] = profile.rule().handover;
    format!(
        "Cycles by stage, theirs (mode 4) and ours: Pcap 300, {:.0}; malloc 700 before mode 4, \
         none; memcpy 440, none; FIFO 100, {:.0} for the input and {:.0} for the worker; \
         defragmentation 250, with decoding, hashing \
         and checksums {:.0}; TCP 500, {:.0}; L7 DPI 400, {:.0}; parsing of messages, which theirs \
         did not do, {:.0}.",
        cycles(&["read, find packets"]),
        fifo.input,
        fifo.worker,
        cycles(&["decode, peel, hash", "checksums"]),
        cycles(&["connections", "scans", "streams"]),
        cycles(&["identification"]),
        cycles(&["parsing"]),
    )
}
