//! Pools and allocators: the parser paper's Table I.

use super::{Blocks, PARSER, PARSER_MACHINE, blocks_measured};
use crate::lab::Lab;
use crate::table::{Cell, Figure, Table};
use anyhow::{Context, Result, ensure};
use flowpin_cpu::TscRate;
use std::path::PathBuf;
use std::process::Command;

/// Bytes of a block; cycles of their pool and of the C library's allocator.
const THEIRS: [(usize, f64, f64); 5] = [
    (32, 52.0, 170.0),
    (64, 53.0, 202.0),
    (128, 54.0, 271.0),
    (256, 58.0, 410.0),
    (512, 75.0, 695.0),
];

/// Allocators that stand in for `malloc` where they are installed.
const OTHERS: [(&str, &str); 2] = [
    ("jemalloc", "libjemalloc.so"),
    ("mimalloc", "libmimalloc.so"),
];

/// Blocks that a thread holds: their first lines alone are more than second-level caches hold.
const ALIVE: usize = 1 << 16;

/// What a pool may take.
const POOL_NS_MAX: f64 = 10.0;

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "memory",
        "Pools and allocators",
        &format!(
            "{PARSER}, Table I ({PARSER_MACHINE}). Ours: taking a block, writing its first line \
             and \
             giving it back; random lifetimes; each thread holds 65,536 blocks."
        ),
        "bytes, threads",
    )
    .theirs("pool", "cycles")
    .ours("pool", "cycles")
    .theirs("malloc", "cycles")
    .ours("malloc", "cycles")
    .ours("jemalloc", "cycles")
    .ours("mimalloc", "cycles")
    .ours("pool", "ns")
    .draw(&[0, 1, 2, 3, 4, 5]);
    let per_ns = TscRate::measure().per_second() / 1e9;
    let libraries = OTHERS.map(|(_, file)| lab.program.as_ref().and_then(|_| library(file)));
    let mut threads = vec![1, lab.cores()];
    threads.dedup();
    let mut slowest: f64 = 0.0;
    for &threads in &threads {
        for (len, pool, malloc) in THEIRS {
            let blocks = blocks(lab, len, threads);
            let ours = rounds(lab, |_| blocks_measured(blocks, true).context("no memory"))?;
            let heap = rounds(lab, |_| blocks_measured(blocks, false).context("no memory"))?;
            let first = threads == 1;
            let mut cells: Vec<Cell> = vec![
                Some(pool).filter(|_| first).into(),
                ours.times(per_ns).into(),
                Some(malloc).filter(|_| first).into(),
                heap.times(per_ns).into(),
            ];
            for library in &libraries {
                let other = match library {
                    Some(library) => Some(rounds(lab, |lab| preloaded(lab, library, blocks))?),
                    None => None,
                };
                cells.push(other.map(|other| other.times(per_ns)).into());
            }
            cells.push(ours.into());
            slowest = slowest.max(ours.median);
            table.row(&format!("{len}, {threads}"), cells);
        }
    }
    let word = if slowest <= POOL_NS_MAX {
        "holds"
    } else {
        "is missed"
    };
    table.note(format!(
        "The aim, {POOL_NS_MAX:.0} ns for a block of any size, {word}: {slowest:.1} ns at most. \
         What \
         a block costs is the line that it brings from behind the second-level cache: the list of \
         free ones is apart, so giving back touches no block. After every 8 KiB a line is left \
         out, so that first lines use all sets of a cache and not, with 512 bytes, one in eight."
    ));
    Ok(table)
}

fn blocks(lab: &Lab, len: usize, threads: usize) -> Blocks {
    let (alive, turns) = if lab.extent.quick {
        (1 << 10, 1_000)
    } else {
        (ALIVE, 1_000_000)
    };
    Blocks {
        len,
        threads,
        set_bytes: alive * len,
        turns,
    }
}

fn rounds(lab: &Lab, mut work: impl FnMut(&Lab) -> Result<f64>) -> Result<Figure> {
    let each = (0..lab.extent.rounds).map(|_| lab.watched(|| work(lab)));
    let each: Vec<f64> = each.collect::<Result<_>>()?;
    Figure::of(each).context("no round")
}

/// Where the system keeps a library, if it is installed.
fn library(file: &str) -> Option<PathBuf> {
    let listed = Command::new("ldconfig").arg("-p").output().ok()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with(file))?;
    Some(PathBuf::from(line.split_once("=> ")?.1.trim()))
}

/// The same in a process of this program whose allocator is another.
fn preloaded(lab: &Lab, library: &PathBuf, blocks: Blocks) -> Result<f64> {
    let program = lab.program.as_ref().context("no program")?;
    let numbers = [
        blocks.len,
        blocks.threads,
        blocks.set_bytes,
        usize::try_from(blocks.turns)?,
    ];
    let output = Command::new(program)
        .arg("blocks")
        .args(numbers.map(|number| number.to_string()))
        .env("LD_PRELOAD", library)
        .output()?;
    ensure!(
        output.status.success(),
        "{} cannot be preloaded",
        library.display()
    );
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
