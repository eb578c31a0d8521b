//! What the stages cost on the first packets of the input, to choose a shape from.

use crate::Control;
use crate::input::InputStage;
use crate::output::Output;
use crate::output::messages;
use crate::run::memory;
use crate::run::shape::{Shape, StageCosts};
use crate::run::single::SingleLane;
use crate::run::{division, open};
use crate::worker::identification::Identification;
use crate::worker::stages::{AllStages, Planned};
use crate::worker::{Late, Worker};
use flowpin_config::{FilesPlan, Format, Input, OutputPlan, Plan};
use flowpin_cpu::tsc;
use flowpin_flow::ShardSet;
use flowpin_output::{Formatter, Storage, Target, Writers};
use flowpin_packet::Piece;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Pieces that are measured: 8 MiB, behind as many to warm up.
const PIECES: u64 = 32;

/// Inputs below this are done before threads would pay.
const INPUT_BYTES_MIN: u64 = 32 << 20;

/// Cycles a packet of each stage, measured on the first megabytes of the input, whose records go
/// nowhere; none if they cannot be read twice, or are too few to matter.
pub(crate) fn costs(
    plan: &Plan,
    known: Option<&Identification>,
    secret: u64,
) -> Option<StageCosts> {
    if plan.inputs.contains(&Input::Stdin) {
        return None;
    }
    let control = Control::default();
    let source = open(plan, &control).ok()?;
    if source.progress().bytes_total? < INPUT_BYTES_MIN {
        return None;
    }
    let (options, _) = division(plan, Shape::Single, secret);
    let mut input = InputStage::new(plan, options, source);
    let formatter = Formatter::with_messages(&plan.output, &messages::schemas(plan));
    let flow = memory::flow(plan);
    let shards = ShardSet::ALL;
    let plan = &Plan {
        files: FilesPlan {
            extract: None,
            ..plan.files.clone()
        },
        ..plan.clone()
    };
    let count = u32::try_from(shards.len()).unwrap_or(0);
    let worker = Worker::new(&flow, shards, formatter, Late::default(), secret, |table| {
        AllStages::new(plan, known, count, table.capacity())
    })
    .ok()?;
    let mut lane = SingleLane::<AllStages, true>::new(worker);
    // Nothing may be created on disk: as if for standard output, which goes nowhere.
    let to_stdout = plan.output.formats != [Format::None];
    let nowhere = OutputPlan {
        to_stdout,
        ..plan.output.clone()
    };
    let mut output = Output::new(
        1,
        Writers::open_in(&nowhere, Box::new(Nowhere)).ok()?,
        plan,
        &control,
    );
    let mut piece = Piece::default();
    let mut sums = Sums::default();
    for number in 0..2 * PIECES {
        if number == PIECES {
            sums = Sums {
                packets_before: input.progress().packets,
                ..Sums::default()
            };
            lane.cycles = 0;
        }
        let start = tsc();
        if !input.fill(&mut piece).ok()? {
            break;
        }
        let tick = input.walk(&piece, &mut lane);
        lane.finish_piece(&piece);
        let walked = tsc();
        output.push(0, lane.worker.tick(tick));
        output.push(1, input.tick(tick.time));
        let ticked = tsc();
        output
            .write(|source, batch| match source {
                0 => lane.worker.recycle(batch),
                _ => input.recycle(batch),
            })
            .ok()?;
        sums.walk += walked - start;
        sums.tick += ticked - walked;
        sums.output += tsc() - ticked;
    }
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let per_packet = {
        let packets = (input.progress().packets - sums.packets_before).max(1) as f64;
        move |cycles: u64| cycles as f64 / packets
    };
    Some(StageCosts {
        input: per_packet(sums.walk.saturating_sub(lane.cycles)),
        worker: per_packet(lane.cycles + sums.tick),
        output: per_packet(sums.output),
    })
}

#[derive(Debug, Default)]
struct Sums {
    packets_before: u64,
    walk: u64,
    tick: u64,
    output: u64,
}

/// Takes everything and keeps nothing.
pub(crate) struct Nowhere;

impl Storage for Nowhere {
    fn create(&mut self, _: &Path) -> io::Result<Box<dyn Target>> {
        Ok(Box::new(Self))
    }

    fn stdout(&mut self) -> io::Result<Box<dyn Target>> {
        Ok(Box::new(Self))
    }
}

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

impl Target for Nowhere {
    fn cut(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}
