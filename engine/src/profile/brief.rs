//! The papers' rule from the first megabytes of the input, for `--pipeline auto`.

use super::passes::{Bench, Shown};
use super::pipeline::{Layer, Pipeline, layers};
use super::rule::{Handover, Rule};
use super::{per, quiet, size};
use crate::Control;
use crate::run::PIECES_OUT;
use crate::worker::identify::IdentifyRules;
use flowpin_config::{Cut, Input, Plan};
use flowpin_cpu::tsc;

/// Pieces that each pipeline is measured with, after as many to warm up: 8 MiB of a long input, and
/// fewer of a shorter one, so that measuring takes a few per cent of the run.
// PERF: 1,000,001 packets of 105 bytes (121 MB), 2-core virtual EPYC: with 8 MiB always, measuring
// took 70 ms of processor time, where the run took 270.
fn pieces(input_bytes: u64) -> usize {
    let share = input_bytes / PIECE_BYTES / SHARE;
    usize::try_from(share).map_or(PIECES_MAX, |share| share.clamp(PIECES_MIN, PIECES_MAX))
}

const PIECE_BYTES: u64 = 256 << 10;
/// One piece of this many is measured.
const SHARE: u64 = 256;
const PIECES_MIN: usize = 4;
const PIECES_MAX: usize = 32;

/// The costs of the stages a packet, as [`super::profile`] finds them, but from the first megabytes
/// and three pipelines: up to the dispatch, up to the checksums, all; and the cost of handing over.
/// None if the input cannot be read twice, or if other processes use the processors. Nothing is
/// written.
pub(crate) fn brief(plan: &Plan, known: Option<&IdentifyRules>) -> Option<Rule> {
    if plan.inputs.contains(&Input::Stdin) {
        return None;
    }
    let control = Control::default();
    let (bytes, is_packed) = size(plan, &control).ok()?;
    let bytes = bytes?;
    let plan = &quiet(plan);
    let all = layers(plan);
    let pieces = pieces(bytes);
    let cycles = |layer: Layer| Some(measured(layer, pieces, plan, known, &control)?.0);
    // This pass loads the file into memory and is not counted.
    measured(Layer::Read, pieces.max(PIECES_OUT), plan, known, &control)?;
    let read_in_turns = if is_packed { cycles(Layer::Read)? } else { 0.0 };
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
    let after = handover(Cut::L3, input)?;
    let before = if input > dispatch {
        handover(Cut::L2, dispatch)?
    } else {
        after
    };
    Some(Rule {
        hertz: 1.0,
        read_in_turns,
        checksums: input - dispatch,
        input,
        worker: (whole - input - output).max(0.0),
        output,
        handover: [after, before],
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
    let totals = lane.totals();
    let [.., output] = totals.steps;
    let each = |cycles: u64, packets: u64| {
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let cycles = cycles as f64;
        per(cycles, packets)
    };
    Some((each(cycles, packets), each(output, totals.packets)))
}

#[cfg(test)]
mod tests {
    use super::{PIECES_MAX, PIECES_MIN, pieces};

    /// Measuring is short compared with the run: all pipelines together, warm-up included, read at
    /// most a sixteenth of an input that is measured at all.
    #[test]
    fn measuring_is_short_compared_with_the_run() {
        let megabytes = |count: u64| pieces(count << 20);
        assert_eq!(megabytes(256), PIECES_MIN);
        assert_eq!(megabytes(1 << 10), 16);
        assert_eq!(pieces(u64::MAX), PIECES_MAX);
        for size in 256..4096 {
            let measured = 4 * 2 * megabytes(size) + 2 * (8 + megabytes(size));
            assert!(measured * 16 <= size as usize * 4, "{size} MiB");
        }
    }
}
