//! Runs of the whole pipeline in a process of their own: of this program, or of one that was built
//! to hand over and allocate in other ways.

use super::{Lab, Trace, plan, runs, variant};
use crate::table::Figure;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use flowpin_config::{PipelineShape, Plan};
use flowpin_engine::{Control, RunReport};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use variant::Variant;

/// What one process does.
#[derive(Args, Clone, Debug)]
pub(crate) struct Whole {
    /// The capture
    pub(crate) trace: PathBuf,
    /// The shape
    #[arg(long)]
    pub(crate) pipeline: PipelineShape,
    /// The folder of compiled patterns
    #[arg(long)]
    pub(crate) patterns: PathBuf,
    /// What the run may use
    #[arg(long)]
    pub(crate) memory_bytes: u64,
    /// The first packets only
    #[arg(long)]
    pub(crate) packets_max: Option<u64>,
    /// Does not look for scans
    #[arg(long)]
    pub(crate) no_scans: bool,
    #[command(flatten)]
    pub(crate) variant: Variant,
}

/// What it tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) packets: u64,
    pub(crate) frame_bytes: u64,
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    /// What was found: the same whatever is exchanged.
    found: Found,
}

/// Connections, those with bytes, verdicts, messages, bytes in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Found {
    connections: u64,
    searched: u64,
    inspected: u64,
    messages: u64,
    delivered: u64,
}

impl Whole {
    /// A run over a trace as it is for use.
    pub(crate) fn new(lab: &Lab, trace: &Trace, pipeline: PipelineShape) -> Self {
        let plan = plan(lab, trace);
        Self {
            trace: trace.path.clone(),
            pipeline,
            patterns: plan.identify.cache.unwrap_or_default(),
            memory_bytes: plan.memory_bytes,
            packets_max: None,
            no_scans: false,
            variant: Variant::default(),
        }
    }

    /// The same with something exchanged.
    pub(crate) fn with(&self, variant: Variant) -> Self {
        Self {
            variant,
            ..self.clone()
        }
    }

    /// Runs it in this process.
    ///
    /// # Errors
    /// The run fails, or loses something; this program was not built for the variant.
    pub(crate) fn run(&self) -> Result<Told> {
        self.variant.choose()?;
        let mut plan = Plan {
            pipeline: self.pipeline,
            memory_bytes: self.memory_bytes,
            packet_count_max: self.packets_max,
            ..runs::plan_of(&self.trace)
        };
        plan.identify.cache = Some(self.patterns.clone());
        plan.scans.enabled &= !self.no_scans;
        let report = flowpin_engine::run(&plan, &Control::default(), &())?;
        runs::lost_nothing(&report)?;
        Ok(Told::of(&report))
    }

    /// The words that make [`Whole::run`] of a program.
    pub(crate) fn words(&self) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let mut words = vec![
            "whole".to_owned(),
            path(&self.trace),
            format!("--pipeline={}", self.pipeline),
            format!("--patterns={}", path(&self.patterns)),
            format!("--memory-bytes={}", self.memory_bytes),
        ];
        let packets = self.packets_max.map(|most| format!("--packets-max={most}"));
        words.extend(packets);
        words.extend(self.no_scans.then(|| "--no-scans".to_owned()));
        words.extend(self.variant.words());
        words
    }
}

impl Told {
    fn of(report: &RunReport) -> Self {
        let sums = &report.found.connections.by_protocol;
        Self {
            packets: report.packets,
            frame_bytes: report.frame_bytes,
            wall_s: report.wall.as_secs_f64(),
            cpu_s: report.cpu.as_secs_f64(),
            found: Found {
                connections: sums.values().map(|one| one.connections).sum(),
                searched: report.identify.searched,
                inspected: report.identify.inspected,
                messages: report.messages.iter().map(|kind| kind.built).sum(),
                delivered: report.reassembly.in_order,
            },
        }
    }

    pub(crate) fn gbps(&self) -> f64 {
        8.0 * runs::count(self.frame_bytes) / self.wall_s.max(1e-9) / 1e9
    }

    pub(crate) fn cpu_ns(&self) -> f64 {
        1e9 * self.cpu_s / runs::count(self.packets)
    }
}

/// Something that is run: whose program it is, and what.
pub(crate) struct Way {
    /// None: this one.
    pub(crate) program: Option<PathBuf>,
    pub(crate) whole: Whole,
}

/// What all rounds of one way took, beside the first way of each round.
pub(crate) struct Rounds {
    pub(crate) gbps: Figure,
    pub(crate) cpu_ns: Figure,
    /// The first way's time by the clock over this one's: above 1, this one is faster.
    pub(crate) speed: Figure,
    /// Processor time over the first way's.
    pub(crate) cpu: Figure,
}

impl Lab {
    /// Runs all ways in turn, as often as there are rounds; ratios are formed within each round.
    ///
    /// # Errors
    /// A run fails, loses something, or finds something else than the first; the machine is too
    /// busy to tell.
    pub(crate) fn ways(&self, ways: &[Way]) -> Result<Vec<Rounds>> {
        if let Some(way) = ways.first().filter(|_| !self.has_patterns()) {
            // Compiles them, which is no part of any figure.
            self.told(way)?;
        }
        let mut rounds: Vec<Vec<Told>> = Vec::new();
        for _ in 0..self.extent.rounds.max(1) {
            let told = ways.iter().map(|way| self.watched(|| self.told(way)));
            let told: Vec<Told> = told.collect::<Result<_>>()?;
            if let Some(first) = told.first() {
                let same = told.iter().all(|one| one.found == first.found);
                ensure!(same, "not all ways found the same: {told:?}");
            }
            rounds.push(told);
        }
        (0..ways.len()).map(|at| summed(&rounds, at)).collect()
    }

    fn told(&self, way: &Way) -> Result<Told> {
        let Some(program) = way.program.as_ref().or(self.program.as_ref()) else {
            return way.whole.run();
        };
        let words = way.whole.words();
        let output = Command::new(program).args(&words).output();
        let output = output.with_context(|| program.display().to_string())?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("{} {}: {}", program.display(), words.join(" "), why.trim());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

fn summed(rounds: &[Vec<Told>], at: usize) -> Result<Rounds> {
    let figure = |value: &dyn Fn(&Told, &Told) -> f64| {
        let each = rounds.iter().filter_map(|round| {
            let (first, this) = (round.first()?, round.get(at)?);
            Some(value(first, this))
        });
        Figure::of(each.collect()).context("no round")
    };
    Ok(Rounds {
        gbps: figure(&|_, this| this.gbps())?,
        cpu_ns: figure(&|_, this| this.cpu_ns())?,
        speed: figure(&|first, this| first.wall_s / this.wall_s.max(1e-9))?,
        cpu: figure(&|first, this| this.cpu_s / first.cpu_s.max(1e-9))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Extent;
    use clap::Parser;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        whole: Whole,
    }

    /// The other process is asked for what was meant, and what it tells is read.
    #[test]
    fn a_run_goes_to_another_process_and_back() {
        let mut lab = Lab::new(Extent::QUICK, None).unwrap();
        let trace = lab.preset("ics09-file-10").unwrap();
        let shape = PipelineShape::InputAndWorkers(1);
        let mut whole = Whole::new(&lab, &trace, shape).with(Variant::places("malloc"));
        (whole.packets_max, whole.no_scans) = (Some(1000), true);
        let back = Words::parse_from(whole.words()).whole;
        assert_eq!(format!("{back:?}"), format!("{whole:?}"));
        let told = whole.with(Variant::default()).run().unwrap();
        let json = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<Told>(&json).unwrap(), told);
        assert!(told.gbps() > 0.0 && told.found.connections > 0);
    }

    /// Whatever is exchanged, the same is found.
    #[cfg(flowpin_bench)]
    #[test]
    fn every_variant_finds_the_same() {
        let mut lab = Lab::new(Extent::QUICK, None).unwrap();
        let trace = lab.preset("parser-file-1").unwrap();
        let whole = Whole::new(&lab, &trace, PipelineShape::InputAndWorkers(2));
        let found = whole.run().unwrap().found;
        let queues = [
            "flowpin",
            "FastForward",
            "MCRingBuffer",
            "B-Queue",
            "Lamport",
            "lock",
        ];
        let places = ["table", "malloc", "pool"];
        let variants = queues.map(Variant::queue).into_iter();
        for variant in variants.chain(places.map(Variant::places)) {
            let told = whole.with(variant.clone()).run().unwrap();
            assert_eq!(told.found, found, "{variant:?}");
        }
        assert!(whole.with(Variant::queue("none")).run().is_err());
        assert!(whole.with(Variant::places("none")).run().is_err());
    }

    /// A program that was not built for it must not say that it did it.
    #[cfg(not(flowpin_bench))]
    #[test]
    fn this_program_has_no_other_way() {
        assert!(Variant::places("malloc").choose().is_err());
        assert!(Variant::queue("lock").choose().is_err());
        Variant::default().choose().unwrap();
    }
}
