//! `flowpin streams`: the bytes of conversations, as files or on standard output.

use super::{SAME_RUN, plan, print, require_input, require_stdout, sink};
use crate::cli::StreamsArgs;
use crate::conversation::Printer;
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::signals::Signals;
use crate::tell::tell;
use anyhow::anyhow;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_engine::{
    Control, RunError, StreamFiles, StreamFilesOptions, StreamSink, StreamsReport, Wanted,
};
use flowpin_words::number;
use std::io::{ErrorKind, IsTerminal};
use std::path::Path;

/// Runs `flowpin streams`.
pub(crate) fn streams(args: &StreamsArgs) -> Result<Exit, Failure> {
    let plan = plan(&args.input, args.settings())?;
    require_input(&plan)?;
    if let Some(id) = &args.show.follow {
        let wanted = super::wanted(id).map_err(Failure::usage)?;
        require_stdout()?;
        return follow(args, &plan, wanted);
    }
    let path = args.files.write.clone().unwrap_or_default();
    flowpin_disk::check_folder(&path).map_err(Failure::usage)?;
    let mut files = StreamFiles::new(StreamFilesOptions {
        path: path.clone(),
        force: args.files.force,
        gaps: args.what.gaps(),
        only: args.what.only(),
        bytes_max: args.files.output_max.map_or(u64::MAX, |size| size.0),
        files_max: args.files.files_max,
        open_max: args.files.open_max,
    });
    let done = run(&plan, Wanted::All, &mut files, Bar::on_terminal())
        .map_err(|error| Failure::of_run(error, &plan))?;
    print(&summary(&path, &files, &done.report))?;
    Ok(done.exit())
}

/// `--follow`.
fn follow(args: &StreamsArgs, plan: &Plan, wanted: Wanted) -> Result<Exit, Failure> {
    let seed = plan.output.community_seed;
    let (what, format) = (&args.what, args.show.format);
    let mut printer = Printer::on_stdout(format, what.gaps(), what.only(), seed);
    let bar = Bar::on_terminal().filter(|_| !std::io::stdout().is_terminal());
    let done = match run(plan, wanted, &mut printer, bar).and_then(|done| {
        printer.finish()?;
        Ok(done)
    }) {
        Err(RunError::StreamWrite { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {
            return Ok(Exit::Done);
        }
        done => done.map_err(|error| Failure::of_run(error, plan))?,
    };
    report_losses(&done.report.losses);
    let report = &done.report;
    if report.found == 0 && !matches!(done.exit(), Exit::Signal(_)) {
        return Err(Failure::failed(anyhow!("connection not found; {SAME_RUN}")));
    }
    if report.found == report.found_others && report.found > 0 {
        return Err(Failure::failed(anyhow!(
            "the connection is neither TCP nor UDP, so it has no streams: `flowpin slice` writes \
             its packets"
        )));
    }
    if report.with_bytes == 0 {
        tell("flowpin: the connection has no payload in the capture");
    }
    Ok(done.exit())
}

/// A complete run.
struct Done {
    report: StreamsReport,
    signal: Option<u8>,
}

impl Done {
    fn exit(&self) -> Exit {
        match self.signal {
            Some(number) => Exit::Signal(number),
            None if self.report.is_damaged() => Exit::InputDamaged,
            None => Exit::Done,
        }
    }
}

/// Runs the engine, with a bar if there is one, and reports damage.
fn run<K: StreamSink>(
    plan: &Plan,
    wanted: Wanted,
    to: &mut K,
    bar: Option<Bar>,
) -> Result<Done, RunError> {
    let control = Control::default();
    let signals = Signals::install(&control).map_err(RunError::Thread)?;
    let outcome = flowpin_engine::streams(plan, wanted, to, &control, sink(bar.as_ref()));
    if let Some(bar) = bar {
        bar.clear();
    }
    let report = outcome?;
    for input in &report.inputs {
        if let Some(damage) = &input.damage {
            let path = input.path.display();
            let rest = match input.unopened {
                true => "the other inputs are written",
                false => "everything before it is written",
            };
            tell(format_args!("flowpin: {path}: {damage}; {rest}"));
        }
    }
    Ok(Done {
        report,
        signal: signals.received(),
    })
}

/// The files that were written, and the losses.
fn summary(path: &Path, files: &StreamFiles, report: &StreamsReport) -> String {
    let mut text = format!(
        "{}: {}, {}, from {}\n",
        path.display(),
        number::things(files.files(), "file"),
        number::bytes(files.bytes()),
        number::things(report.with_bytes, "connection"),
    );
    if report.gaps > 0 {
        text.push_str(&format!(
            "{} with {} missing in the capture\n",
            number::things(report.gaps, "gap"),
            number::bytes(report.gap_bytes)
        ));
    }
    let mut losses = report.losses;
    losses.add(&files.losses());
    for (loss, count) in losses.iter() {
        let loss = format!("{}: {}\n", loss.name(), number::loss(loss, count));
        text.push_str(&loss);
    }
    text
}

fn report_losses(losses: &Losses) {
    for (loss, count) in losses.iter() {
        tell(format_args!(
            "flowpin: {}: {}",
            loss.name(),
            number::loss(loss, count)
        ));
    }
}
