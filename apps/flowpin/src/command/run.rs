//! `flowpin run`: from captures to records and a summary.

use super::{cache_folder, damage_reported, plan, print, read_by, require_input};
use crate::cli::RunArgs;
use crate::counters::Counters;
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::service::Metrics;
use crate::signals::Signals;
use crate::summary::{self, Detail};
use crate::tell::{tell, tell_text};
use anyhow::anyhow;
use flowpin_config::{Address, Input, Plan, Settings};
use flowpin_disk::Reads;
use flowpin_engine::{Control, RunReport};
use std::io::IsTerminal;

/// Runs `flowpin run`.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.settings())?;
    if (args.show.print_config || args.show.test) && Reads::may_hold_stdout() {
        read_by(&plan).check_stdout().map_err(Failure::usage)?;
    }
    if args.show.print_config {
        print(&Settings::from(&plan).to_commented_toml()?)?;
        return Ok(Exit::Done);
    }
    require_input(&plan)?;
    plan.output.replace = args.output.force;
    if args.show.test {
        return test(plan);
    }
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    let control = Control::default().telling(|text| tell(format_args!("flowpin: {text}")));
    let control = reading_again(args, control)?;
    let counters = Counters::new(&control, bar(args, &plan));
    let (reopens, asked) = (control.clone(), counters.clone());
    let (reloads, is_live) = (control.clone(), plan.is_live());
    let on_reload = move || match is_live {
        true => reloads.reload(),
        false => tell("flowpin: not reloaded: only a live run (-i) takes other settings"),
    };
    let (on_hangup, on_user) = (move || reopens.reopen_outputs(), move || asked.print());
    let on_user = (on_user, on_reload);
    let signals = Signals::listen(&control, on_hangup, on_user).map_err(Failure::failed)?;
    if let Some(Address(address)) = plan.live.metrics {
        Metrics::serve(address, &control, &counters).map_err(|error| {
            Failure::usage(anyhow!("cannot listen on {address} (--metrics): {error}"))
        })?;
    }
    let outcome = flowpin_engine::run(&plan, &control, &counters);
    counters.clear();
    let report = outcome.map_err(|error| Failure::of_run(error, &plan))?;
    show(args, &plan, &report)?;
    Ok(damage_reported(&report, plan.accept_damage, &signals))
}

/// With what reads filter and rules of these arguments again, as they are by then.
fn reading_again(args: &RunArgs, control: Control) -> Result<Control, Failure> {
    let flags = args.settings().map_err(Failure::usage)?;
    let file = args.input.config.clone();
    Ok(control.reading_again(move || {
        let flags = flags.clone();
        let plan = match &file {
            Some(path) => flags.into_plan_over_file(path),
            None => flags.into_plan(),
        };
        let mut plan = plan.map_err(|error| error.to_string())?;
        plan.identify.cache = plan.identify.cache.or_else(cache_folder);
        crate::rules::load(&mut plan).map_err(|failure| failure.to_string())?;
        Ok(plan)
    }))
}

/// `-T`: all checks that are possible without a run. Standard input is not read, because that is
/// possible only once.
fn test(mut plan: Plan) -> Result<Exit, Failure> {
    plan.inputs.retain(|input| *input != Input::Stdin);
    if !plan.inputs.is_empty() || plan.is_live() {
        flowpin_engine::check(&plan).map_err(|error| Failure::of_run(error, &plan))?;
    }
    print("the configuration, the inputs and the filter are good\n")?;
    Ok(Exit::Done)
}

/// A bar, unless records go to the same terminal.
fn bar(args: &RunArgs, plan: &Plan) -> Option<Bar> {
    let shares_terminal = plan.output.to_stdout && std::io::stdout().is_terminal();
    if args.show.quiet || shares_terminal {
        return None;
    }
    Bar::on_terminal()
}

/// The summary is the result of the run and goes to standard output, unless the records do.
fn show(args: &RunArgs, plan: &Plan, report: &RunReport) -> Result<(), Failure> {
    if args.show.quiet && !args.show.json {
        return Ok(());
    }
    let detail = if args.show.verbose {
        Detail::All
    } else {
        Detail::Some
    };
    let text = if args.show.json {
        summary::json(report).map_err(Failure::failed)?
    } else {
        summary::text(report, detail, summary::width(plan.output.to_stdout))
    };
    if plan.output.to_stdout {
        tell_text(&text);
        Ok(())
    } else {
        print(&text)
    }
}
