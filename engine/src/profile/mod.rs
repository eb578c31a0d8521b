//! The cost of each stage a packet, and what follows for more cores.
//!
//! ```text
//!  first round:   read │ read + dispatch │ … + connections │ … + scans │ … │ a plain run │ …
//!  second round:  read │ read + dispatch │ …
//! ```
//!
//! The papers' method: stages are added one by one, and the cost of each is the difference. Each
//! pipeline runs through the whole input alone, from an empty table to the last record: two that
//! alternate would evict each other's connections from the caches, and no stage would cost what it
//! costs in a run. All pipelines and a plain run make a round; of several rounds the median pass
//! counts, so that a slow moment of the machine does not change the result. Clocks and counters are
//! read only before and after a pass, so that measuring costs nothing.
//!
//! As a check, the last pipeline is also measured inside: its steps by the time stamp counter at
//! the ends of pieces, and the stages after the connection table around each call, in every 64th
//! piece, less the cost of the clock. This code is generated separately: a run does not have it.
//!
//! The cost of handing packets to another core is measured too: see [`handover`].

mod brief;
mod costs;
mod counters;
mod handover;
mod passes;
mod pipeline;
mod plain;
mod rule;
mod watched;

pub(crate) use brief::brief;
pub use costs::{Cost, Inside, Memory, Profile, Side, StageCost};
pub use rule::{Demand, Handover, Mapping, Need, Rule};

use crate::report::ProgressSink;
use crate::run::open;
use crate::worker::identify::IdentifyRules;
use crate::{Control, RunError};
use costs::Layered;
use counters::Clock;
use flowpin_capture::Compression;
use flowpin_config::{Checksums, Cut, Format, Input, PipelineShape, Plan};
use handover::Relayed;
use passes::{Bench, Shown, middle};
use pipeline::{Layer, Pipeline, layers};
use plain::Plain;
use std::time::{Duration, Instant};

/// Runs the input through one pipeline after the other, and through a plain run, and returns the
/// cost of each stage. Nothing is written.
///
/// The shapes of up to `cores` cores are also run, to compare with the rule's predictions, unless
/// the machine is too busy.
///
/// # Errors
/// As [`crate::run`]; standard input or a pipe, which cannot be read twice.
pub fn profile(
    plan: &Plan,
    cores: usize,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<Profile, RunError> {
    let plan = &quiet(plan);
    if plan.inputs.contains(&Input::Stdin) {
        return Err(RunError::ProfileFromPipe("standard input"));
    }
    let known = IdentifyRules::of(plan)?;
    let cuts = cuts(plan);
    let in_round = layers(plan).len() + 1 + cuts.len();
    let (bytes, is_packed) = size(plan, control)?;
    let bytes = bytes.ok_or(RunError::ProfileFromPipe("a pipe"))?;
    let rounds = rounds(bytes, in_round as u64);
    let bench = Bench {
        plan,
        known: known.as_ref(),
        control,
        shown: Shown::new(progress, 1 + rounds * in_round as u64),
    };
    let mut clock = Clock::new();
    // First, because memory that other passes leave to the allocator would be missing. It also
    // loads the file into memory, so that the first pass does not pay for that.
    let memory = memory(&bench)?;
    let found = measure(&bench, rounds, &cuts, &mut clock)?;
    let mut profile = Profile::of(&found.layers, clock.hertz());
    profile.memory = memory;
    profile.is_packed = is_packed;
    profile.handover = found.handover(&cuts);
    let Some(single) = middle(&found.plain, |one| one.cycles) else {
        return Ok(profile);
    };
    profile.total = single.cycles;
    profile.share = single.share.min(1.0);
    profile.mappings = profile.rule().mappings();
    // With other processes on the processors, wall-clock time means nothing.
    let cores = if single.share >= QUIET { cores } else { 0 };
    let bench = Bench {
        shown: Shown::new(&(), 1),
        ..bench
    };
    for mapping in profile.mappings.iter_mut().take(cores) {
        let plan = Plan {
            cut: mapping.cut,
            ..plan.clone()
        };
        let mut runs = Vec::new();
        for _ in 0..rounds.max(ROUNDS_MIN) {
            runs.extend(bench.plain(&plan, mapping.shape, &mut clock)?);
        }
        mapping.measured = middle(&runs, |run| run.rate).map(|run| run.rate);
    }
    Ok(profile)
}

/// How many bytes the input has, if that is known, and whether some of it has to be decompressed.
fn size(plan: &Plan, control: &Control) -> Result<(Option<u64>, bool), RunError> {
    let source = open(plan, control)?;
    let mut files = source.report().files.into_iter();
    let is_packed = files.any(|file| file.compression != Compression::None);
    Ok((source.progress().bytes_total, is_packed))
}

/// Share of the wall time in which a single thread must have had the processor.
const QUIET: f64 = 0.9;

/// The measurements of all rounds.
#[derive(Default)]
struct Measured {
    layers: Vec<Layered>,
    plain: Vec<Plain>,
    relayed: Vec<Vec<Relayed>>,
}

/// Runs all pipelines in turn: A B C, A B C.
fn measure(
    bench: &Bench<'_>,
    rounds: u64,
    cuts: &[Cut],
    clock: &mut Clock,
) -> Result<Measured, RunError> {
    let mut measured = Measured {
        layers: layers(bench.plan).into_iter().map(Layered::new).collect(),
        relayed: cuts.iter().map(|_| Vec::new()).collect(),
        ..Measured::default()
    };
    let start = Instant::now();
    for round in 0..rounds {
        if round > 0 && start.elapsed() > TIME_MAX {
            break;
        }
        for layered in &mut measured.layers {
            layered.passes.extend(bench.pass(layered.layer, clock)?);
        }
        let single = PipelineShape::Single;
        measured
            .plain
            .extend(bench.plain(bench.plan, single, clock)?);
        for (&cut, relayed) in cuts.iter().zip(&mut measured.relayed) {
            relayed.extend(bench.relay(cut, usize::MAX, clock.hertz())?);
        }
    }
    Ok(measured)
}

impl Measured {
    /// The cost of handing over with each cut.
    fn handover(&self, cuts: &[Cut]) -> Vec<(Cut, Handover)> {
        let mut found = Vec::new();
        for (&cut, relayed) in cuts.iter().zip(&self.relayed) {
            let last = if cut == Cut::L3 {
                Layer::Checksums
            } else {
                Layer::Dispatch
            };
            let upto = self.layers.iter().rev().find(|one| one.layer <= last);
            let alone = upto.map_or(0.0, |one| one.cost().cycles);
            let each: Vec<Handover> = relayed.iter().map(|one| one.beyond(alone)).collect();
            let middle = Handover {
                input: middle(&each, |one| one.input).unwrap_or_default().input,
                worker: middle(&each, |one| one.worker).unwrap_or_default().worker,
            };
            if !each.is_empty() {
                found.push((cut, middle));
            }
        }
        found
    }
}

/// The cuts that the rule chooses from; without checksums they are one.
fn cuts(plan: &Plan) -> Vec<Cut> {
    if plan.checksums == Checksums::All {
        vec![Cut::L3, Cut::L2]
    } else {
        vec![Cut::L3]
    }
}

/// The number of rounds of `passes` passes: more for a shorter input, where noise matters more.
fn rounds(bytes: u64, passes: u64) -> u64 {
    (BYTES_IN_ALL / (bytes * passes).max(1)).clamp(1, ROUNDS_MAX)
}

/// Passes over this many bytes take about half a minute.
const BYTES_IN_ALL: u64 = 80 << 30;
const ROUNDS_MAX: u64 = 9;
/// Runs that are measured by the wall clock alone.
const ROUNDS_MIN: u64 = 3;
/// No further round begins after this time.
const TIME_MAX: Duration = Duration::from_secs(60);

/// The memory of connections: the growth of the process while one pipeline with all stages runs.
fn memory(bench: &Bench<'_>) -> Result<Option<Memory>, RunError> {
    let (Some(before), Some(&layer)) = (resident_bytes(), layers(bench.plan).last()) else {
        return Ok(None);
    };
    let mut lane = Pipeline::new(layer, bench.plan, bench.known, bench.control)?;
    while !bench.control.is_stopped() && lane.piece()? {
        bench.shown.update(&lane.progress());
    }
    let after = resident_bytes().unwrap_or(before);
    let connections = lane.totals().live_max;
    bench.shown.next();
    // Buffers of fixed size would pass for state of a few connections.
    Ok((connections >= CONNECTIONS_MIN).then(|| Memory {
        connections,
        bytes: per((after.saturating_sub(before)) as f64, connections),
    }))
}

const CONNECTIONS_MIN: u64 = 10_000;
const PAGE: u64 = 4096;

/// The resident size of this process, where the system reports it.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
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
        (plan.output.to_stdout, plan.output.stream) = (true, None);
    }
    plan
}
