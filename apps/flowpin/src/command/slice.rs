//! `flowpin slice`: from records back to packets.

use super::{SAME_RUN, plan, print, report_damage, require_input, sink};
use crate::cli::SliceArgs;
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::signals::Signals;
use crate::tell::tell;
use anyhow::anyhow;
use flowpin_disk::Output;
use flowpin_engine::{Control, RunError, SliceReport, Wanted};
use flowpin_words::number;
use std::io::ErrorKind;

/// Runs `flowpin slice`.
pub(crate) fn slice(args: &SliceArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.settings())?;
    plan.output.replace = args.force;
    require_input(&plan)?;
    let wanted = args
        .ids
        .iter()
        .map(|id| super::wanted(id))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    if wanted.is_empty() && plan.filter.is_empty() {
        return Err(Failure::usage(anyhow!(
            "nothing selected: name connections with `--uid`, or packets with `--filter`"
        )));
    }
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let bar = Bar::on_terminal();
    let outcome = flowpin_engine::slice(&plan, &wanted, &args.write, &control, sink(bar.as_ref()));
    if let Some(bar) = bar {
        bar.clear();
    }
    let found = match outcome {
        // `| head -c 100`: the reader needs no more.
        Err(RunError::SliceWrite { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {
            return Ok(Exit::Done);
        }
        outcome => outcome.map_err(|error| Failure::of_run(error, &plan))?,
    };
    if let Some(number) = signals.received() {
        return Ok(Exit::Signal(number));
    }
    if found.packets == 0 {
        report_damage(&found.inputs);
        return Err(Failure::failed(anyhow!(nothing_found(&wanted))));
    }
    let packets = number::things(found.packets, "packet");
    if Output::is_stdout(&args.write) {
        tell(packets);
    } else {
        print(&format!("{}: {packets}\n", args.write.display()))?;
    }
    if found.lacking > 0 {
        report_damage(&found.inputs);
        return Err(Failure::failed(anyhow!(
            "{} of {} not found; {SAME_RUN}",
            found.lacking,
            number::things(wanted.len() as u64, "connection")
        )));
    }
    Ok(damage(&found))
}

/// Reports damage, and returns whether there is any.
fn damage(found: &SliceReport) -> Exit {
    report_damage(&found.inputs);
    match found.inputs.iter().any(|input| input.damage.is_some()) {
        true => Exit::InputDamaged,
        false => Exit::Done,
    }
}

fn nothing_found(wanted: &[Wanted]) -> String {
    if wanted.is_empty() {
        "no packet matches the filter".to_owned()
    } else {
        format!("no packet found; {SAME_RUN}")
    }
}
