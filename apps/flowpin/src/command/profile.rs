//! `flowpin profile`: where the time goes; `flowpin plan`: what a link needs.

use super::{cache_folder, plan, print, require_input, sink};
use crate::cli::{PlanArgs, ProfileArgs};
use crate::exit::{Exit, Failure};
use crate::profile;
use crate::progress::Bar;
use crate::signals::Signals;
use crate::tell::tell_text;
use anyhow::{Context, anyhow};
use flowpin_config::{Input, Plan};
use flowpin_disk::{Existing, Output, Reads};
use flowpin_engine::{Control, Demand};
use std::io::Write;
use std::path::Path;

/// Runs `flowpin profile`.
pub(crate) fn profile(args: &ProfileArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.settings())?;
    require_input(&plan)?;
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    let existing = if args.force {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    let mut reads = read_by(&plan);
    reads.add_stdout();
    let outputs: Vec<&Path> = [&args.save, &args.svg]
        .into_iter()
        .flatten()
        .map(AsRef::as_ref)
        .collect();
    Output::check_all(&outputs, existing, &reads).map_err(Failure::usage)?;
    let has_stdout = outputs.iter().any(|path| Output::is_stdout(path));
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let bar = Bar::on_terminal();
    let there = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = args.cores.unwrap_or(there);
    let found = flowpin_engine::profile(&plan, cores, &control, sink(bar.as_ref()));
    if let Some(bar) = bar {
        bar.clear();
    }
    let found = found.map_err(|error| Failure::of_run(error, &plan))?;
    if let Some(number) = signals.received() {
        return Ok(Exit::Signal(number));
    }
    if found.packets == 0 {
        return Err(Failure::failed(anyhow!(
            "the input has no packets to measure with"
        )));
    }
    let json = profile::json(&found);
    let json = serde_json::to_string_pretty(&json).map_err(Failure::failed)?;
    if let Some(path) = &args.save {
        write(path, &json, existing, &mut reads)?;
    }
    if let Some(path) = &args.svg {
        write(path, &profile::picture(&found), existing, &mut reads)?;
    }
    let text = match args.json {
        true => format!("{json}\n"),
        false => profile::table(&found),
    };
    // A file that is written there stays what it is.
    if has_stdout {
        tell_text(&text);
    } else {
        print(&text)?;
    }
    Ok(Exit::Done)
}

/// Files that a run of this plan reads, as far as the plan names them.
pub(super) fn read_by(plan: &Plan) -> Reads {
    let mut reads = Reads::standard_input();
    for input in &plan.inputs {
        if let Input::File(path) | Input::Directory(path) = input {
            reads.add_path(path);
        }
    }
    let others = plan.settings_file.iter().chain(&plan.parse.grammars);
    let others = others.chain(&plan.parse.fix_dictionaries);
    others.for_each(|path| reads.add_file(path));
    plan.identify
        .patterns
        .iter()
        .for_each(|path| reads.add_path(path));
    reads
}

/// Writes a file, which later ones of this command must not replace.
fn write(path: &Path, text: &str, existing: Existing, reads: &mut Reads) -> Result<(), Failure> {
    let written = Output::open(path, existing, reads).and_then(|mut output| {
        let made = output.made();
        output.write_all(text.as_bytes())?;
        output.keep()?;
        Ok(made)
    });
    let made = written
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(Failure::failed)?;
    if let Some(made) = made {
        reads.add_written(made, path);
    }
    Ok(())
}

/// Runs `flowpin plan`.
pub(crate) fn plan_link(args: &PlanArgs) -> Result<Exit, Failure> {
    let is_sane = |value: f64| value.is_finite() && value > 0.0;
    if !is_sane(args.gbps) || !is_sane(args.packet) {
        return Err(Failure::usage(anyhow!(
            "--gbps and --packet must be above 0"
        )));
    }
    let path = args.profile.display();
    let mut reads = Reads::default();
    reads.add_file(&args.profile);
    reads.check_stdout().map_err(Failure::usage)?;
    let text = flowpin_disk::read_given_text(&args.profile)
        .with_context(|| format!("cannot read {path}"))
        .map_err(Failure::usage)?;
    let rule = profile::rule(&text)
        .with_context(|| format!("{path} was not written by `flowpin profile --save`"))
        .map_err(Failure::usage)?;
    let demand = Demand {
        gbits_per_s: args.gbps,
        packet_len: args.packet,
    };
    let need = rule.need(&demand);
    if args.json {
        let json = profile::need_json(&demand, &need);
        let json = serde_json::to_string_pretty(&json).map_err(Failure::failed)?;
        print(&format!("{json}\n"))?;
    } else {
        print(&profile::need_text(&demand, &need, &rule))?;
    }
    Ok(Exit::Done)
}
