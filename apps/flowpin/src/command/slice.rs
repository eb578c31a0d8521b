//! `flowpin slice`: from records back to packets.

use super::{SAME_RUN, cache_folder, plan, print, report_damage, require_input, sink};
use crate::cli::SliceArgs;
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::signals::Signals;
use crate::tell::tell;
use anyhow::anyhow;
use flowpin_config::Plan;
use flowpin_disk::Output;
use flowpin_engine::{Control, RunError, SliceReport, Wanted};
use flowpin_rule::AlertLedger;
use flowpin_words::number;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::sync::Arc;

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
    let by_rules = !args.sids.is_empty();
    if wanted.is_empty() && plan.filter.is_empty() && !by_rules {
        return Err(Failure::usage(anyhow!(
            "nothing selected: name connections with `--uid`, those that rules alert of with \
             `--sid`, or packets with `--filter`"
        )));
    }
    let ledger = by_rules.then(|| Arc::new(AlertLedger::of(args.sids.iter().copied())));
    check_rules(&plan, &args.sids)?;
    plan.rules.alerted.clone_from(&ledger);
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
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
        return Err(Failure::failed(anyhow!(nothing_found(&wanted, by_rules))));
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
    if found.lost > 0 {
        report_damage(&found.inputs);
        let lost = number::things(found.lost as u64, "connection");
        return Err(Failure::failed(anyhow!(
            "{lost} that rules alert of not found again: raise `--memory`"
        )));
    }
    let silent = ledger.map(|ledger| ledger.silent()).unwrap_or_default();
    if !silent.is_empty() {
        report_damage(&found.inputs);
        let silent: Vec<String> = silent.iter().map(u32::to_string).collect();
        return Err(Failure::failed(anyhow!(
            "no alert of {}",
            silent.join(", ")
        )));
    }
    Ok(damage(&found))
}

/// Refuses numbers that no rule has, and rules without `--sid`.
fn check_rules(plan: &Plan, sids: &[u32]) -> Result<(), Failure> {
    let rules = plan.rules.loaded.as_ref();
    let Some(set) = rules else {
        return match sids {
            [] => Ok(()),
            _ => Err(Failure::usage(anyhow!(
                "`--sid` names rules: give them with `-S PATH`"
            ))),
        };
    };
    if sids.is_empty() {
        return Err(Failure::usage(anyhow!(
            "rules select connections by what they alert of: name some with `--sid`"
        )));
    }
    let known: HashSet<u32> = set.rules.iter().map(|rule| rule.sid).collect();
    match sids.iter().find(|sid| !known.contains(sid)) {
        Some(sid) => Err(Failure::usage(anyhow!("no rule has the number {sid}"))),
        None => Ok(()),
    }
}

/// Reports damage, and returns whether there is any.
fn damage(found: &SliceReport) -> Exit {
    report_damage(&found.inputs);
    match found.inputs.iter().any(|input| input.damage.is_some()) {
        true => Exit::InputDamaged,
        false => Exit::Done,
    }
}

fn nothing_found(wanted: &[Wanted], by_rules: bool) -> String {
    if by_rules && wanted.is_empty() {
        "no packet found: these rules have not alerted".to_owned()
    } else if wanted.is_empty() {
        "no packet matches the filter".to_owned()
    } else {
        format!("no packet found; {SAME_RUN}")
    }
}
