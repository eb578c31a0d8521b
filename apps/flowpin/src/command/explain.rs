//! `flowpin explain`: what each stage saw of a packet, and decided.

use super::{SAME_RUN, cache_folder, plan, report_damage, require_input, require_stdout, sink};
use crate::cli::ExplainArgs;
use crate::exit::{Exit, Failure};
use crate::explanation::{Printer, is_header, question_of_record};
use crate::progress::Bar;
use crate::signals::Signals;
use crate::summary::number;
use anyhow::{Context, anyhow};
use flowpin_engine::{Control, ExplainReport, Question, RunError};
use std::io::{ErrorKind, IsTerminal, Read};

/// Does what `flowpin explain` was told.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.settings())?;
    require_input(&plan)?;
    require_stdout()?;
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    let question = question(args).map_err(Failure::usage)?;
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let bar = Bar::on_terminal().filter(|_| !std::io::stdout().is_terminal());
    let mut printer = Printer::on_stdout(args.json, matches!(question, Question::Packet(_)));
    let progress = sink(bar.as_ref());
    let outcome = flowpin_engine::explain(&plan, question, &mut printer, &control, progress);
    if let Some(bar) = bar {
        bar.clear();
    }
    let outcome = outcome.and_then(|report| {
        printer.finish(&report)?;
        Ok(report)
    });
    let report = match outcome {
        Err(RunError::StreamWrite { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {
            return Ok(Exit::Done);
        }
        outcome => outcome.map_err(|error| Failure::of_run(error, &plan))?,
    };
    report_damage(&report.inputs);
    match signals.received() {
        Some(signal) if report.stopped_early => return Ok(Exit::Signal(signal)),
        _ => {}
    }
    if report.explained == 0 {
        return Err(Failure::failed(anyhow!(not_found(question, &report))));
    }
    let is_damaged = report.inputs.iter().any(|input| input.damage.is_some());
    Ok(if is_damaged {
        Exit::InputDamaged
    } else {
        Exit::Done
    })
}

/// What is asked for.
fn question(args: &ExplainArgs) -> anyhow::Result<Question> {
    if let Some(number) = args.packet {
        return Ok(Question::Packet(number));
    }
    if let Some(id) = &args.uid {
        return Ok(Question::Connection(super::wanted(id)?));
    }
    let line = args.record.as_deref().unwrap_or_default();
    if line != "-" {
        return question_of_record(line);
    }
    let mut text = Vec::new();
    let mut stdin = std::io::stdin().lock().take(RECORD_BYTES_MAX);
    stdin
        .read_to_end(&mut text)
        .context("cannot read a record from standard input")?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let line = lines.find(|line| !is_header(line.trim()));
    question_of_record(line.unwrap_or(first))
}

fn not_found(question: Question, report: &ExplainReport) -> String {
    let packets = number::things(report.packets, "packet");
    match question {
        Question::Packet(number) if report.is_filtered => {
            format!("packet {number} is left out by the filter or by its time, so no stage sees it")
        }
        Question::Packet(number) => {
            format!("there is no packet {number}: the input has {packets}")
        }
        Question::Connection(_) => format!("no such connection; {SAME_RUN}"),
    }
}

/// More than any record takes.
const RECORD_BYTES_MAX: u64 = 16 << 20;
