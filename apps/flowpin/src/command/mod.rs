//! The commands.

mod bench;
mod compile;
mod doctor;
mod explain;
mod generate;
mod identify;
mod patterns;
mod profile;
mod rules;
mod run;
mod slice;
mod streams;
mod trace;

pub(crate) use bench::bench;
pub(crate) use compile::compile;
pub(crate) use doctor::doctor;
pub(crate) use explain::explain;
pub(crate) use generate::{completions, manual};
pub(crate) use identify::identify;
pub(crate) use patterns::patterns;
use profile::read_by;
pub(crate) use profile::{plan_link, profile};
pub(crate) use rules::rules;
pub(crate) use run::run;
pub(crate) use slice::slice;
pub(crate) use streams::streams;
pub(crate) use trace::generate;

use crate::cli::InputArgs;
use crate::exit::{Exit, Failure};
use crate::grammars;
use crate::progress::Bar;
use crate::signals::Signals;
use crate::tell::tell;
use flowpin_config::{Plan, Settings};
use flowpin_engine::{InputReport, ProgressSink, RunReport, Wanted};
use std::io::{self, Write};
use std::path::PathBuf;

/// The plan from the defaults, the file that `-c` names, and the flags.
fn plan(input: &InputArgs, flags: anyhow::Result<Settings>) -> Result<Plan, Failure> {
    let flags = flags.map_err(Failure::usage)?;
    let mut plan = match &input.config {
        Some(path) => flags.into_plan_over_file(path)?,
        None => flags.into_plan()?,
    };
    grammars::load(&mut plan)?;
    crate::rules::load(&mut plan)?;
    Ok(plan)
}

/// The user's cache folder (XDG base directories); none if the environment does not define it.
fn cache_folder() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = of("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(of("HOME")?.join(".cache")));
    cache
        .filter(|path| path.is_absolute())
        .map(|path| path.join("flowpin"))
}

/// A plan without input can be printed, but not run.
fn require_input(plan: &Plan) -> Result<(), Failure> {
    if plan.inputs.is_empty() && !plan.is_live() {
        return Err(Failure::usage(anyhow::anyhow!(
            "no input: name a capture or a directory with `-r`, or use `-r -` for standard input"
        )));
    }
    if plan.live.record.is_some() && !plan.is_live() {
        return Err(Failure::usage(anyhow::anyhow!(
            "`-w` records what is captured from an interface (`-i`); `flowpin slice -w FILE` \
             writes packets of a capture"
        )));
    }
    let live = &plan.live;
    let divides = live.record_every_ns.is_some() || live.record_bytes_max.is_some();
    if divides && live.record.is_none() {
        return Err(Failure::usage(anyhow::anyhow!(
            "`--write-rotate` divides a recording: name it with `-w FILE`"
        )));
    }
    if live.record_keep.is_some() && !divides {
        return Err(Failure::usage(anyhow::anyhow!(
            "`--write-keep` counts the files of `--write-rotate`: give that, too"
        )));
    }
    Ok(())
}

/// The connection that `text` names: by uid, flow_id or Community ID.
fn wanted(text: &str) -> anyhow::Result<Wanted> {
    text.parse()
        .map_err(|error| anyhow::anyhow!("`{text}` does not name a connection: {error}"))
}

/// Advice if a connection is not found.
const SAME_RUN: &str = "use the input, --timeouts, --memory, --id-seed and --community-seed of the \
                        run that wrote the identifier";

/// Where the engine reports its progress.
fn sink(bar: Option<&Bar>) -> &dyn ProgressSink {
    match bar {
        Some(bar) => bar,
        None => &(),
    }
}

/// Reports damage, and returns how the run ended.
fn damage_reported(report: &RunReport, signals: &Signals) -> Exit {
    report_damage(&report.inputs);
    match signals.received() {
        Some(number) if report.stopped_early => Exit::Signal(number),
        _ if report.is_damaged() => Exit::InputDamaged,
        _ => Exit::Done,
    }
}

/// Prints one line for each damaged input, also without a summary.
fn report_damage(inputs: &[InputReport]) {
    for input in inputs {
        if let Some(damage) = &input.damage {
            let rest = match (input.unopened, inputs.len()) {
                (true, _) => "the other inputs are analysed",
                (false, 1) => "everything before it is analysed",
                (false, _) => "everything before it and the other inputs are analysed",
            };
            tell(format_args!(
                "flowpin: {}: {damage}; {rest}",
                input.path.display()
            ));
        }
    }
}

/// An error if standard output was closed: what is printed there would be lost.
fn require_stdout() -> Result<(), Failure> {
    flowpin_disk::stdout().map(drop).map_err(unwritable)
}

fn unwritable(error: io::Error) -> Failure {
    Failure::failed(anyhow::Error::new(error).context("cannot write to standard output"))
}

/// Writes to standard output; it is not an error if the reader has closed it.
fn print(text: &str) -> Result<(), Failure> {
    require_stdout()?;
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(()),
    }
}
