//! Runs without measurements inside.

use super::passes::Bench;
use super::{per, seconds};
use crate::RunError;
use crate::profile::counters::Clock;
use crate::run;
use flowpin_config::{PipelineShape, Plan};

/// The time of a plain run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    /// Cycles a packet of this thread, the only one if the shape is single.
    pub(super) cycles: f64,
    /// Packets a second, by the clock.
    pub(super) rate: f64,
    /// Share of that time in which this process had a processor.
    pub(super) share: f64,
}

impl Bench<'_> {
    /// Runs the input as a run does, but discards its records. None if stopped.
    pub(super) fn plain(
        &self,
        plan: &Plan,
        shape: PipelineShape,
        clock: &mut Clock,
    ) -> Result<Option<Plain>, RunError> {
        let plan = Plan {
            pipeline: shape,
            ..plan.clone()
        };
        clock.start();
        let report = run::run_nowhere(&plan, self.known, self.control, &self.shown)?;
        let span = clock.stop();
        self.shown.next();
        let packets = per(1.0, report.packets);
        Ok((!report.stopped_early).then(|| Plain {
            cycles: span.cycles * packets,
            rate: 1.0 / (seconds(report.wall) * packets),
            share: seconds(report.cpu) / seconds(report.wall),
        }))
    }
}
