//! More and more connections: ICS'09, Tables 5 and 6.

use super::{ICS09, ICS09_MACHINE, float};
use crate::lab::{Lab, Simulated, Trace, Whole, misses_of, plan};
use crate::table::{Cell, Table};
use anyhow::Result;
use flowpin_config::{IdentifyPlan, PipelineShape, Plan, ScansPlan};
use flowpin_engine::Control;
use flowpin_gen::{Kind, Options};

/// Connections, their millions of packets a second on 1, 2 and 3 cores, their misses of the
/// second-level cache in 100 references.
struct Theirs {
    name: &'static str,
    connections: u64,
    mpps: [f64; 3],
    miss_percent: f64,
}

const THEIRS: [Theirs; 5] = [
    theirs("File-2", 4_384, [1.35, 1.82, 2.68], 0.44),
    theirs("File-3", 8_768, [1.34, 1.81, 2.68], 0.62),
    theirs("File-4", 35_072, [1.25, 1.72, 2.59], 0.83),
    theirs("File-5", 140_194, [1.04, 1.32, 2.39], 2.96),
    theirs("File-6", 253_371, [0.97, 1.22, 1.72], 5.08),
];

const fn theirs(name: &'static str, connections: u64, mpps: [f64; 3], miss_percent: f64) -> Theirs {
    Theirs {
        name,
        connections,
        mpps,
        miss_percent,
    }
}

/// Where they stopped and we go on.
const BEYOND: [u64; 2] = [1_000_000, 10_000_000];

/// Room for ten million connections, or for the first bytes of all that the papers had, of which a
/// sixteenth of it is. Only what is used is taken.
const MEMORY_BYTES: u64 = 16 << 30;

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "connections",
        "Connections open at a time",
        &format!(
            "{ICS09}, Tables 5 and 6 ({ICS09_MACHINE}; misses by Valgrind for 2 × 4 MB). Ours: as \
             many TCP connections, all open to the end, each sending in turn: the order that \
              caches \
             like least."
        ),
        "connections",
    );
    for cores in 1..=3 {
        let name = format!("{cores} core{}", if cores == 1 { "" } else { "s" });
        table = table.theirs(&name, "Mpps").ours(&name, "Mpps");
    }
    let mut table = table
        .theirs("misses", "% of references")
        .ours("simulated misses, connection table", "% of references")
        .ours("simulated misses, all", "% of references")
        .ours("simulated misses, all", "a packet")
        .ours("counted misses", "a packet")
        .draw(&[0, 1, 2, 3]);
    if lab.extent.quick {
        for theirs in &THEIRS[..1] {
            row(lab, &mut table, theirs.connections / 10, Some(theirs))?;
        }
        return Ok(table);
    }
    for theirs in &THEIRS {
        row(lab, &mut table, theirs.connections, Some(theirs))?;
    }
    for connections in BEYOND {
        row(lab, &mut table, connections, None)?;
    }
    table.note(
        "Simulated misses are of a second-level cache of 4 MiB, 16 ways, 64-byte lines, as in \
         their simulation: valgrind's cachegrind runs the program on one core over the \
         whole trace and over its first packet, whose figures are taken off. References are loads \
         and stores of data. The connection table's are those of the source of the crate \
         `flowpin-flow`, whatever they touch; theirs are *to the connection table*. The simulator \
         knows no prefetching: a line that was asked for ahead still counts as missed where it is \
         used. Counted misses are of the machine's last-level cache, by the kernel's counters, on \
         one core; none where it does not count. Scans are not looked for: all \
         connections begin at once, more than an interval's log holds; and beyond theirs nothing \
         is identified, as no memory holds the first bytes of so many. Rates need as many cores as \
         threads.",
    );
    Ok(table)
}

fn row(lab: &mut Lab, table: &mut Table, connections: u64, theirs: Option<&Theirs>) -> Result<()> {
    let name = format!("{connections}-connections");
    let trace = lab.trace(&name, &options(lab, connections), 1.0)?;
    let cores = lab.cores();
    let shapes = [
        PipelineShape::Single,
        PipelineShape::InputAndWorkers(1),
        PipelineShape::InputAndWorkers(2),
    ];
    let plans: Vec<Plan> = shapes
        .iter()
        .take(cores)
        .map(|&pipeline| Plan {
            pipeline,
            ..limited(plan(lab, &trace), theirs.is_some())
        })
        .collect();
    // The largest takes as long as all others.
    let rounds = if theirs.is_none() {
        1
    } else {
        lab.extent.rounds
    };
    let taken = lab.run_rounds(&plans, rounds)?;
    let mut cells: Vec<Cell> = Vec::new();
    for at in 0..shapes.len() {
        cells.push(
            theirs
                .and_then(|theirs| theirs.mpps.get(at).copied())
                .into(),
        );
        cells.push(taken.get(at).map(|taken| taken.mpps).into());
    }
    cells.push(theirs.map(|theirs| theirs.miss_percent).into());
    let simulated = match theirs {
        Some(_) => simulated(lab, &trace)?,
        None => None,
    };
    let packets = float(trace.totals.packets);
    cells.push(simulated.and_then(|one| one.table.percent()).into());
    cells.push(simulated.and_then(|one| one.all.percent()).into());
    cells.push(simulated.map(|one| one.all.each(packets)).into());
    cells.push(misses(&plans, trace.totals.packets)?.into());
    let told = theirs.map_or(String::new(), |theirs| format!(" ({})", theirs.name));
    table.row(
        &format!("{}{told}", crate::table::short(float(connections))),
        cells,
    );
    lab.forget(&name)
}

fn simulated(lab: &Lab, trace: &Trace) -> Result<Option<Simulated>> {
    let whole = Whole::new(lab, trace, PipelineShape::Single);
    lab.simulated(&Whole {
        memory_bytes: MEMORY_BYTES,
        no_scans: true,
        ..whole
    })
}

/// No scans: where so many connections begin at once, each is an attempt without an answer for
/// seconds, and scans among them would be estimated. Beyond theirs, no first bytes either: those of
/// so many at a time are more than the memory.
fn limited(plan: Plan, identifies: bool) -> Plan {
    Plan {
        memory_bytes: MEMORY_BYTES,
        identify: IdentifyPlan {
            enabled: identifies,
            ..plan.identify
        },
        scans: ScansPlan {
            enabled: false,
            ..plan.scans
        },
        ..plan
    }
}

/// Misses a packet of a run on one core.
fn misses(plans: &[Plan], packets: u64) -> Result<Option<f64>> {
    let Some(plan) = plans.first() else {
        return Ok(None);
    };
    let (done, misses) = misses_of(|| flowpin_engine::run(plan, &Control::default(), &()));
    done?;
    Ok(misses.map(|misses| float(misses) / float(packets.max(1))))
}

/// All connections stay open; packets enough to measure.
fn options(lab: &Lab, connections: u64) -> Options {
    let each = (float(lab.extent.packets_max) / float(connections)).clamp(4.0, 60.0);
    Options {
        connections,
        concurrency: float(connections).max(1.0),
        packets_per_connection: each,
        // As File-2 … File-6; beyond, as small as they come.
        packet_len: if connections > 300_000 { 90.0 } else { 204.0 },
        clients: 60_000,
        servers: 4_096,
        packets_per_s: 1_000_000.0,
        ..Options::new(Kind::Connections)
    }
}
