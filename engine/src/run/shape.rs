//! The m-stage-n-way shape of a run.

use crate::profile::{Handover, Rule};
use crate::run::PIECES_OUT;
use core::fmt;
use flowpin_config::{Cut, PipelineShape, Plan};

/// A pipeline with its number of workers decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Everything on one thread.
    Single,
    /// Threads that each do everything, two at least: they take turns at input and output.
    Turns(usize),
    /// An input thread, which also merges the output, and workers.
    InputAndWorkers(usize),
    /// An input thread, workers, an output thread.
    InputWorkersOutput(usize),
}

impl Shape {
    /// The shape and cut of `--pipeline` and `--cut`, for an input of so many bytes; a pipe and an
    /// interface do not say. For `auto`, few threads are taken where the input is worth them: they
    /// take turns, and none is slower than one. Of many, the rule proposes a shape, and a cut if
    /// `--cut` is `auto` too; only then are its costs measured.
    pub(crate) fn choose(
        plan: &Plan,
        cores: usize,
        input_bytes: Option<u64>,
        rule: impl FnOnce() -> Option<Rule>,
    ) -> (Self, Cut) {
        if plan.pipeline != PipelineShape::Auto {
            let shape = Self::asked(plan.pipeline);
            return (shape, shape.cut(plan.cut));
        }
        let worth = match input_bytes {
            // What will come is not known: every core is there for it.
            None => usize::MAX,
            Some(bytes) => usize::try_from(bytes / THREAD_BYTES).unwrap_or(usize::MAX),
        };
        let threads = worth.min(cores);
        if threads <= UNMEASURED_MAX || worth < MEASURED_MIN || input_bytes.is_none() {
            let threads = u16::try_from(threads).unwrap_or(u16::MAX);
            let shape = Self::asked(PipelineShape::Turns(threads));
            return (shape, shape.cut(plan.cut));
        }
        let worth_it = |rule: Rule| {
            let (alone, best) = (rule.mapping(1), rule.mapping(cores));
            (best.predicted >= alone.predicted * GAIN_MIN).then_some(best)
        };
        let Some(mapping) = rule().and_then(worth_it) else {
            return (Self::Single, Self::Single.cut(plan.cut));
        };
        let is_asked = plan.cut != Cut::Auto;
        let cut = if is_asked { plan.cut } else { mapping.cut };
        (Self::asked(mapping.shape), cut)
    }

    /// The cut for `--cut auto`: the input has time for the checksums of a single worker.
    // PERF: 2x1 with checksums on the input's, 2-core EPYC: 388 -> 324 ms of parser-file-1 (1x1
    // 388, on the worker's 412), 172 of parser-file-3 (189, 189), 921 of mix (1161, 1001).
    // Threads that take turns verify what they describe: the bytes are in their cache.
    const fn cut(self, asked: Cut) -> Cut {
        match asked {
            Cut::Auto if matches!(self, Self::Turns(_)) => Cut::L3,
            Cut::Auto if self.workers() == 1 => Cut::L3,
            Cut::Auto => Cut::L2,
            asked => asked,
        }
    }

    /// The shape that `--pipeline` names.
    fn asked(shape: PipelineShape) -> Self {
        match shape {
            PipelineShape::Single | PipelineShape::Auto | PipelineShape::Turns(0 | 1) => {
                Self::Single
            }
            PipelineShape::Turns(n) => Self::Turns(workers(n)),
            PipelineShape::InputAndWorkers(n) => Self::InputAndWorkers(workers(n)),
            PipelineShape::InputWorkersOutput(n) => Self::InputWorkersOutput(workers(n)),
        }
    }

    /// As `--pipeline` takes it.
    pub(crate) fn as_asked(self) -> PipelineShape {
        let ways = u16::try_from(self.workers()).unwrap_or(u16::MAX);
        match self {
            Self::Single => PipelineShape::Single,
            Self::Turns(_) => PipelineShape::Turns(ways),
            Self::InputAndWorkers(_) => PipelineShape::InputAndWorkers(ways),
            Self::InputWorkersOutput(_) => PipelineShape::InputWorkersOutput(ways),
        }
    }

    /// Pieces of input that may be under way at once.
    pub(crate) const fn pieces_out(self) -> usize {
        match self {
            // Each thread may have one that it describes, and one that it analyses.
            Self::Turns(n) if n * 2 > PIECES_OUT => n * 2,
            _ => PIECES_OUT,
        }
    }

    /// Bytes of input that are read at once.
    pub(crate) fn piece_bytes(self, plan: &Plan) -> usize {
        // PERF: each worker has a part of each piece, and what a part costs is the same however few
        // packets it has. 16 cores, mixed traffic without output: `1x16` takes 0.54 s with pieces
        // of 256 KiB, 0.42 s with 512, 0.38 s with 1024; `1x8` 0.68, 0.57, 0.58.
        let longer = match self {
            Self::Turns(n) if !plan.is_live() => (n / 2).clamp(1, 4),
            _ => 1,
        };
        let of_all = usize::try_from(plan.memory_bytes / PIECES_SHARE).unwrap_or(usize::MAX);
        let most = of_all / self.pieces_out();
        plan.piece_bytes.max(most.min(plan.piece_bytes * longer))
    }

    /// The number of workers.
    pub(crate) const fn workers(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Turns(n) | Self::InputAndWorkers(n) | Self::InputWorkersOutput(n) => n,
        }
    }
}

/// All pieces together have this part of the memory at most, where they are longer than usual.
const PIECES_SHARE: u64 = 32;

/// At least one worker, at most one a shard.
fn workers(asked: u16) -> usize {
    usize::from(asked).clamp(1, flowpin_packet::SHARD_COUNT)
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => write!(f, "1x1"),
            Self::Turns(n) => write!(f, "1x{n}"),
            Self::InputAndWorkers(n) => write!(f, "2x{n}"),
            Self::InputWorkersOutput(n) => write!(f, "3x{n}"),
        }
    }
}

/// Bytes of input that are worth a thread. Starting one, and putting together what two found, takes
/// as long as a tenth of this.
// PERF: 2-core Xeon, 1x1 and 1x2, milliseconds: 0.4 MB 21 and 22, 32 MB of mixed traffic 80 and 65,
// 96 MB 188 and 139; where there is nothing to divide, one connection of 97 MB, 93 and 93.
const THREAD_BYTES: u64 = 16 << 20;

/// So few threads are taken unmeasured: measuring takes 3 to 5 % of a run of a second, and would
/// find that they are worth it.
const UNMEASURED_MAX: usize = 4;

/// An input that is worth fewer threads ends before measuring pays.
const MEASURED_MIN: usize = 16;

/// Threads are not used for a predicted gain below this: predictions are up to 10 % too good,
/// measuring takes up to 5 % of a run, and more threads must never take longer.
const GAIN_MIN: f64 = 1.2;

/// The factor by which threads that take turns take longer than one alone, for each packet: lines
/// cross between cores, and at times a thread has nothing to do.
// PERF: 2-core EPYC, 1x2 against two runs of 1x1 at once: see docs/decisions/0032.
const TURNS: f64 = 1.1;

/// Cycles for listing a frame in the first step of the input, where each packet goes twice.
const LIST: f64 = 20.0;

/// Cycles of each stage a packet, measured on the first packets of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StageCosts {
    /// Reading, as far as one thread at a time does it: a part of `input`.
    pub(crate) read: f64,
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
    /// The best shape for so many cores: threads that take turns, or stages with threads of their
    /// own. Of the shapes within 10 % of the best, the one with the fewest threads wins: it costs
    /// the least and leaves cores to other processes.
    pub(crate) fn best(&self, cores: usize) -> Shape {
        let turns = (2..=cores).map(Shape::Turns);
        self.best_of(turns.chain(Self::stages_apart(cores)).collect())
    }

    /// As [`best`](Self::best), with an input thread, if there is more than one.
    pub(crate) fn best_apart(&self, cores: usize) -> Shape {
        self.best_of(Self::stages_apart(cores).collect())
    }

    /// The shapes of the papers' rule, each thread with a core of its own.
    fn stages_apart(cores: usize) -> impl Iterator<Item = Shape> {
        let of = move |shape: fn(usize) -> Shape| (1..=cores).map(shape);
        [Shape::Single]
            .into_iter()
            .chain(of(Shape::InputAndWorkers))
            .chain(of(Shape::InputWorkersOutput))
            .filter(move |shape| shape.threads() <= cores)
    }

    fn best_of(&self, mut shapes: Vec<Shape>) -> Shape {
        // Stages of their own come last among equals: they leave cores idle.
        shapes.sort_by_key(|shape| shape.threads());
        let fastest = shapes.iter().map(|&shape| self.pace(shape));
        let fastest = fastest.fold(f64::MAX, f64::min);
        shapes
            .into_iter()
            .find(|&shape| self.pace(shape) <= fastest * 1.1)
            .unwrap_or(Shape::Single)
    }

    /// Cycles a packet of a shape whose threads have a core each. The papers' rule: the slowest of
    /// C_in + C_fifo, (C_app + C_fifo)/N and C_out sets the pace, where C_fifo is the cost of a
    /// hand-over for that side. With threads that take turns: the sum of all, divided by them, or
    /// what one at a time does.
    pub(crate) fn pace(&self, shape: Shape) -> f64 {
        let slowest = self.stages(shape).into_iter().fold(0.0, f64::max);
        match shape {
            Shape::Turns(n) => {
                #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
                let (ways, away) = (n as f64, (n - 1) as f64 / n as f64);
                let handover = (self.handover.input + self.handover.worker) * away;
                let all = self.input + LIST + self.worker + self.output + handover;
                slowest.max(all / ways * TURNS)
            }
            _ => slowest,
        }
    }

    /// Cycles a packet of the input thread, of each worker, and of the output thread.
    pub(crate) fn stages(&self, shape: Shape) -> [f64; 3] {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
        let worker = (self.worker + self.handover.worker) / shape.workers() as f64;
        let input = self.input + self.handover.input;
        match shape {
            Shape::Single => [self.input + self.worker + self.output, 0.0, 0.0],
            Shape::Turns(_) => [self.read + LIST, worker, self.output],
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
            Self::Turns(n) => n,
            Self::InputAndWorkers(n) => n + 1,
            Self::InputWorkersOutput(n) => n + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of an input that is measured where there are cores for it.
    const LONG: Option<u64> = Some(1 << 30);

    /// With one core there is nothing to divide; with more, all of it is divided evenly.
    #[test]
    fn threads_are_taken_only_where_they_pay() {
        let costs = StageCosts {
            read: 40.0,
            input: 200.0,
            worker: 1200.0,
            output: 80.0,
            ..StageCosts::default()
        };
        assert_eq!(costs.best(1), Shape::Single);
        assert_eq!(costs.best(2), Shape::Turns(2));
        assert!(costs.best(16).threads() >= 14);
        let of_two = (200.0 + 20.0 + 1200.0 + 80.0 + 12.0) / 2.0 * 1.1;
        assert!((costs.pace(Shape::Turns(2)) - of_two).abs() < 1e-6);
    }

    /// What one thread at a time does bounds the gain: more threads are not started, and a thread
    /// of its own does not help there.
    #[test]
    fn threads_stop_where_turns_at_reading_are_the_slowest() {
        let costs = StageCosts {
            read: 100.0,
            input: 150.0,
            worker: 400.0,
            output: 5.0,
            ..StageCosts::default()
        };
        let shape = costs.best(64);
        assert!((5..=7).contains(&shape.threads()), "{shape}");
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
        let proposed = rule.mapping(8);
        let plan = Plan::default();
        let (shape, cut) = Shape::choose(&plan, 8, LONG, || Some(rule));
        assert_eq!((shape.as_asked(), cut), (proposed.shape, proposed.cut));
        assert_eq!(cut, Cut::L3, "who describes a packet has its bytes at hand");
        assert_eq!(
            Shape::choose(&plan, 1, LONG, || Some(rule)).0,
            Shape::Single
        );
        assert_eq!(Shape::choose(&plan, 8, LONG, || None).0, Shape::Single);
        let plan = Plan {
            pipeline: PipelineShape::InputAndWorkers(2),
            cut: Cut::Capture,
            ..plan
        };
        let asked = (Shape::InputAndWorkers(2), Cut::Capture);
        assert_eq!(Shape::choose(&plan, 8, LONG, || Some(rule)), asked);
        for (workers, usual) in [(1, Cut::L3), (2, Cut::L2)] {
            let plan = Plan {
                pipeline: PipelineShape::InputAndWorkers(workers),
                ..Plan::default()
            };
            assert_eq!(Shape::choose(&plan, 8, LONG, || None).1, usual);
        }
    }

    /// What is measured only where it pays: threads for a short input, a pipe, or a few cores.
    #[test]
    fn auto_takes_a_few_threads_unmeasured() {
        let plan = Plan::default();
        let chosen = |cores, bytes| {
            Shape::choose(&plan, cores, bytes, || unreachable!("it is not measured")).0
        };
        assert_eq!(chosen(2, Some(1 << 20)), Shape::Single);
        assert_eq!(chosen(2, Some(32 << 20)), Shape::Turns(2));
        assert_eq!(chosen(2, LONG), Shape::Turns(2));
        assert_eq!(chosen(16, Some(100 << 20)), Shape::Turns(6));
        assert_eq!(chosen(16, None), Shape::Turns(16), "a pipe, an interface");
        assert_eq!(chosen(1, None), Shape::Single);
    }

    /// A gain that an error of 10 % would turn into a loss does not count.
    #[test]
    fn auto_stays_on_one_thread_where_the_gain_is_small() {
        let rule = |worker| Rule {
            hertz: 1.0,
            read_in_turns: 200.0,
            input: 200.0,
            worker,
            ..Rule::default()
        };
        let plan = Plan::default();
        let chosen = |worker| Shape::choose(&plan, 8, LONG, || Some(rule(worker))).0;
        // 200 + 20 cycles in place of 250, and in place of 270.
        assert_eq!(chosen(50.0), Shape::Single);
        assert_eq!(Shape::asked(rule(50.0).mapping(8).shape).threads(), 2);
        assert_eq!(chosen(70.0).threads(), 2);
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
        let shape = heavy.best_apart(64);
        assert!(shape.workers() <= 9, "{shape}");
        assert!(shape.workers() >= 6, "{shape}");
    }
}
