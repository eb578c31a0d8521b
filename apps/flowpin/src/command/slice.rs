//! `flowpin slice`: from records back to packets.

use super::{plan, print, require_input, sink};
use crate::cli::SliceArgs;
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::signals::Signals;
use crate::summary::number;
use anyhow::{Context, anyhow};
use flowpin_engine::Control;
use flowpin_record::Uid;
use std::path::Path;

/// Does what `flowpin slice` was told.
pub(crate) fn slice(args: &SliceArgs) -> Result<Exit, Failure> {
    let plan = plan(&args.input, args.settings())?;
    require_input(&plan)?;
    let uids = args
        .uids
        .iter()
        .map(String::as_str)
        .map(uid)
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    if uids.is_empty() && plan.filter.is_empty() {
        return Err(Failure::usage(anyhow!(
            "nothing chosen: name connections with `--uid`, or packets with `--filter`"
        )));
    }
    let control = Control::default();
    let signals = Signals::install(&control.stop).map_err(Failure::failed)?;
    let bar = Bar::on_terminal();
    let outcome = flowpin_engine::slice(&plan, &uids, &args.write, &control, sink(bar.as_ref()));
    if let Some(bar) = bar {
        bar.clear();
    }
    let found = outcome?;
    if let Some(number) = signals.received() {
        return Ok(Exit::Signal(number));
    }
    if found.packets == 0 {
        return Err(Failure::failed(anyhow!(nothing_found(&uids))));
    }
    let packets = number::things(found.packets, "packet");
    if args.write == Path::new("-") {
        anstream::eprintln!("{packets}");
    } else {
        print(&format!("{}: {packets}\n", args.write.display()))?;
    }
    let lacking = uids.len().saturating_sub(found.connections);
    if lacking > 0 {
        return Err(Failure::failed(anyhow!(
            "{lacking} of {} connections not found; {SAME_RUN}",
            uids.len()
        )));
    }
    Ok(Exit::Done)
}

fn nothing_found(uids: &[Uid]) -> String {
    if uids.is_empty() {
        "no packet passes the filter".to_owned()
    } else {
        format!("no packet found; {SAME_RUN}")
    }
}

fn uid(text: &str) -> anyhow::Result<Uid> {
    if !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit()) {
        return Err(anyhow!(
            "`{text}` looks like EVE's flow_id: give the record's `flowpin.uid` instead"
        ));
    }
    text.parse()
        .with_context(|| format!("`{text}` is not a connection's uid"))
}

const SAME_RUN: &str =
    "are the input, --timeouts, --memory and --id-seed those of the run that wrote the uid?";
