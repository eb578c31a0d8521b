//! The papers' rule from the first megabytes of the input, for `--pipeline auto`.

use super::passes::{Bench, Shown};
use super::pipeline::{Layer, Pipeline, layers};
use super::rule::{Handover, Rule};
use super::{per, quiet};
use crate::Control;
use crate::run::{PIECES_OUT, open};
use crate::worker::identify::IdentifyRules;
use flowpin_config::{Cut, Input, Plan};
use flowpin_cpu::tsc;

/// Inputs below this are done before threads would pay for looking.
const INPUT_BYTES_MIN: u64 = 128 << 20;

/// Pieces that each pipeline is measured with, after as many to warm up: 8 MiB of a long input, and
/// few enough of a shorter one that looking takes some hundredths of what the run will.
// PERF: 1,000,001 packets of 105 bytes (121 MB), 2-core virtual EPYC: with 8 MiB always, looking
// took 70 ms of processor time, where the run took 270.
fn pieces(input_bytes: u64) -> usize {
    let share = input_bytes / PIECE_BYTES / SHARE;
    usize::try_from(share).map_or(PIECES_MAX, |share| share.clamp(PIECES_MIN, PIECES_MAX))
}

const PIECE_BYTES: u64 = 256 << 10;
/// One piece in so many.
const SHARE: u64 = 128;
const PIECES_MIN: usize = 4;
const PIECES_MAX: usize = 32;

/// What threads would cost a packet, as [`super::profile`] finds it, from the first megabytes and
/// three pipelines: up to the dispatch, up to the checksums, all; and what handing over costs. None
/// if the input cannot be read twice, is too short to matter, or if others use the processors.
/// Nothing is written.
pub(crate) fn brief(plan: &Plan, known: Option<&IdentifyRules>) -> Option<Rule> {
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
    let pieces = pieces(bytes);
    let cycles = |layer: Layer| Some(measured(layer, pieces, plan, known, &control)?.0);
    // This one brings the file into memory, and counts for nothing.
    measured(Layer::Read, pieces.max(PIECES_OUT), plan, known, &control)?;
    let dispatch = cycles(Layer::Dispatch)?;
    let input = if all.contains(&Layer::Checksums) {
        cycles(Layer::Checksums)?.max(dispatch)
    } else {
        dispatch
    };
    let (whole, output) = measured(*all.last()?, pieces, plan, known, &control)?;
    let bench = Bench {
        plan,
        known,
        control: &control,
        shown: Shown::new(&(), 1),
    };
    let handover = |cut, alone: f64| -> Option<Handover> {
        let relayed = bench.relay(cut, PIECES_OUT + pieces, f64::INFINITY);
        match relayed.ok().flatten() {
            Some(relayed) if relayed.is_disturbed() => None,
            Some(relayed) => Some(relayed.beyond(alone)),
            None => Some(Handover::default()),
        }
    };
    let behind = handover(Cut::L3, input)?;
    let before = if input > dispatch {
        handover(Cut::L2, dispatch)?
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
    pieces: usize,
    plan: &Plan,
    known: Option<&IdentifyRules>,
    control: &Control,
) -> Option<(f64, f64)> {
    let mut lane = Pipeline::new(layer, plan, known, control).ok()?;
    for _ in 0..pieces {
        lane.piece().ok()?;
    }
    let (start, before) = (tsc(), lane.packets());
    for _ in 0..pieces {
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

#[cfg(test)]
mod tests {
    use super::{PIECES_MAX, PIECES_MIN, pieces};

    /// Looking is short beside the run: all pipelines together, each twice as long as it is
    /// measured, read at most a ninth of an input that is looked at at all.
    #[test]
    fn looking_is_short_beside_the_run() {
        let megabytes = |count: u64| pieces(count << 20);
        assert_eq!(megabytes(128), PIECES_MIN);
        assert_eq!(megabytes(1 << 10), 32);
        assert_eq!(pieces(u64::MAX), PIECES_MAX);
        for size in 128..4096 {
            let looked_at = 4 * 2 * megabytes(size) + 2 * (8 + megabytes(size));
            assert!(looked_at * 9 <= size as usize * 4, "{size} MiB");
        }
    }
}
