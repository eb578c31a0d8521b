//! `malloc` in place of the pools, in the whole pipeline: the parser paper's Table VI.

use super::{PARSER, PARSER_MACHINE};
use crate::lab::{Lab, Rounds, Variant, Way, Whole};
use crate::table::{Cell, Figure, Table};
use anyhow::Result;
use flowpin_config::PipelineShape;

/// Their Gbit/s on 1 to 5 cores, with `malloc` and with pools: File-1.
const THEIRS: [[f64; 2]; 5] = [
    [7.4, 7.4],
    [7.1, 7.3],
    [11.7, 12.0],
    [14.7, 15.3],
    [15.9, 19.0],
];

const FILES: [(&str, &str); 3] = [
    ("File-1", "parser-file-1"),
    ("File-2", "parser-file-2"),
    ("File-3", "parser-file-3"),
];

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "malloc",
        "Pools or malloc in the whole pipeline",
        &format!(
            "{PARSER}, Table VI, File-1 ({PARSER_MACHINE}). Ours: all stages, the same trace with \
             each in turn, where the machine has the cores. With malloc, every connection, stream, \
             message and kept block is one of the C library's."
        ),
        "trace, cores",
    )
    .theirs("malloc", "Gbit/s")
    .ours("malloc", "Gbit/s")
    .theirs("pools", "Gbit/s")
    .ours("pools", "Gbit/s")
    .theirs("gain", "%")
    .ours("gain", "%")
    .ours("pools, CPU", "ns a packet")
    .ours("malloc, CPU", "ns a packet")
    .ours("CPU, malloc : pools", "×")
    .ours("CPU, table : pools", "×")
    .draw(&[0, 1, 2, 3]);
    let files = if lab.extent.quick {
        &FILES[..1]
    } else {
        &FILES[..]
    };
    let mut checks = Vec::new();
    for &(file, preset) in files {
        let is_theirs = preset == FILES[0].1;
        for (cores, theirs) in (1..).zip(&THEIRS) {
            let theirs = Some(theirs).filter(|_| is_theirs);
            let taken = if cores <= lab.cores() {
                taken(lab, preset, shape(cores))?
            } else {
                Vec::new()
            };
            if theirs.is_some() || !taken.is_empty() {
                table.row(&format!("{file}, {cores}"), cells(&taken, theirs));
            }
            if let [_, built, ..] = taken.as_slice() {
                checks.push(format!("{file} on {cores} {:.2}", built.cpu.median));
            }
        }
        lab.forget(preset)?;
    }
    notes(&mut table, &checks);
    Ok(table)
}

/// The input's thread writes, too.
fn shape(cores: usize) -> PipelineShape {
    match u16::try_from(cores) {
        Ok(cores) if cores > 1 => PipelineShape::InputAndWorkers(cores - 1),
        _ => PipelineShape::Single,
    }
}

/// As built for use; and of the other build: pools, pools by a table, `malloc`.
fn taken(lab: &mut Lab, preset: &str, shape: PipelineShape) -> Result<Vec<Rounds>> {
    let trace = lab.preset(preset)?;
    let whole = Whole::new(lab, &trace, shape);
    let mut ways = vec![Way {
        program: None,
        whole: whole.clone(),
    }];
    if let Some(program) = lab.variants()? {
        for places in ["pool", "table", "malloc"] {
            ways.push(Way {
                program: Some(program.clone()),
                whole: whole.with(Variant::places(places)),
            });
        }
    }
    lab.ways(&ways)
}

fn cells(taken: &[Rounds], theirs: Option<&[f64; 2]>) -> Vec<Cell> {
    let built = taken.first();
    let [pools, table, malloc] = [1, 2, 3].map(|at| taken.get(at));
    let over =
        |one: Option<&Rounds>, other: Option<&Rounds>| Some(one?.cpu.median / other?.cpu.median);
    let gain =
        |malloc: &Rounds, pools: &Rounds| 100.0 * (pools.speed.median / malloc.speed.median - 1.0);
    let gbps = |taken: Option<&Rounds>| -> Option<Figure> { taken.map(|taken| taken.gbps) };
    vec![
        theirs.map(|theirs| theirs[0]).into(),
        gbps(malloc).into(),
        theirs.map(|theirs| theirs[1]).into(),
        gbps(pools.or(built)).into(),
        theirs
            .map(|[malloc, pools]| 100.0 * (pools / malloc - 1.0))
            .into(),
        malloc
            .zip(pools)
            .map(|(malloc, pools)| gain(malloc, pools))
            .into(),
        pools.or(built).map(|taken| taken.cpu_ns).into(),
        malloc.map(|taken| taken.cpu_ns).into(),
        over(malloc, pools).into(),
        over(table, pools).into(),
    ]
}

fn notes(table: &mut Table, checks: &[String]) {
    if checks.is_empty() {
        table.note(
            "malloc was not measured: it needs the source tree, where a program that has it is \
             built (`target/variants`).",
        );
        return;
    }
    table.note(format!(
        "Both are of one program that is built for this table and chooses when it starts; its \
         pools took this much of the CPU time of the program for use: {}. Where malloc is, a table \
         leads from a handle to its block; *table* is what that costs with the pools' own memory \
         behind it. Tables of fixed size, as the connection index, stay, and so do the pieces of \
         input that go round between the threads.",
        checks.join(", ")
    ));
    table.note(
        "Lost in these runs: nothing. One that loses anything, or finds other connections, \
         verdicts, messages or bytes than the others, ends the bench.",
    );
}
