//! Pipelines of one thread, each with one stage more.

use super::watched::Watched;
use crate::input::{InputStage, Lane};
use crate::output::Output;
use crate::report::Progress;
use crate::run::nowhere::Nowhere;
use crate::run::shape::Shape;
use crate::run::single::{INPUT, SingleLane, WORKER};
use crate::run::{division, open, worker};
use crate::worker::identify::IdentifyRules;
use crate::worker::stages::{AllStages, Explain, Planned, Stages};
use crate::worker::{Late, Worker};
use crate::{Control, RunError};
use flowpin_config::{Checksums, Format, OutputPlan, Plan};
use flowpin_cpu::tsc;
use flowpin_flow::ShardSet;
use flowpin_output::Writers;
use flowpin_packet::{PacketMeta, Piece};

/// The last stage of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    Read,
    Dispatch,
    Checksums,
    Connections,
    Scans,
    Streams,
    Identify,
    Parse,
    Records,
}

/// The layers that a plan has.
pub(super) fn layers(plan: &Plan) -> Vec<Layer> {
    let has = |layer: &Layer| match layer {
        Layer::Checksums => plan.checksums == Checksums::All,
        Layer::Scans => plan.scans.enabled,
        Layer::Streams => plan.streams.enabled,
        Layer::Identify => plan.identify.enabled,
        Layer::Parse => plan.identify.enabled && plan.parse.enabled,
        Layer::Records => plan.output.formats != [Format::None],
        _ => true,
    };
    let all = [
        Layer::Read,
        Layer::Dispatch,
        Layer::Checksums,
        Layer::Connections,
        Layer::Scans,
        Layer::Streams,
        Layer::Identify,
        Layer::Parse,
        Layer::Records,
    ];
    all.into_iter().filter(has).collect()
}

impl Layer {
    /// The plan up to this layer.
    fn plan(self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        plan.scans.enabled &= self >= Self::Scans;
        plan.streams.enabled &= self >= Self::Streams;
        plan.identify.enabled &= self >= Self::Identify;
        plan.parse.enabled &= self >= Self::Parse;
        if self < Self::Records {
            plan.output.formats = vec![Format::None];
            (plan.output.to_stdout, plan.output.stream) = (false, None);
        }
        if self < Self::Checksums {
            plan.checksums = Checksums::None;
        }
        plan
    }
}

/// One of the pipelines.
pub(super) enum Pipeline {
    /// Nothing after the dispatch.
    Head(Box<Head>),
    /// Connections and nothing that observes them.
    Plain(Box<Whole<Explain>>),
    /// Connections, and stages that observe them.
    Full(Box<Whole<Watched<AllStages>>>),
}

/// The totals of a complete pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Ticks by step: reading, input, worker, its ticks, output.
    pub(super) steps: [u64; 5],
    /// Ticks in the watched pieces: the whole worker, and the stages after its table.
    pub(super) watched: [u64; 2],
    /// Packets and calls of stages in those pieces.
    pub(super) watched_packets: u64,
    pub(super) calls: u64,
    pub(super) packets: u64,
    pub(super) frame_bytes: u64,
    /// Connections, and the most that were open at a time.
    pub(super) connections: u64,
    pub(super) live_max: u64,
}

impl Pipeline {
    pub(super) fn new(
        layer: Layer,
        plan: &Plan,
        known: Option<&IdentifyRules>,
        control: &Control,
    ) -> Result<Self, RunError> {
        let source = open(plan, control)?;
        let plan = &layer.plan(plan);
        let secret = plan.dispatch_seed.unwrap_or(1);
        let (options, _) = division(plan, Shape::Single, secret);
        let input = InputStage::new(plan, options, source);
        if layer < Layer::Connections {
            return Ok(Self::Head(Box::new(Head {
                input,
                piece: Piece::default(),
                dispatches: layer > Layer::Read,
                slot: PacketMeta::default(),
            })));
        }
        if layer == Layer::Connections {
            let worker = worker(plan, ShardSet::ALL, Late::default(), secret, |_| {
                Ok(Explain {
                    id_seed: plan.id_seed,
                })
            })?;
            return Ok(Self::Plain(Box::new(Whole::new(
                plan, input, worker, control,
            )?)));
        }
        let known = known.filter(|_| plan.identify.enabled);
        let worker = worker(plan, ShardSet::ALL, Late::default(), secret, |table| {
            AllStages::new(plan, known, table).map(Watched::new)
        })?;
        Ok(Self::Full(Box::new(Whole::new(
            plan, input, worker, control,
        )?)))
    }

    /// Handles the next piece; false at the end of the input.
    pub(super) fn piece(&mut self) -> Result<bool, RunError> {
        match self {
            Self::Head(head) => head.piece(),
            Self::Plain(whole) => whole.piece(),
            Self::Full(whole) => {
                let is_watched = whole.pieces.is_multiple_of(WATCHED_EVERY);
                whole.lane.worker.stages().on = is_watched;
                let before = (whole.lane.cycles, whole.input.progress().packets);
                let is_more = whole.piece()?;
                if is_watched {
                    whole.watched_cycles += whole.lane.cycles - before.0;
                    whole.watched_packets += whole.input.progress().packets - before.1;
                }
                Ok(is_more)
            }
        }
    }

    /// Ends the connections that are open.
    pub(super) fn finish(&mut self) -> Result<(), RunError> {
        match self {
            Self::Head(_) => Ok(()),
            Self::Plain(whole) => whole.finish(),
            Self::Full(whole) => whole.finish(),
        }
    }

    pub(super) fn packets(&self) -> u64 {
        self.progress().packets
    }

    pub(super) fn progress(&self) -> Progress {
        match self {
            Self::Head(head) => head.input.progress(),
            Self::Plain(whole) => whole.input.progress(),
            Self::Full(whole) => whole.input.progress(),
        }
    }

    pub(super) fn totals(self) -> Totals {
        match self {
            Self::Head(head) => {
                let (_, summary) = head.input.finish();
                Totals {
                    packets: summary.packets,
                    frame_bytes: summary.frame_bytes,
                    ..Totals::default()
                }
            }
            Self::Plain(whole) => whole.totals(),
            Self::Full(mut whole) => {
                let watched = whole.watched_cycles;
                let watched_packets = whole.watched_packets;
                let stages = whole.lane.worker.stages();
                let (cycles, calls) = (stages.cycles, stages.calls);
                Totals {
                    watched: [watched, cycles],
                    watched_packets,
                    calls,
                    ..whole.totals()
                }
            }
        }
    }
}

const WATCHED_EVERY: u64 = 64;

/// Reads, finds packets, and optionally dispatches them.
pub(super) struct Head {
    input: InputStage,
    piece: Piece,
    dispatches: bool,
    slot: PacketMeta,
}

impl Head {
    fn piece(&mut self) -> Result<bool, RunError> {
        if !self.input.fill(&mut self.piece)? {
            return Ok(false);
        }
        if !self.dispatches {
            self.input.skip(&self.piece);
        } else {
            let mut lane = NoLane { slot: self.slot };
            let tick = self.input.walk(&self.piece, &mut lane);
            let batch = self.input.tick(tick);
            self.input.recycle(batch);
            self.slot = lane.slot;
        }
        Ok(true)
    }
}

/// Discards descriptors.
struct NoLane {
    slot: PacketMeta,
}

impl Lane for NoLane {
    fn slot(&mut self) -> &mut PacketMeta {
        &mut self.slot
    }

    fn commit(&mut self, _: &Piece) {}

    fn commit_datagram(&mut self, _: &Piece, _: &[u8]) {}
}

/// A pipeline with a connection table.
pub(super) struct Whole<O> {
    input: InputStage,
    lane: SingleLane<O, true>,
    output: Output,
    piece: Piece,
    pieces: u64,
    steps: [u64; 5],
    watched_cycles: u64,
    watched_packets: u64,
    /// Most connections open at the end of a piece.
    live_max: u64,
}

impl<O: Stages> Whole<O> {
    fn new(
        plan: &Plan,
        input: InputStage,
        worker: Worker<O>,
        control: &Control,
    ) -> Result<Self, RunError> {
        let nowhere = OutputPlan {
            to_stdout: plan.output.formats != [Format::None],
            ..plan.output.clone()
        };
        let writers = Writers::open_in(&nowhere, Box::new(Nowhere)).map_err(RunError::from)?;
        Ok(Self {
            input,
            lane: SingleLane::new(worker),
            output: Output::new(1, writers, plan, control),
            piece: Piece::default(),
            pieces: 0,
            steps: [0; 5],
            watched_cycles: 0,
            watched_packets: 0,
            live_max: 0,
        })
    }

    fn piece(&mut self) -> Result<bool, RunError> {
        self.pieces += 1;
        let start = tsc();
        if !self.input.fill(&mut self.piece)? {
            return Ok(false);
        }
        let filled = tsc();
        let worked = self.lane.cycles;
        let tick = self.input.walk(&self.piece, &mut self.lane);
        self.lane.finish_piece(&self.piece);
        let worked = self.lane.cycles - worked;
        let walked = tsc();
        let (delivery, batch) = (self.lane.worker.tick(tick), self.input.tick(tick));
        let ticked = tsc();
        self.live_max = self.live_max.max(self.lane.worker.live());
        self.output.push(WORKER, delivery);
        self.output.push(INPUT, batch);
        self.output.write(|source, batch| match source {
            WORKER => self.lane.worker.recycle(batch),
            _ => self.input.recycle(batch),
        })?;
        let spans = [
            filled - start,
            (walked - filled).saturating_sub(worked),
            worked,
            ticked - walked,
            tsc() - ticked,
        ];
        for (sum, span) in self.steps.iter_mut().zip(spans) {
            *sum += span;
        }
        Ok(true)
    }

    fn finish(&mut self) -> Result<(), RunError> {
        let start = tsc();
        self.lane.end(&mut self.output)?;
        self.steps[3] += tsc() - start;
        Ok(())
    }

    fn totals(self) -> Totals {
        let (_, summary) = self.input.finish();
        let (_, finished) = self.lane.worker.finish();
        Totals {
            steps: self.steps,
            packets: summary.packets,
            frame_bytes: summary.frame_bytes,
            connections: finished.report.connections,
            live_max: self.live_max,
            ..Totals::default()
        }
    }
}
