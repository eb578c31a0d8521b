//! The papers' rule from the first megabytes of the input, for `--pipeline auto`.

use super::passes::{Bench, Shown};
use super::pipeline::{Layer, Pipeline, layers};
use super::rule::{Handover, Rule};
use super::{per, quiet};
use crate::Control;
use crate::run::open;
use crate::worker::identification::Identification;
use flowpin_config::{Cut, Input, Plan};
use flowpin_cpu::tsc;

/// Pieces that each pipeline is measured with: 8 MiB, behind as many to warm up.
const PIECES: usize = 32;

/// Inputs below this are done before threads would pay.
const INPUT_BYTES_MIN: u64 = 32 << 20;

/// What threads would cost a packet, as [`super::profile`] finds it, from the first megabytes and
/// three pipelines: up to the dispatch, up to the checksums, all; and what handing over costs. None
/// if the input cannot be read twice, or is too short to matter. Nothing is written.
pub(crate) fn brief(plan: &Plan, known: Option<&Identification>) -> Option<Rule> {
    if plan.inputs.contains(&Input::Stdin) {
        return None;
    }
    let control = Control::default();
    let bytes = open(plan, &control).ok()?.progress().bytes_total?;
    if bytes < INPUT_BYTES_MIN {
        return None;
    }
    let plan = &quiet(plan);
    let all = layers(plan);
    let cycles = |layer: Layer| Some(measured(layer, plan, known, &control)?.0);
    // The first one brings the file into memory, and counts for nothing.
    cycles(Layer::Read)?;
    let dispatch = cycles(Layer::Dispatch)?;
    let input = if all.contains(&Layer::Checksums) {
        cycles(Layer::Checksums)?.max(dispatch)
    } else {
        dispatch
    };
    let (whole, output) = measured(*all.last()?, plan, known, &control)?;
    let bench = Bench {
        plan,
        known,
        control: &control,
        shown: Shown::new(&(), 1),
    };
    let handover = |cut, alone: f64| -> Handover {
        let relayed = bench.relay(cut, PIECES, f64::INFINITY).ok().flatten();
        relayed.map_or_else(Handover::default, |relayed| relayed.beyond(alone))
    };
    let behind = handover(Cut::L3, input);
    let before = if input > dispatch {
        handover(Cut::L2, dispatch)
    } else {
        behind
    };
    Some(Rule {
        hertz: 1.0,
        checksums: input - dispatch,
        input,
        worker: (whole - input - output).max(0.0),
        output,
        handover: [behind, before],
        ..Rule::default()
    })
}

/// Cycles a packet of the pipeline up to a layer, and those of its output.
fn measured(
    layer: Layer,
    plan: &Plan,
    known: Option<&Identification>,
    control: &Control,
) -> Option<(f64, f64)> {
    let mut lane = Pipeline::new(layer, plan, known, control).ok()?;
    for _ in 0..PIECES {
        lane.piece().ok()?;
    }
    let (start, before) = (tsc(), lane.packets());
    for _ in 0..PIECES {
        if !lane.piece().ok()? {
            break;
        }
    }
    let (cycles, packets) = (tsc().wrapping_sub(start), lane.packets() - before);
    let told = lane.tell();
    let [.., output] = told.steps;
    let each = |cycles: u64, packets: u64| {
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let cycles = cycles as f64;
        per(cycles, packets)
    };
    Some((each(cycles, packets), each(output, told.packets)))
}
