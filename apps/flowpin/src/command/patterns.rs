//! `flowpin patterns`: checks of patterns, and the built-in protocols.

use super::{cache_folder, plan, print, report_damage, sink};
use crate::cli::{PageFormat, PatternsCommand, TestArgs};
use crate::exit::{Exit, Failure};
use crate::patterns;
use crate::progress::Bar;
use crate::signals::Signals;
use flowpin_engine::{Control, PatternsReport};

/// Runs `flowpin patterns`.
pub(crate) fn patterns(what: &PatternsCommand) -> Result<Exit, Failure> {
    match what {
        PatternsCommand::Test(args) => test(args),
        PatternsCommand::List { format } => list(*format),
    }
}

fn list(format: PageFormat) -> Result<Exit, Failure> {
    let protocols = flowpin_engine::protocols()?;
    print(&match format {
        PageFormat::Table => patterns::list(&protocols),
        PageFormat::Json => patterns::list_json(&protocols).map_err(Failure::failed)?,
    })?;
    Ok(Exit::Done)
}

fn test(args: &TestArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.settings())?;
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let bar = Bar::on_terminal();
    let outcome = flowpin_engine::try_patterns(&plan, &control, sink(bar.as_ref()));
    if let Some(bar) = bar {
        bar.clear();
    }
    let report = outcome.map_err(|error| Failure::of_run(error, &plan))?;
    print(&match args.format {
        PageFormat::Table => patterns::trial(&report),
        PageFormat::Json => patterns::trial_json(&report).map_err(Failure::failed)?,
    })?;
    report_damage(&report.inputs);
    Ok(exit(&report, &signals))
}

fn exit(report: &PatternsReport, signals: &Signals) -> Exit {
    match signals.received() {
        Some(number) if report.stopped_early => Exit::Signal(number),
        _ if !report.refused.is_empty() => Exit::Usage,
        _ if report.inputs.iter().any(|input| input.damage.is_some()) => Exit::InputDamaged,
        _ => Exit::Done,
    }
}
