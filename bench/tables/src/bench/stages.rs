//! What each stage costs: the parser paper's Tables II and V.

use super::{PARSER, PARSER_MACHINE};
use crate::lab::Lab;
use crate::table::{Cell, Table};
use anyhow::Result;
use flowpin_engine::Profile;

/// A row: its name, our stages that it sums, and their cycles for the three files.
struct Stage {
    name: &'static str,
    ours: &'static [&'static str],
    theirs: [Option<f64>; 3],
}

const STAGES: [Stage; 7] = [
    Stage {
        name: "Pcap, checksums",
        ours: &["read, find packets", "checksums"],
        theirs: [Some(160.0); 3],
    },
    Stage {
        name: "LB, L3 (decode, hash, fragments)",
        ours: &["decode, peel, hash"],
        theirs: [Some(290.0), Some(257.0), Some(237.0)],
    },
    Stage {
        name: "FIFO",
        ours: &[],
        theirs: [Some(150.0); 3],
    },
    Stage {
        name: "TCP (connections, streams)",
        ours: &["connections", "streams"],
        theirs: [Some(1300.0), Some(500.0), Some(2040.0)],
    },
    Stage {
        name: "scans",
        ours: &["scans"],
        theirs: [None; 3],
    },
    Stage {
        name: "Iden.",
        ours: &["identification"],
        theirs: [Some(80.0), Some(77.0), Some(50.0)],
    },
    Stage {
        name: "HTTP, FIX",
        ours: &["parsing"],
        theirs: [Some(400.0), Some(2200.0), Some(3100.0)],
    },
];

const FILES: [&str; 3] = ["parser-file-1", "parser-file-2", "parser-file-3"];

/// Cycles a second on their machine.
const THEIR_GHZ: f64 = 2.26;

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "stages",
        "Cycles a packet by stage",
        &format!(
            "{PARSER}, Tables II and V ({PARSER_MACHINE}): File-1 (HTTP, 764 bytes), File-2 \
             (HTTP, 319 bytes, long headers), File-3 (FIX, 92 bytes). Ours: the same \
             characteristics, all stages on one thread, one added after the other."
        ),
        "stage",
    );
    for nth in 1..=3 {
        let name = format!("File-{nth}");
        table = table.theirs(&name, "cycles").ours(&name, "cycles");
    }
    let mut table = table.draw(&[0, 1, 2, 3, 4, 5]);
    let mut profiles = Vec::new();
    for file in FILES {
        profiles.push(lab.profile(file)?);
    }
    for stage in &STAGES {
        let mut cells: Vec<Cell> = Vec::new();
        for (profile, theirs) in profiles.iter().zip(stage.theirs) {
            cells.push(theirs.into());
            cells.push(cycles(profile, stage.ours).into());
        }
        table.row(stage.name, cells);
    }
    let (mut sums, mut times): (Vec<Cell>, Vec<Cell>) = Default::default();
    for (nth, profile) in profiles.iter().enumerate() {
        let stages = STAGES.iter().filter_map(|stage| *stage.theirs.get(nth)?);
        let theirs: f64 = stages.sum();
        sums.extend([theirs.into(), profile.sum.cycles.into()]);
        let ours_ns = profile.sum.cycles / profile.hertz * 1e9;
        times.extend([(theirs / THEIR_GHZ).into(), ours_ns.into()]);
    }
    table.row("all", sums);
    table.row("all, in ns", times);
    let fifo: Vec<String> = profiles.iter().map(|profile| handover(profile)).collect();
    table.note(format!(
        "A cycle of ours is a tick of the time stamp counter. Handing over costs nothing here, as \
         all is on one thread. To another core it costs the input and the worker, by file: {}.",
        fifo.join("; ")
    ));
    let off = profiles.iter().map(|profile| {
        let off = 100.0 * (profile.sum.cycles / profile.total - 1.0);
        format!("{off:+.1} %")
    });
    let off: Vec<String> = off.collect();
    table.note(format!(
        "The sum over the stages against a plain run, by file: {}. Beyond 5 % no row is to be \
         trusted.",
        off.join(", ")
    ));
    Ok(table)
}

/// What each side of a hand-over pays, with checksums on the input's.
fn handover(profile: &Profile) -> String {
    let [behind, _] = profile.rule().handover;
    format!("{:.0} and {:.0}", behind.input, behind.worker)
}

/// The sum over some of our stages; none if we have no such.
fn cycles(profile: &Profile, names: &[&str]) -> Option<f64> {
    let named = profile
        .stages
        .iter()
        .filter(|stage| names.contains(&stage.name));
    let costs: Vec<f64> = named.map(|stage| stage.cost.cycles).collect();
    (!costs.is_empty()).then(|| costs.iter().sum())
}
