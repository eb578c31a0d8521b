//! `flowpin identify`: the protocol of each connection.

use super::{
    cache_folder, damage_reported, plan, print, require_input, require_stdout, sink, tell_losses,
};
use crate::cli::{IdentifyArgs, ListFormat};
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::signals::Signals;
use crate::summary::{self, Detail};
use crate::tell::tell;
use crate::verdicts::Lister;
use flowpin_engine::{Control, ListSink, Listed, RunError};
use std::io::{ErrorKind, IsTerminal};

/// Runs `flowpin identify`.
pub(crate) fn identify(args: &IdentifyArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.settings())?;
    require_input(&plan)?;
    require_stdout()?;
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    // Rows would be written into the progress bar.
    let shares_terminal = !args.totals && std::io::stdout().is_terminal();
    let bar = Bar::on_terminal().filter(|_| !shares_terminal);
    let mut lister = Lister::on_stdout(args.format, &args.only);
    let outcome = if args.totals {
        flowpin_engine::identify(&plan, &mut TotalsOnly, &control, sink(bar.as_ref()))
    } else {
        flowpin_engine::identify(&plan, &mut lister, &control, sink(bar.as_ref()))
    };
    if let Some(bar) = bar {
        bar.clear();
    }
    let outcome = outcome.and_then(|report| {
        if !args.totals {
            let totals = summary::protocols(&report, Detail::All);
            let gap = if totals.is_empty() { "" } else { "\n" };
            lister.finish(&format!("{gap}{totals}"))?;
        }
        Ok(report)
    });
    let report = match outcome {
        Err(RunError::StreamWrite { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {
            return Ok(Exit::Done);
        }
        outcome => outcome.map_err(|error| Failure::of_run(error, &plan))?,
    };
    if args.totals {
        print(&summary::protocols(&report, Detail::All))?;
    } else if lister.listed == 0 && args.format == ListFormat::Table {
        tell("flowpin: no connection matches");
    }
    tell_losses(&report);
    Ok(damage_reported(&report, plan.accept_damage, &signals))
}

/// Ignores single connections.
struct TotalsOnly;

impl ListSink for TotalsOnly {
    fn connection(&mut self, _: &Listed) -> Result<(), RunError> {
        Ok(())
    }
}
