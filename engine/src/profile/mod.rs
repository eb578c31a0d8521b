//! Where the time goes: what each stage costs a packet, and what follows for more cores.
//!
//! ```text
//!  the first 64 MiB:  read │ read + dispatch │ … + connections │ … + scans │ … + streams │ …
//!  the next 64 MiB:   read │ read + dispatch │ …
//! ```
//!
//! The papers' method: one stage is added after the other, and what it costs is the difference.
//! All pipelines advance through the input side by side, a few megabytes each in turn, so that a
//! slow moment of the machine meets all of them. Clocks and counters are read between these
//! groups, a thousand times more seldom than packets come, so measuring costs nothing to speak of.
//!
//! As a check, the last pipeline is also measured from within: its steps by the time stamp counter
//! at the ends of pieces, and the stages behind the connection table around each call, in every
//! 64th piece, the cost of the clock taken off. Code for this is generated apart: a run does not
//! have it.

mod brief;
mod costs;
mod counters;
mod pipeline;
mod rule;
mod watched;

pub(crate) use brief::brief;
pub use costs::{Cost, Inside, Memory, Profile, Side, StageCost};
pub use rule::{Demand, Mapping, Need, Rule};

use crate::report::ProgressSink;
use crate::worker::identification::Identification;
use crate::{Control, RunError, run};
use costs::Sums;
use counters::Clock;
use flowpin_config::{Format, Input, PipelineShape, Plan};
use pipeline::{Layer, Pipeline, layers};
use std::time::Duration;

/// Pieces that one pipeline handles before the next one has its turn: 64 MiB, so that each finds
/// the file's bytes in memory, not in a cache where the one before left them.
const GROUP: usize = 256;

/// Runs the input through one pipeline after the other, and through a plain run, and says what
/// each stage costs. Nothing is written.
///
/// `cores`: the shapes of up to so many cores are also run, to compare with what the rule says,
/// unless the machine is too busy to tell.
///
/// # Errors
/// As [`crate::run`]; standard input, which cannot be read twice.
pub fn profile(
    plan: &Plan,
    cores: usize,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<Profile, RunError> {
    let plan = &quiet(plan);
    if plan.inputs.contains(&Input::Stdin) {
        return Err(RunError::ProfileFromPipe);
    }
    let known = Identification::of(plan)?;
    let mut lanes = Vec::new();
    for layer in layers(plan) {
        lanes.push((
            layer,
            Pipeline::new(layer, plan, known.as_ref(), control)?,
            Sums::default(),
        ));
    }
    let mut clock = Clock::new();
    let mut is_more = true;
    // Into the page cache, so that the first pipeline does not pay for all.
    read_once(plan, control)?;
    while is_more && !control.is_stopped() {
        is_more = false;
        // Who is first in a turn has it harder: so everyone is, in turn.
        lanes.rotate_left(1);
        for (_, lane, sums) in &mut lanes {
            let packets = lane.packets();
            clock.start();
            for _ in 0..GROUP {
                is_more |= lane.piece()?;
            }
            sums.add(&clock.stop(), lane.packets() - packets);
        }
        if let Some((_, lane, _)) = lanes.last() {
            progress.update(&lane.progress());
        }
    }
    lanes.sort_by_key(|(layer, ..)| *layer);
    let mut measured = Vec::new();
    for (layer, mut lane, mut sums) in lanes {
        clock.start();
        lane.finish()?;
        sums.end(&clock.stop());
        measured.push((layer, sums, lane.tell()));
    }
    let mut profile = Profile::of(&measured, clock.hertz());
    profile.memory = memory(plan, known.as_ref(), control)?;
    let single = plain(plan, PipelineShape::Single, control, &clock)?;
    profile.total = single.cycles;
    profile.mappings = profile.rule().mappings();
    // With others on the processors, wall time says nothing.
    let cores = if single.is_quiet { cores } else { 0 };
    for mapping in profile.mappings.iter_mut().take(cores) {
        let plan = Plan {
            cut: mapping.cut,
            ..plan.clone()
        };
        let done = plain(&plan, mapping.shape, control, &clock)?;
        mapping.measured = Some(done.rate);
    }
    Ok(profile)
}

/// What connections take: by how much the process grows while one pipeline with all stages runs.
fn memory(
    plan: &Plan,
    known: Option<&Identification>,
    control: &Control,
) -> Result<Option<Memory>, RunError> {
    let (Some(before), Some(&layer)) = (resident_bytes(), layers(plan).last()) else {
        return Ok(None);
    };
    let mut lane = Pipeline::new(layer, plan, known, control)?;
    while lane.piece()? {}
    let after = resident_bytes().unwrap_or(before);
    let connections = lane.tell().live_max;
    // Buffers of fixed size would pass for state of a few connections.
    Ok((connections >= CONNECTIONS_MIN).then(|| Memory {
        connections,
        bytes: per((after.saturating_sub(before)) as f64, connections),
    }))
}

const CONNECTIONS_MIN: u64 = 10_000;
const PAGE: u64 = 4096;

/// What of this process is in memory now, where the system tells.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// What a plain run takes.
struct Plain {
    /// Cycles a packet of all threads.
    cycles: f64,
    /// Packets a second.
    rate: f64,
    /// Whether it had a processor for itself, if it needs one.
    is_quiet: bool,
}

/// Share of the wall time that a single thread must have had the processor.
const QUIET: f64 = 0.9;

/// The best of three runs: others can only slow one down.
fn plain(
    plan: &Plan,
    shape: PipelineShape,
    control: &Control,
    clock: &Clock,
) -> Result<Plain, RunError> {
    let plan = Plan {
        pipeline: shape,
        ..plan.clone()
    };
    let mut best = Plain {
        cycles: f64::MAX,
        rate: 0.0,
        is_quiet: false,
    };
    for _ in 0..3 {
        let report = run::run_nowhere(&plan, control)?;
        let packets = per(1.0, report.packets);
        let cycles = seconds(report.cpu) * clock.hertz() * packets;
        let cycles = if shape == PipelineShape::Single {
            // Less than the clock says, if others had the processor.
            cycles.min(seconds(report.wall) * clock.hertz() * packets)
        } else {
            cycles
        };
        best.is_quiet |= seconds(report.cpu) >= QUIET * seconds(report.wall);
        best.cycles = best.cycles.min(cycles);
        best.rate = best.rate.max(1.0 / (seconds(report.wall) * packets));
    }
    Ok(best)
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64().max(1e-9)
}

/// A sum for each of `count`.
#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn per(sum: f64, count: u64) -> f64 {
    sum / count.max(1) as f64
}

/// Interim records and rotation would only blur the picture; formats stay.
fn quiet(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.cpus = Vec::new();
    plan.files.extract = None;
    if plan.output.formats != [Format::None] {
        plan.output.to_stdout = true;
    }
    plan
}

fn read_once(plan: &Plan, control: &Control) -> Result<(), RunError> {
    let mut lane = Pipeline::new(Layer::Read, plan, None, control)?;
    while lane.piece()? {}
    Ok(())
}
