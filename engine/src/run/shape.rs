//! The m-stage-n-way shape of a run.

use crate::profile::{Handover, Rule};
use core::fmt;
use flowpin_config::{Cut, PipelineShape, Plan};

/// A pipeline with its number of workers decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Everything on one thread.
    Single,
    /// An input thread, which also merges the output, and workers.
    InputAndWorkers(usize),
    /// An input thread, workers, an output thread.
    InputWorkersOutput(usize),
}

impl Shape {
    /// The shape and cut of `--pipeline` and `--cut`. For `auto`, the rule proposes a shape for
    /// `cores`, and a cut if `--cut` is `auto` too; only then are its costs measured.
    pub(crate) fn choose(
        plan: &Plan,
        cores: usize,
        rule: impl FnOnce() -> Option<Rule>,
    ) -> (Self, Cut) {
        if plan.pipeline != PipelineShape::Auto {
            let shape = Self::asked(plan.pipeline);
            return (shape, shape.cut(plan.cut));
        }
        let rule = if cores > 1 { rule() } else { None };
        let worth_it = |rule: Rule| {
            let (alone, roomy, crowded) = (
                rule.mapping(1),
                rule.mapping_of(cores, cores),
                rule.mapping(cores),
            );
            let pays = crowded.predicted >= roomy.predicted * CROWD_GAIN_MIN;
            let mapping = if pays { crowded } else { roomy };
            (mapping.predicted >= alone.predicted * GAIN_MIN).then_some(mapping)
        };
        let Some(mapping) = rule.and_then(worth_it) else {
            return (Self::Single, Self::Single.cut(plan.cut));
        };
        let is_asked = plan.cut != Cut::Auto;
        let cut = if is_asked { plan.cut } else { mapping.cut };
        (Self::asked(mapping.shape), cut)
    }

    /// The cut for `--cut auto`: the input has time for the checksums of a single worker.
    // PERF: 2x1 with checksums on the input's, 2-core EPYC: 388 -> 324 ms of parser-file-1 (1x1
    // 388, on the worker's 412), 172 of parser-file-3 (189, 189), 921 of mix (1161, 1001).
    const fn cut(self, asked: Cut) -> Cut {
        match asked {
            Cut::Auto if self.workers() == 1 => Cut::L3,
            Cut::Auto => Cut::L2,
            asked => asked,
        }
    }

    /// The shape that `--pipeline` names.
    fn asked(shape: PipelineShape) -> Self {
        match shape {
            PipelineShape::Single | PipelineShape::Auto => Self::Single,
            PipelineShape::InputAndWorkers(n) => Self::InputAndWorkers(workers(n)),
            PipelineShape::InputWorkersOutput(n) => Self::InputWorkersOutput(workers(n)),
        }
    }

    /// As `--pipeline` takes it.
    pub(crate) fn as_asked(self) -> PipelineShape {
        let ways = u16::try_from(self.workers()).unwrap_or(u16::MAX);
        match self {
            Self::Single => PipelineShape::Single,
            Self::InputAndWorkers(_) => PipelineShape::InputAndWorkers(ways),
            Self::InputWorkersOutput(_) => PipelineShape::InputWorkersOutput(ways),
        }
    }

    /// The number of workers.
    pub(crate) const fn workers(self) -> usize {
        match self {
            Self::Single => 1,
            Self::InputAndWorkers(n) | Self::InputWorkersOutput(n) => n,
        }
    }
}

/// At least one worker, at most one a shard.
fn workers(asked: u16) -> usize {
    usize::from(asked).clamp(1, flowpin_packet::SHARD_COUNT)
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => write!(f, "1x1"),
            Self::InputAndWorkers(n) => write!(f, "2x{n}"),
            Self::InputWorkersOutput(n) => write!(f, "3x{n}"),
        }
    }
}

/// Threads are not used for a predicted gain below this: predictions are up to 10 % too good,
/// measuring takes up to 5 % of a run, and more threads must never take longer.
const GAIN_MIN: f64 = 1.2;

/// More threads than cores are not used for a predicted gain below this: the cost of sharing cores
/// differs more between machines and inputs than anything else that is predicted.
// PERF: 2-core Intel VM, 3x2 chosen with any gain, against 1x1: File-4 0.89 (2x1 1.23), File-6 0.71
// (1.02), File-7 0.97 (1.21).
const CROWD_GAIN_MIN: f64 = 1.3;

/// The factor by which threads that share cores take longer: they wait for each other's time slices
/// and evict each other's cache lines; and where the input also writes, all wait for it to read.
/// See `docs/decisions/0019`.
const fn crowded(shape: Shape) -> f64 {
    match shape {
        Shape::InputWorkersOutput(_) => 1.25,
        _ => 1.4,
    }
}

/// Cycles of each stage a packet, measured on the first packets of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StageCosts {
    /// Reading, walking, peeling, hashing.
    pub(crate) input: f64,
    /// The work of a worker.
    pub(crate) worker: f64,
    /// Merging and writing.
    pub(crate) output: f64,
    /// The cost of a hand-over for each side.
    pub(crate) handover: Handover,
}

impl StageCosts {
    /// The papers' rule: the slowest of C_in + C_fifo, (C_app + C_fifo)/N and C_out sets the
    /// pace, where C_fifo is the cost of a hand-over for that side; with more threads than cores,
    /// it is the sum of all, divided by the cores. Of the shapes within 10 % of the best, the one
    /// with the fewest threads wins: it costs the least and leaves cores to other processes.
    pub(crate) fn best(&self, cores: usize, threads_max: usize) -> Shape {
        let mut shapes = vec![Shape::Single];
        if cores > 1 {
            shapes.extend((1..=cores).map(Shape::InputAndWorkers));
            shapes.extend((1..=cores).map(Shape::InputWorkersOutput));
        }
        shapes.retain(|shape| shape.threads() <= threads_max);
        shapes.sort_by_key(|shape| shape.threads());
        let pace = |&shape: &Shape| self.pace(shape, cores);
        let fastest = shapes.iter().map(pace).fold(f64::MAX, f64::min);
        shapes
            .into_iter()
            .find(|shape| pace(shape) <= fastest * 1.1)
            .unwrap_or(Shape::Single)
    }

    /// Cycles a packet of a shape on `cores` cores.
    pub(crate) fn pace(&self, shape: Shape, cores: usize) -> f64 {
        let [input, worker, output] = self.stages(shape);
        let slowest = input.max(worker).max(output);
        if shape.threads() <= cores {
            return slowest;
        }
        #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
        let (ways, cores) = (shape.workers() as f64, cores.max(1) as f64);
        slowest.max((input + worker * ways + output) / cores * crowded(shape))
    }

    /// Cycles a packet of the input thread, of each worker, and of the output thread.
    pub(crate) fn stages(&self, shape: Shape) -> [f64; 3] {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
        let worker = (self.worker + self.handover.worker) / shape.workers() as f64;
        let input = self.input + self.handover.input;
        match shape {
            Shape::Single => [self.input + self.worker + self.output, 0.0, 0.0],
            Shape::InputAndWorkers(_) => [input + self.output, worker, 0.0],
            Shape::InputWorkersOutput(_) => [input, worker, self.output],
        }
    }
}

impl Shape {
    /// The number of threads.
    pub(crate) const fn threads(self) -> usize {
        match self {
            Self::Single => 1,
            Self::InputAndWorkers(n) => n + 1,
            Self::InputWorkersOutput(n) => n + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one core there is nothing to divide; with two, the second must pay for the hand-over.
    #[test]
    fn threads_are_taken_only_where_they_pay() {
        let even = StageCosts {
            input: 100.0,
            worker: 100.0,
            output: 10.0,
            ..StageCosts::default()
        };
        assert_eq!(even.best(1, usize::MAX), Shape::Single);
        assert_eq!(even.best(2, usize::MAX), Shape::InputAndWorkers(1));
        let light = StageCosts {
            input: 100.0,
            worker: 5.0,
            output: 0.0,
            ..StageCosts::default()
        };
        assert_eq!(light.best(2, usize::MAX), Shape::Single);
    }

    /// A worker that takes longer than all other stages together gets a second one, even with more
    /// threads than cores; but not if there is little to share.
    #[test]
    fn threads_share_cores_where_one_stage_is_far_the_slowest() {
        let uneven = StageCosts {
            input: 200.0,
            worker: 1200.0,
            output: 80.0,
            ..StageCosts::default()
        };
        let shape = uneven.best(2, usize::MAX);
        assert_eq!(shape, Shape::InputWorkersOutput(2));
        let shared = (200.0 + 1200.0 + 80.0 + 12.0 + 12.0) / 2.0 * 1.25;
        assert!((uneven.pace(shape, 2) - shared).abs() < 1e-6);
        // Where each has a core of its own, sharing has nothing to give.
        let balanced = StageCosts {
            worker: 300.0,
            ..uneven
        };
        assert_eq!(balanced.best(2, usize::MAX), Shape::InputAndWorkers(1));
        assert_eq!(uneven.best(8, usize::MAX).threads(), 8);
        // Nor where it is not wanted.
        assert_eq!(uneven.best(2, 2), Shape::InputAndWorkers(1));
    }

    /// `auto` follows the profile's rule; a shape that is named stays.
    #[test]
    fn auto_takes_what_the_rule_proposes() {
        let rule = Rule {
            hertz: 1.0,
            checksums: 100.0,
            input: 200.0,
            worker: 150.0,
            ..Rule::default()
        };
        let proposed = rule.mapping(3);
        let plan = Plan::default();
        let (shape, cut) = Shape::choose(&plan, 3, || Some(rule));
        assert_eq!((shape.as_asked(), cut), (proposed.shape, proposed.cut));
        assert_eq!(cut, Cut::L2, "checksums are better divided");
        assert_eq!(Shape::choose(&plan, 1, || Some(rule)).0, Shape::Single);
        assert_eq!(Shape::choose(&plan, 3, || None).0, Shape::Single);
        let plan = Plan {
            pipeline: PipelineShape::InputAndWorkers(2),
            cut: Cut::Capture,
            ..plan
        };
        let asked = (Shape::InputAndWorkers(2), Cut::Capture);
        assert_eq!(Shape::choose(&plan, 8, || Some(rule)), asked);
        for (workers, usual) in [(1, Cut::L3), (2, Cut::L2)] {
            let plan = Plan {
                pipeline: PipelineShape::InputAndWorkers(workers),
                ..Plan::default()
            };
            assert_eq!(Shape::choose(&plan, 8, || None).1, usual);
        }
    }

    /// A gain that an error of 10 % would turn into a loss does not count.
    #[test]
    fn auto_stays_on_one_thread_where_the_gain_is_small() {
        let rule = |worker| Rule {
            hertz: 1.0,
            input: 200.0,
            worker,
            ..Rule::default()
        };
        let plan = Plan::default();
        let chosen = |worker| Shape::choose(&plan, 2, || Some(rule(worker)));
        // 200 + 12 cycles in place of 250, and in place of 260.
        assert_eq!(chosen(50.0), (Shape::Single, Cut::L3));
        assert_eq!(
            rule(50.0).mapping(2).shape,
            PipelineShape::InputAndWorkers(1)
        );
        assert_eq!(chosen(60.0).0, Shape::InputAndWorkers(1));
    }

    /// More threads than cores are used only for a large gain.
    #[test]
    fn auto_crowds_cores_only_for_a_large_gain() {
        let rule = |worker| Rule {
            hertz: 1.0,
            input: 200.0,
            worker,
            ..Rule::default()
        };
        let plan = Plan::default();
        let chosen = |worker| Shape::choose(&plan, 2, || Some(rule(worker))).0;
        // By the rule 600 cycles with two threads, 530 with four.
        assert_eq!(
            rule(600.0).mapping(2).shape,
            PipelineShape::InputWorkersOutput(2)
        );
        assert_eq!(chosen(600.0), Shape::InputAndWorkers(1));
        // 1800 and 1280.
        assert_eq!(chosen(1800.0), Shape::InputWorkersOutput(2));
    }

    /// One input core caps the gain: more workers than it can feed are not started.
    #[test]
    fn workers_stop_where_the_input_is_the_slowest() {
        let heavy = StageCosts {
            input: 50.0,
            worker: 400.0,
            output: 5.0,
            ..StageCosts::default()
        };
        let shape = heavy.best(64, usize::MAX);
        assert!(shape.workers() <= 9, "{shape}");
        assert!(shape.workers() >= 6, "{shape}");
    }
}
