//! A pipeline of one thread without records, for commands that report while they read.
//!
//! Everything up to the stages is what a run does: the same filter, checksums, fragments, tunnels,
//! connections and identifiers.

pub(crate) mod explain;
pub(crate) mod fragments;
pub(crate) mod packets;
pub(crate) mod slice;
pub(crate) mod streams;
pub(crate) mod trial;
pub(crate) mod verdicts;
pub(crate) mod wanted;

use crate::aggregates::News;
use crate::input::{InputStage, InputSummary};
use crate::report::ProgressSink;
use crate::run::shape::Shape;
use crate::run::single::SingleLane;
use crate::run::{division, random, worker};
use crate::worker::stages::Stages;
use crate::worker::{Late, Worker};
use crate::{Control, RunError};
use flowpin_capture::Source;
use flowpin_config::{Format, OutputPlan, Plan};
use flowpin_flow::{ShardSet, Table};
use flowpin_packet::Piece;
use flowpin_record::RecordKey;
use std::io;

/// The plan without records.
pub(crate) fn silent(plan: &Plan) -> Plan {
    Plan {
        output: OutputPlan {
            formats: vec![Format::None],
            ..plan.output.clone()
        },
        ..plan.clone()
    }
}

/// Runs the whole input through one worker. `after` is called after each piece, and for each part
/// of the connections that end with the input, with the watermark and the aggregates' news.
pub(crate) fn run<O: Stages>(
    plan: &Plan,
    source: Source,
    (control, progress): (&Control, &dyn ProgressSink),
    stages: impl FnOnce(&Table) -> io::Result<O>,
    mut after: impl FnMut(&mut Worker<O>, RecordKey, News) -> Result<(), RunError>,
) -> Result<(Worker<O>, InputSummary), RunError> {
    let secret = random();
    let (options, _) = division(plan, Shape::Single, secret);
    let worker = worker(plan, ShardSet::ALL, Late::default(), secret, stages)?;
    let mut lane = SingleLane::<_>::new(worker);
    let mut input = InputStage::new(plan, options, source);
    let mut piece = Piece::default();
    while !control.is_stopped() && input.fill(&mut piece)? {
        let tick = input.walk(&piece, &mut lane);
        lane.finish_piece(&piece);
        let delivery = lane.worker.tick(tick);
        let watermark = delivery.records.watermark();
        lane.worker.recycle(delivery.records);
        let batch = input.tick(tick);
        input.recycle(batch);
        after(&mut lane.worker, watermark, delivery.news)?;
        progress.update(&input.progress());
        control.pulse();
    }
    let (_, summary) = input.finish();
    while let Some(delivery) = lane.worker.end_some() {
        let watermark = delivery.records.watermark();
        lane.worker.recycle(delivery.records);
        after(&mut lane.worker, watermark, delivery.news)?;
    }
    Ok((lane.worker, summary))
}
