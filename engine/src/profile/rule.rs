//! The papers' rule: from the costs of the stages to the best use of a number of cores.

use crate::run::shape::{Shape, StageCosts};
use flowpin_config::{Cut, PipelineShape};

/// The most cores that are considered.
const CORES_MAX: usize = 64;

/// On the wire besides each frame: preamble and start (8 bytes), check sequence (4), gap (12).
const WIRE_OVERHEAD: f64 = 24.0;

/// The costs of each thread's share of a packet, in cycles of the time stamp counter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// Cycles a second.
    pub hertz: f64,
    /// Bytes of a frame, on average, in the measured input.
    pub packet_len: f64,
    /// Reading the file: a part of `input` that grows with bytes.
    pub read: f64,
    /// What of that one thread at a time does, where threads take turns: all of it if it has to be
    /// decompressed, else nothing.
    pub read_in_turns: f64,
    /// Transport checksums: a part of `input` that grows with bytes and that workers can take over.
    pub checksums: f64,
    /// All work of the input.
    pub input: f64,
    /// All work of a worker.
    pub worker: f64,
    /// Merging and writing.
    pub output: f64,
    /// Handing over, with the cut after the checksums and before them.
    pub handover: [Handover; 2],
}

/// The cost of handing a packet to another core, in cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handover {
    /// The input: filling a descriptor for the ring, writing over lines that the worker has read.
    pub input: f64,
    /// The worker: reading lines that the input's core has written.
    pub worker: f64,
}

impl Default for Handover {
    /// An estimate: a chunk-wise ring within one last-level cache, three lines.
    fn default() -> Self {
        Self {
            input: 12.0,
            worker: 12.0,
        }
    }
}

/// The best use of a number of cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mapping {
    /// The number of cores.
    pub cores: usize,
    /// Stages: 1, 2 or 3.
    pub stages: usize,
    /// Workers.
    pub ways: usize,
    /// The cut between the input and the workers.
    pub cut: Cut,
    /// As `--pipeline` takes it.
    pub shape: PipelineShape,
    /// Packets a second, by the rule.
    pub predicted: f64,
    /// Packets a second of a run on this machine, if it has the cores.
    pub measured: Option<f64>,
    /// The bottleneck.
    pub slowest: &'static str,
}

/// The load of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Bits a second on the wire, in thousands of millions.
    pub gbits_per_s: f64,
    /// Bytes of a frame, without check sequence.
    pub packet_len: f64,
}

/// The cores that a link needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// Packets a second.
    pub packets_per_s: f64,
    /// Cycles a packet that a single core has.
    pub cycles: f64,
    /// Cycles of all stages a packet.
    pub takes: f64,
    /// The smallest mapping with an input thread that keeps up, if any of 64 cores does.
    pub mapping: Option<Mapping>,
    /// Cores that keep up if every one has a receive queue of its own.
    pub queues: u64,
}

impl Rule {
    /// The best use of 1 to 64 cores.
    pub fn mappings(&self) -> Vec<Mapping> {
        (1..=CORES_MAX).map(|cores| self.mapping(cores)).collect()
    }

    /// The best use of `cores` cores: of the cuts before and after the checksums, the shape whose
    /// slowest stage is fastest. The cost of decoding on a worker is not known: the input decodes
    /// and hashes in one step.
    pub(crate) fn mapping(&self, cores: usize) -> Mapping {
        self.mapping_by(cores, |costs| costs.best(cores))
    }

    /// As [`mapping`](Self::mapping), with an input thread, as a link wants.
    pub(crate) fn mapping_apart(&self, cores: usize) -> Mapping {
        self.mapping_by(cores, |costs| costs.best_apart(cores))
    }

    fn mapping_by(&self, cores: usize, best: impl Fn(&StageCosts) -> Shape) -> Mapping {
        let of = |cut| {
            let costs = self.costs(cut);
            let shape = best(&costs);
            (cut, costs, shape, costs.pace(shape))
        };
        let (here, there) = (of(Cut::L3), of(Cut::L2));
        // The other cut must pay for itself: the bytes are in the input's cache.
        let best = if there.3 < here.3 * 0.95 { there } else { here };
        let (cut, costs, shape, pace) = best;
        Mapping {
            cores,
            stages: match shape {
                Shape::Single | Shape::Turns(_) => 1,
                Shape::InputAndWorkers(_) => 2,
                Shape::InputWorkersOutput(_) => 3,
            },
            ways: shape.workers(),
            cut,
            shape: shape.as_asked(),
            predicted: self.hertz / pace,
            measured: None,
            slowest: costs.slowest(shape),
        }
    }

    fn costs(&self, cut: Cut) -> StageCosts {
        let [after, before] = self.handover;
        let (late, handover) = if cut == Cut::L3 {
            (0.0, after)
        } else {
            (self.checksums, before)
        };
        StageCosts {
            read: self.read_in_turns,
            input: self.input - late,
            worker: self.worker + late,
            output: self.output,
            handover,
        }
    }

    /// The cores that keep up with a link. Reading, checksums and handing over grow with the length
    /// of packets; all other costs are the same for every packet.
    pub fn need(&self, demand: &Demand) -> Need {
        let packets_per_s = demand.gbits_per_s * 1e9 / 8.0 / (demand.packet_len + WIRE_OVERHEAD);
        let longer = demand.packet_len / self.packet_len.max(1.0);
        let more = |cost: f64| cost * (longer - 1.0);
        let [after, before] = self.handover;
        let scaled = Self {
            packet_len: demand.packet_len,
            read: self.read * longer,
            read_in_turns: self.read_in_turns * longer,
            checksums: self.checksums * longer,
            input: self.input + more(self.read) + more(self.checksums),
            // Lines that are written, and, for checksums, read.
            handover: [
                Handover {
                    input: after.input * longer,
                    ..after
                },
                Handover {
                    input: before.input * longer,
                    worker: before.worker * longer,
                },
            ],
            ..*self
        };
        let takes = scaled.input + scaled.worker + scaled.output;
        let keeps_up = |mapping: &Mapping| mapping.predicted >= packets_per_s;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of cores"
        )]
        let queues = (takes * packets_per_s / self.hertz).ceil().max(1.0) as u64;
        Need {
            packets_per_s,
            cycles: self.hertz / packets_per_s,
            takes,
            // Each thread needs a core of its own: a link does not wait for a time slice.
            mapping: (1..=CORES_MAX)
                .map(|cores| scaled.mapping_apart(cores))
                .find(keeps_up),
            queues,
        }
    }
}

impl StageCosts {
    fn slowest(&self, shape: Shape) -> &'static str {
        if shape == Shape::Single {
            return "the one core";
        }
        let [input, worker, output] = self.stages(shape);
        if self.pace(shape) > input.max(worker).max(output) {
            return "all cores";
        }
        if worker >= input.max(output) {
            "workers"
        } else if input >= output {
            "input"
        } else {
            "output"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The costs of the papers' Table II, at 2.26 GHz.
    fn table_ii() -> Rule {
        Rule {
            hertz: 2.26e9,
            packet_len: 764.0,
            input: 280.0,
            worker: 1950.0,
            ..Rule::default()
        }
    }

    /// The parser paper derives 5 ways from its Table II; our rings cost less, so 6 ways pay, too,
    /// and more than 7 do not.
    #[test]
    fn the_rule_gives_about_the_ways_of_the_paper() {
        let mappings: Vec<_> = (1..=64)
            .map(|cores| table_ii().mapping_apart(cores))
            .collect();
        let last = mappings.last().unwrap();
        assert!((5..=7).contains(&last.ways), "{last:?}");
        assert_eq!(last.slowest, "input");
        assert_eq!(mappings[0].stages, 1);
        assert!(mappings.is_sorted_by(|a, b| a.predicted <= b.predicted * 1.11));
    }

    /// Where the threads take turns, the same costs divide further.
    #[test]
    fn turns_divide_the_input_too() {
        let mappings = table_ii().mappings();
        let last = mappings.last().unwrap();
        assert_eq!((last.stages, last.cores), (1, 64), "{last:?}");
        assert!(
            last.predicted > 3.0 * table_ii().mapping_apart(64).predicted,
            "{last:?}"
        );
        assert!(mappings.is_sorted_by(|a, b| a.predicted <= b.predicted * 1.11));
    }

    /// 10 Gbit/s of 764-byte packets are 1.59 million a second, and one core does not do it.
    #[test]
    fn a_link_needs_what_its_packets_cost() {
        let demand = Demand {
            gbits_per_s: 10.0,
            packet_len: 764.0,
        };
        let need = table_ii().need(&demand);
        assert!((need.packets_per_s - 1.586e6).abs() < 1e4, "{need:?}");
        let mapping = need.mapping.unwrap();
        assert_eq!((mapping.cores, need.queues), (3, 2), "{mapping:?}");
        let more = table_ii().need(&Demand {
            gbits_per_s: 100.0,
            ..demand
        });
        assert!(more.mapping.is_none(), "one input thread is not enough");
        assert_eq!(more.queues, 16);
    }
}
