//! Runs of the pipeline, in turn: A B C, A B C, so that all meet the machine's slow moments.

use super::{Lab, Trace};
use crate::table::Figure;
use anyhow::{Context, Result, bail};
use flowpin_config::{Format, Input, OutputPlan, PipelineShape, Plan};
use flowpin_engine::{Control, RunReport};
use std::path::Path;

/// What one plan took, over all rounds.
pub(crate) struct Taken {
    /// Packets a second, in millions, by the clock.
    pub(crate) mpps: Figure,
    /// Processor time, in nanoseconds a packet.
    pub(crate) cpu_ns: Figure,
    /// Of the last round.
    pub(crate) report: RunReport,
}

impl Taken {
    /// Bits of frames a second, in thousands of millions.
    pub(crate) fn gbps(&self) -> Figure {
        let bits = 8.0 * ratio(self.report.frame_bytes, self.report.packets);
        self.mpps.times(bits / 1000.0)
    }
}

/// Everything that Flowpin does by itself, checksums verified, records made and thrown away.
pub(crate) fn plan(lab: &Lab, trace: &Trace) -> Plan {
    let mut plan = plan_of(&trace.path);
    // Patterns are compiled once, not in each run.
    plan.identify.cache = Some(lab.path("patterns"));
    plan
}

pub(super) fn plan_of(trace: &Path) -> Plan {
    Plan {
        inputs: vec![Input::File(trace.to_owned())],
        pipeline: PipelineShape::Single,
        // Room for all that the papers' traces have open at a time: a run that loses is no figure.
        memory_bytes: 4 << 30,
        output: OutputPlan {
            formats: vec![Format::None],
            ..OutputPlan::default()
        },
        ..Plan::default()
    }
}

impl Lab {
    /// Runs each plan, in turn, as often as there are rounds.
    ///
    /// # Errors
    /// A run fails, or loses something; the machine is too busy to tell.
    pub(crate) fn run(&self, plans: &[Plan]) -> Result<Vec<Taken>> {
        self.run_rounds(plans, self.extent.rounds)
    }

    /// As [`Lab::run`], with another number of rounds.
    ///
    /// # Errors
    /// As [`Lab::run`].
    pub(crate) fn run_rounds(&self, plans: &[Plan], rounds: u32) -> Result<Vec<Taken>> {
        if let Some(plan) = plans.first().filter(|_| !self.has_patterns()) {
            // Compiles them, which is no part of any figure.
            flowpin_engine::run(plan, &Control::default(), &())?;
        }
        let mut taken: Vec<Vec<RunReport>> = plans.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds.max(1) {
            for (plan, reports) in plans.iter().zip(&mut taken) {
                let report =
                    self.watched(|| Ok(flowpin_engine::run(plan, &Control::default(), &())?))?;
                lost_nothing(&report)?;
                reports.push(report);
            }
        }
        taken.into_iter().map(summed).collect()
    }
}

/// A run that leaves work undone is fast: its figures would say nothing.
///
/// # Errors
/// A cap was reached, or a queue was full: which, and how much it cost.
pub(super) fn lost_nothing(report: &RunReport) -> Result<()> {
    let lost: Vec<String> = report
        .losses
        .iter()
        .filter(|(loss, _)| !ESTIMATES.contains(&loss.name()))
        .map(|(loss, count)| format!("{} {count} ({})", loss.name(), loss.explanation()))
        .collect();
    if !lost.is_empty() {
        let inputs: Vec<String> = report
            .inputs
            .iter()
            .map(|input| input.path.display().to_string())
            .collect();
        bail!(
            "lost while measuring {}: {}",
            inputs.join(", "),
            lost.join("; ")
        );
    }
    Ok(())
}

/// Beyond their caps, totals of the summary are estimated from every connection: nothing is left
/// undone.
const ESTIMATES: [&str; 3] = ["addresses_summed", "host_pairs_summed", "vlans_summed"];

fn summed(mut reports: Vec<RunReport>) -> Result<Taken> {
    let mpps = reports.iter().map(|report| rate(report) / 1e6).collect();
    let cpu = |report: &RunReport| 1e9 * report.cpu.as_secs_f64() / count(report.packets);
    let cpu_ns = reports.iter().map(cpu).collect();
    Ok(Taken {
        mpps: Figure::of(mpps).context("no run")?,
        cpu_ns: Figure::of(cpu_ns).context("no run")?,
        report: reports.pop().context("no run")?,
    })
}

/// Packets a second by the clock.
fn rate(report: &RunReport) -> f64 {
    count(report.packets) / report.wall.as_secs_f64().max(1e-9)
}

fn ratio(sum: u64, each: u64) -> f64 {
    count(sum) / count(each)
}

#[expect(clippy::cast_precision_loss, reason = "ratios")]
pub(super) fn count(number: u64) -> f64 {
    number.max(1) as f64
}
