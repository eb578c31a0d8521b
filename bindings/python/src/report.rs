//! What a run has come to.

use crate::error::Names;
use flowpin_engine::RunReport;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The sums of a run that has ended.
#[pyclass(frozen, get_all, module = "flowpin._native")]
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Packets that passed the filter.
    pub(crate) packets: u64,
    /// Bytes of their frames on the wire.
    pub(crate) frame_bytes: u64,
    /// The first packet's time, in nanoseconds since 1970.
    pub(crate) first_ns: Option<u64>,
    /// The last packet's time, likewise.
    pub(crate) last_ns: Option<u64>,
    /// Wall-clock time of the run, in seconds.
    pub(crate) seconds: f64,
    /// How the work was divided between threads: `1x1`, `1x2`, ….
    pub(crate) pipeline: String,
    /// Captures that are cut off or damaged, and how.
    pub(crate) damage: Vec<(String, String)>,
    /// What was lost or left out, by the name of its reason.
    pub(crate) losses: BTreeMap<String, u64>,
    /// Whether the run was ended before its input.
    pub(crate) stopped_early: bool,
}

impl Report {
    pub(crate) fn of(report: &RunReport, names: &Names) -> Self {
        let damage = report.inputs.iter().filter_map(|input| {
            let what = input.damage.as_ref()?;
            Some((names.put(&input.path.to_string_lossy()), what.clone()))
        });
        let losses = report.losses.iter().filter(|&(_, count)| count > 0);
        Self {
            packets: report.packets,
            frame_bytes: report.frame_bytes,
            first_ns: report.first.map(|time| time.0),
            last_ns: report.last.map(|time| time.0),
            seconds: report.wall.as_secs_f64(),
            pipeline: report.pipeline.clone(),
            damage: damage.collect(),
            losses: losses
                .map(|(loss, count)| (loss.name().to_owned(), count))
                .collect(),
            stopped_early: report.stopped_early,
        }
    }
}

#[pymethods]
impl Report {
    fn __repr__(&self) -> String {
        format!(
            "Report(packets={}, frame_bytes={}, seconds={:.3}, pipeline={:?}, damage={})",
            self.packets,
            self.frame_bytes,
            self.seconds,
            self.pipeline,
            self.damage.len()
        )
    }
}
