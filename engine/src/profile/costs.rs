//! From the totals of passes to costs a packet.

use super::passes::{Pass, middle};
use super::per;
use super::pipeline::{Layer, Totals};
use super::rule::{Handover, Mapping, Rule};
use super::watched::clock_cost;
use flowpin_config::Cut;

/// The average cost of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Cycles of the time stamp counter.
    pub cycles: f64,
    /// Instructions in user mode; none where the kernel does not count them.
    pub instructions: Option<f64>,
    /// Misses of the last-level cache.
    pub misses: Option<f64>,
}

/// The thread of a stage in `2xN` and `3xN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The input thread.
    Input,
    /// A worker.
    Worker,
    /// The output thread.
    Output,
}

/// The cost of one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageCost {
    /// Its name.
    pub name: &'static str,
    /// Its thread.
    pub side: Side,
    /// Its cost a packet.
    pub cost: Cost,
}

/// The steps of the last pipeline, measured inside it, in cycles a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inside {
    /// Reading.
    pub read: f64,
    /// Walking, peeling, hashing, checksums.
    pub input: f64,
    /// The connection table and all stages after it.
    pub worker: f64,
    /// Time-outs, and the connections that end with the input.
    pub ticks: f64,
    /// Merging and writing.
    pub output: f64,
    /// The part of `worker` after the connection table.
    pub stages: f64,
}

/// The memory of open connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// The most that were open at a time.
    pub connections: u64,
    /// Bytes for each of them: the state of all stages, and buffers.
    pub bytes: f64,
}

/// The costs of all stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Ticks of the time stamp counter in a second.
    pub hertz: f64,
    /// Packets of the input.
    pub packets: u64,
    /// Bytes of their frames.
    pub frame_bytes: u64,
    /// Connections in it.
    pub connections: u64,
    /// Whether it has to be decompressed.
    pub is_packed: bool,
    /// Each stage, in the order in which a packet meets them.
    pub stages: Vec<StageCost>,
    /// All of them.
    pub sum: Cost,
    /// Cycles a packet of a plain run on one thread.
    pub total: f64,
    /// Share of the wall-clock time in which that run had a processor: below 0.9, other processes
    /// had it.
    pub share: f64,
    /// The cost of handing a packet to another core, by cut; empty if there is no other core.
    pub handover: Vec<(Cut, Handover)>,
    /// The check by measurements inside the last pipeline.
    pub inside: Inside,
    /// The memory of connections, if there were enough to measure.
    pub memory: Option<Memory>,
    /// The mappings of the papers' rule, for 1 to 64 cores.
    pub mappings: Vec<Mapping>,
}

/// All passes of the pipeline up to a layer.
pub(super) struct Layered {
    pub(super) layer: Layer,
    pub(super) passes: Vec<Pass>,
}

impl Layered {
    pub(super) const fn new(layer: Layer) -> Self {
        Self {
            layer,
            passes: Vec::new(),
        }
    }

    /// The median pass.
    fn middle(&self) -> Option<Pass> {
        middle(&self.passes, |pass| pass.span.cycles)
    }

    fn totals(&self) -> Totals {
        self.middle().map(|pass| pass.totals).unwrap_or_default()
    }

    /// Its cost a packet.
    #[expect(clippy::cast_precision_loss, reason = "ratios")]
    pub(super) fn cost(&self) -> Cost {
        let Some(Pass { span, totals }) = self.middle() else {
            return Cost::default();
        };
        let each = |sum: f64| per(sum, totals.packets);
        Cost {
            cycles: each(span.cycles),
            instructions: span.counts.map(|counts| each(counts[0] as f64)),
            misses: span.counts.map(|counts| each(counts[1] as f64)),
        }
    }
}

impl Profile {
    pub(super) fn of(measured: &[Layered], hertz: f64) -> Self {
        let mut profile = Self {
            hertz,
            packets: 0,
            frame_bytes: 0,
            connections: 0,
            is_packed: false,
            stages: Vec::new(),
            sum: Cost::default(),
            total: 0.0,
            share: 0.0,
            handover: Vec::new(),
            inside: Inside::default(),
            memory: None,
            mappings: Vec::new(),
        };
        for layered in measured {
            let (upto, totals) = (layered.cost(), layered.totals());
            let (name, side) = name(layered.layer);
            let cost = upto.less(&profile.sum);
            profile.stages.push(StageCost { name, side, cost });
            profile.sum = profile.sum.more(&cost);
            profile.packets = totals.packets;
            profile.frame_bytes = totals.frame_bytes;
            profile.connections = totals.connections;
            profile.inside = inside(&totals);
        }
        profile.part_output();
        profile
    }

    /// The last layer's records are made by workers and written by the output.
    fn part_output(&mut self) {
        let output = self.inside.output;
        if let Some(last) = self.stages.last_mut()
            && last.name == RECORDS
        {
            let written = output.clamp(0.0, last.cost.cycles.max(0.0));
            last.cost.cycles -= written;
            self.stages.push(StageCost {
                name: "write",
                side: Side::Output,
                cost: Cost {
                    cycles: written,
                    ..Cost::default()
                },
            });
        }
    }

    /// Cycles a packet by thread.
    fn on(&self, side: Side) -> f64 {
        let stages = self.stages.iter().filter(|stage| stage.side == side);
        stages.map(|stage| stage.cost.cycles.max(0.0)).sum()
    }

    fn named(&self, name: &str) -> f64 {
        let found = self.stages.iter().find(|stage| stage.name == name);
        found.map_or(0.0, |stage| stage.cost.cycles.max(0.0))
    }

    /// The input of the papers' rule.
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    pub fn rule(&self) -> Rule {
        Rule {
            hertz: self.hertz,
            packet_len: per(self.frame_bytes as f64, self.packets),
            read: self.named(READ),
            read_in_turns: if self.is_packed {
                self.named(READ)
            } else {
                0.0
            },
            checksums: self.named("checksums"),
            input: self.on(Side::Input),
            worker: self.on(Side::Worker),
            output: self.on(Side::Output),
            handover: [Cut::L3, Cut::L2].map(|cut| {
                let found = self.handover.iter().find(|(of, _)| *of == cut);
                found.map(|(_, handover)| *handover).unwrap_or_default()
            }),
        }
    }
}

impl Cost {
    /// The cost of a layer and all before it.
    fn more(&self, added: &Self) -> Self {
        let more = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (None, None) => None,
            _ => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
        };
        Self {
            cycles: self.cycles + added.cycles,
            instructions: more(self.instructions, added.instructions),
            misses: more(self.misses, added.misses),
        }
    }

    /// The cost that a layer adds; never negative, though by noise a pass with one layer more may
    /// have cost less.
    fn less(&self, before: &Self) -> Self {
        let less = |now: Option<f64>, then: Option<f64>| {
            let then = then.unwrap_or(0.0);
            now.map(|now| (now - then).max(0.0))
        };
        Self {
            cycles: (self.cycles - before.cycles).max(0.0),
            instructions: less(self.instructions, before.instructions),
            misses: less(self.misses, before.misses),
        }
    }
}

const READ: &str = "read, find packets";
const RECORDS: &str = "records";

fn name(layer: Layer) -> (&'static str, Side) {
    match layer {
        Layer::Read => (READ, Side::Input),
        Layer::Dispatch => ("decode, peel, hash", Side::Input),
        Layer::Checksums => ("checksums", Side::Input),
        Layer::Connections => ("connections", Side::Worker),
        Layer::Scans => ("scans", Side::Worker),
        Layer::Streams => ("streams", Side::Worker),
        Layer::Identify => ("identification", Side::Worker),
        Layer::Parse => ("parsing", Side::Worker),
        Layer::Records => (RECORDS, Side::Worker),
    }
}

#[expect(clippy::cast_precision_loss, reason = "ratios")]
fn inside(totals: &Totals) -> Inside {
    let [read, input, worker, ticks, output] =
        totals.steps.map(|sum| per(sum as f64, totals.packets));
    let clocks = totals.calls as f64 * clock_cost();
    let stages = (totals.watched[1] as f64 - clocks).max(0.0);
    Inside {
        read,
        input,
        worker,
        ticks,
        output,
        stages: per(stages, totals.watched_packets),
    }
}

#[cfg(test)]
mod tests {
    use super::Cost;

    /// Noise between two passes does not count as a gain.
    #[test]
    fn no_layer_costs_less_than_nothing() {
        let cost = |each: f64| Cost {
            cycles: each,
            instructions: Some(each),
            misses: Some(each),
        };
        assert_eq!(cost(3.0).less(&cost(1.0)), cost(2.0));
        assert_eq!(cost(1.0).less(&cost(1.36)), cost(0.0));
        assert_eq!(cost(1.0).less(&Cost::default()), cost(1.0));
    }
}
