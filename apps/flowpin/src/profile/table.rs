//! The profile as a table.

use super::{cut, shape, side};
use flowpin_engine::{Cost, Profile};
use flowpin_words::number;
use std::fmt::Write as _;

/// Of 64 mappings, those for these numbers of cores.
const CORES: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64];

pub(crate) fn table(profile: &Profile) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_table(&mut text, profile);
    text
}

fn write_table(text: &mut String, profile: &Profile) -> std::fmt::Result {
    let packets = number::things(profile.packets, "packet");
    let connections = number::things(profile.connections, "connection");
    writeln!(
        text,
        "{packets}, {connections}; clock of {}",
        number::si(profile.hertz, "Hz")
    )?;
    writeln!(
        text,
        "\nCost of a packet            cycles  instructions  cache misses  thread"
    )?;
    for stage in &profile.stages {
        row(text, stage.name, &stage.cost, side(stage.side))?;
    }
    row(text, "all stages", &profile.sum, "")?;
    let off = profile.sum.cycles / profile.total - 1.0;
    writeln!(
        text,
        "  ordinary run, one thread  {:>7.0}  {:+.1} %",
        profile.total,
        100.0 * off
    )?;
    if off.abs() > OFF_MAX {
        let why = if profile.share < SHARE_MIN {
            "other programs used the processor: repeat it on a quiet machine"
        } else if profile.packets < PACKETS_MIN {
            "too few packets: repeat it with\n  a million or more (`flowpin gen replicate` \
             multiplies a capture)"
        } else {
            "repeat it"
        };
        writeln!(text, "  the two disagree, so no row is reliable; {why}")?;
    }
    let inside = &profile.inside;
    writeln!(
        text,
        "  from within: read {:.0}, input {:.0}, worker {:.0} (stages after the connection table \
         {:.0}),\n  time-outs and ends {:.0}, output {:.0}",
        inside.read, inside.input, inside.worker, inside.stages, inside.ticks, inside.output
    )?;
    for (place, handover) in &profile.handover {
        writeln!(
            text,
            "  handing over to another core, cut {}: input {:+.0}, worker {:+.0}",
            cut(*place),
            handover.input,
            handover.worker
        )?;
    }
    if let Some(memory) = &profile.memory {
        writeln!(
            text,
            "\nMemory: {:.0} bytes a connection, with {} open",
            memory.bytes,
            number::count(memory.connections)
        )?;
    }
    writeln!(
        text,
        "\nCores  pipeline  cut      predicted     measured      sets the pace"
    )?;
    for mapping in &profile.mappings {
        if !CORES.contains(&mapping.cores) && mapping.measured.is_none() {
            continue;
        }
        let measured = mapping.measured.map(|rate| number::si(rate, "pps"));
        writeln!(
            text,
            "{:>5}  {:<8}  {:<7}  {:<12}  {:<12}  {}",
            mapping.cores,
            shape(mapping),
            cut(mapping.cut),
            number::si(mapping.predicted, "pps"),
            measured.unwrap_or_default(),
            mapping.slowest,
        )?;
    }
    Ok(())
}

fn row(text: &mut String, name: &str, cost: &Cost, thread: &str) -> std::fmt::Result {
    let count = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    writeln!(
        text,
        "  {name:<25} {:>7.0}  {:>12}  {:>12}  {thread}",
        cost.cycles,
        count(cost.instructions, 0),
        count(cost.misses, 2),
    )
}

/// The share of time in which a thread must have had its processor to itself.
const SHARE_MIN: f64 = 0.9;
/// With fewer packets, connections that begin and end dominate.
const PACKETS_MIN: u64 = 1_000_000;
/// The largest plausible difference between the sum of the stages and an ordinary run.
const OFF_MAX: f64 = 0.05;
