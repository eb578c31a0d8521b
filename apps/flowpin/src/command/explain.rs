//! `flowpin explain`: what each stage saw of a packet, and decided.

use super::{cache_folder, plan, report_damage, require_input, require_stdout, sink};
use crate::cli::ExplainArgs;
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::signals::Signals;
use anyhow::Context;
use flowpin_engine::{Control, Question, RunError};
use flowpin_explanation::{Form, Printer, explained, is_header, question_of_record};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Read, Write};

/// Does what `flowpin explain` was told.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.settings())?;
    require_input(&plan)?;
    require_stdout()?;
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    let question = question(args).map_err(Failure::usage)?;
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let bar = Bar::on_terminal().filter(|_| !io::stdout().is_terminal());
    let form = match question {
        _ if args.json => Form::Json,
        Question::Packet(_) => Form::Long,
        Question::Connection(_) => Form::Short,
    };
    let out: Box<dyn Write> = match form {
        Form::Json => Box::new(BufWriter::new(io::stdout())),
        Form::Long | Form::Short => Box::new(BufWriter::new(anstream::stdout())),
    };
    let mut printer = Printer::new(out, form);
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
    explained(question, &report).map_err(|error| Failure::failed(anyhow::Error::from(error)))?;
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
        return Ok(question_of_record(line)?);
    }
    let mut text = Vec::new();
    let mut stdin = io::stdin().lock().take(RECORD_BYTES_MAX);
    stdin
        .read_to_end(&mut text)
        .context("cannot read a record from standard input")?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let line = lines.find(|line| !is_header(line.trim()));
    Ok(question_of_record(line.unwrap_or(first))?)
}

/// More than any record takes.
const RECORD_BYTES_MAX: u64 = 16 << 20;
