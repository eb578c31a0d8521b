//! The commands.

mod bench;
mod compile;
mod doctor;
mod explain;
mod generate;
mod identify;
mod merge;
mod patterns;
mod plain;
mod profile;
mod rules;
mod rules_profile;
mod run;
mod slice;
mod streams;
mod trace;
mod watch;

pub(crate) use bench::bench;
pub(crate) use compile::compile;
pub(crate) use doctor::doctor;
pub(crate) use explain::explain;
pub(crate) use generate::{completions, manual};
pub(crate) use identify::identify;
pub(crate) use merge::merge;
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
use flowpin_config::{CaptureMethod, Format, OutputPlan, PeerAddress, Plan, Settings};
use flowpin_engine::{InputReport, ProgressSink, RunReport, Wanted};
use flowpin_explanation::SAME_RUN;
use flowpin_words::number;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    match without_effect(plan) {
        Some(why) => Err(Failure::usage(anyhow::anyhow!(why))),
        None => Ok(()),
    }
}

/// What an option that would do nothing lacks: who gave it expects something of it.
fn without_effect(plan: &Plan) -> Option<&'static str> {
    let (live, output) = (&plan.live, &plan.output);
    let divides = live.record_every_ns.is_some() || live.record_bytes_max.is_some();
    let has_eve = output.is_one_place() || output.formats.contains(&Format::Eve);
    let is_default = output.stats_every_ns == OutputPlan::default().stats_every_ns;
    let record_if = live.record_if.as_ref();
    let all = [
        (
            record_if.is_some_and(|wanted| wanted.alert)
                && plan.rules.files.is_empty()
                && plan.rules.indicators.is_empty(),
            "`--record-if alert` records what rules alert of: name them with `-S PATH`, or lists \
             with `--indicators`",
        ),
        (
            record_if.is_some_and(|wanted| wanted.scan) && !plan.scans.enabled,
            "`--record-if scan` needs the search for scans, which `--scans off` leaves out",
        ),
        (
            live.record.is_some() && !plan.is_live() && live.record_if.is_none(),
            "`-w` records what is captured from an interface (`-i`), or with `--record-if` what \
             a file has of some connections; `flowpin slice -w FILE` writes packets of a capture",
        ),
        (
            live.record_if.is_some() && live.record.is_none(),
            "`--record-if` chooses what a recording has: name that with `-w FILE`",
        ),
        (
            live.record_every_ns.is_some() && live.record_if.is_some() && !plan.is_live(),
            "`--write-rotate` with a time is for what is captured from an interface; of files a \
             recording is divided by size",
        ),
        (
            output.spool.is_some() && output.stream.is_none(),
            "`--spool` holds records for another program or a bucket: name it with `--output \
             unix:/PATH`, tcp://HOST:PORT, kafka://HOST:PORT/TOPIC or s3://BUCKET/PREFIX",
        ),
        (
            output.kafka_config.is_some()
                && !matches!(output.stream, Some(PeerAddress::Kafka { .. })),
            "`--kafka-config` has properties for Kafka: name it with \
             `--output kafka://HOST:PORT/TOPIC`",
        ),
        (
            live.rings > 1 && live.capture == CaptureMethod::AfXdp,
            "`--rings` divides the packets that the kernel copies; with `--capture af-xdp` there \
             is a socket for each receive queue anyway",
        ),
        (
            (live.rings > 1 || live.capture == CaptureMethod::AfXdp) && !plan.is_live(),
            "`--rings` and `--capture` are for what is captured from an interface (`-i`)",
        ),
        (
            live.shed && !plan.is_live(),
            "`--shed` leaves work out where an interface sends more than can be analysed; files \
             wait",
        ),
        (
            divides && live.record.is_none(),
            "`--write-rotate` divides a recording: name it with `-w FILE`",
        ),
        (
            live.record_total.is_some() && !divides,
            "`--write-total` bounds the files of `--write-rotate`: give that, too",
        ),
        (
            live.record_keep.is_some() && !divides,
            "`--write-keep` counts the files of `--write-rotate`: give that, too",
        ),
        (
            output.netflow && !has_eve,
            "`--netflow` adds events to EVE JSON: add it to `--format`",
        ),
        (
            output.files > 1 && output.formats.contains(&Format::None),
            "`--output-files` divides logs, and the format `none` writes none",
        ),
        (
            output.stats.is_none() && !is_default,
            "`--stats-every` is the interval of `--stats`: name its file with `--stats FILE`",
        ),
        (
            output.stats.as_deref() == Some(Path::new("-")),
            "`--stats` needs a file of its own: standard output is that of the summary, or of \
             records (`/dev/stderr` is a file)",
        ),
        (
            !plan.rules.variables.is_empty() && plan.rules.files.is_empty(),
            "`--var` is a variable of rules: name them with `-S PATH`",
        ),
    ];
    let found = all.into_iter().find(|(is_so, _)| *is_so);
    found.map(|(_, why)| why)
}

/// The connection that `text` names: by uid, flow_id or Community ID.
fn wanted(text: &str) -> anyhow::Result<Wanted> {
    text.parse()
        .map_err(|error| anyhow::anyhow!("`{text}` does not name a connection: {error}"))
}

/// Where the engine reports its progress.
fn sink(bar: Option<&Bar>) -> &dyn ProgressSink {
    match bar {
        Some(bar) => bar,
        None => &(),
    }
}

/// Reports damage, and returns how the run ended; `accepts_damage`: damage is no failure.
fn damage_reported(report: &RunReport, accepts_damage: bool, signals: &Signals) -> Exit {
    report_damage(&report.inputs);
    match signals.received() {
        Some(number) if report.stopped_early => Exit::Signal(number),
        _ if report.is_damaged() && !accepts_damage => Exit::InputDamaged,
        _ => Exit::Done,
    }
}

/// Prints one line for each kind of loss, where no summary does.
fn tell_losses(report: &RunReport) {
    for (loss, count) in report.losses.iter() {
        tell(format_args!(
            "flowpin: {}: {}",
            loss.name(),
            number::loss(loss, count)
        ));
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
