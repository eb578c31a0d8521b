//! What a run has come to.

use crate::error::Names;
use flowpin_counters::Losses;
use flowpin_engine::{InputReport, RunReport};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The sums of a run that has ended.
#[pyclass(frozen, get_all, module = "flowpin._native")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Packets that passed the filter.
    pub(crate) packets: u64,
    /// Bytes of their frames on the wire; only of `read` and `identify`, as what follows.
    pub(crate) frame_bytes: Option<u64>,
    /// The first packet's time, in nanoseconds since 1970.
    pub(crate) first_ns: Option<u64>,
    /// The last packet's time, likewise.
    pub(crate) last_ns: Option<u64>,
    /// Wall-clock time of the run, in seconds.
    pub(crate) seconds: Option<f64>,
    /// How the work was divided between threads: `1x1`, `1x2`, ….
    pub(crate) pipeline: Option<String>,
    /// Captures that are cut off or damaged, and how.
    pub(crate) damage: Vec<(String, String)>,
    /// What was lost or left out, by the name of its reason.
    pub(crate) losses: BTreeMap<String, u64>,
    /// Whether the run was ended before its input.
    pub(crate) stopped_early: bool,
}

impl Report {
    pub(crate) fn of(report: &RunReport, names: &Names) -> Self {
        let own = Self {
            frame_bytes: Some(report.frame_bytes),
            first_ns: report.first.map(|time| time.0),
            last_ns: report.last.map(|time| time.0),
            seconds: Some(report.wall.as_secs_f64()),
            pipeline: Some(report.pipeline.clone()),
            stopped_early: report.stopped_early,
            ..Self::of_inputs(report.packets, &report.inputs, names)
        };
        own.with_losses(&report.losses)
    }

    /// Of what has read these inputs and sums up no more.
    pub(crate) fn of_inputs(packets: u64, inputs: &[InputReport], names: &Names) -> Self {
        let damage = inputs.iter().filter_map(|input| {
            let what = input.damage.as_ref()?;
            Some((names.put(&input.path.to_string_lossy()), what.clone()))
        });
        Self {
            packets,
            damage: damage.collect(),
            ..Self::default()
        }
    }

    pub(crate) fn with_losses(mut self, losses: &Losses) -> Self {
        let losses = losses.iter().filter(|&(_, count)| count > 0);
        self.losses = losses
            .map(|(loss, count)| (loss.name().to_owned(), count))
            .collect();
        self
    }
}

#[pymethods]
impl Report {
    fn __repr__(&self) -> String {
        let (packets, damaged) = (self.packets, self.damage.len());
        let seconds = self.seconds.unwrap_or_default();
        format!("Report(packets={packets}, seconds={seconds:.3}, damaged captures={damaged})")
    }
}
