//! The `flowpin` command: reads the command line, runs the engine, reports the outcome.
//!
//! Results go to standard output, everything else to standard error. Owns texts, exit codes and
//! signals; all analysis is the engine's.

mod cli;
mod command;
mod conversation;
mod counters;
mod doctor;
mod exit;
mod grammars;
mod patterns;
mod profile;
mod progress;
mod rules;
mod service;
mod signals;
mod summary;
mod tell;
mod verdicts;

use crate::tell::tell;
use clap::Parser;
use cli::{Cli, Command};
use exit::Exit;
use std::io::{self, ErrorKind};
use std::process::ExitCode;
use std::thread::{Builder, JoinHandle};

/// Without memory the command ends as after any other failure.
#[global_allocator]
static ALLOCATOR: flowpin_memory::ExitingAllocator = flowpin_memory::ExitingAllocator;

fn main() -> ExitCode {
    flowpin_memory::ExitingAllocator::keep_little();
    // The usual 8 MiB are plenty; far below (`ulimit -s 256`), even the command line is too much.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack);
    if limit.current.is_none_or(|bytes| bytes >= STACK_BYTES / 2) {
        return command();
    }
    let thread = Builder::new()
        .name("main".into())
        .stack_size(STACK_BYTES as usize);
    match thread.spawn(command).map(JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        // A panic has reported itself.
        Ok(Err(_)) => Exit::Failed.into(),
        Err(error) => {
            tell(format_args!(
                "flowpin: no memory for a stack: {error}; raise the limits (ulimit -s, ulimit -v)"
            ));
            Exit::Failed.into()
        }
    }
}

/// What the command may take of the stack.
const STACK_BYTES: u64 = 8 << 20;

/// Reads the command line and does what it says.
fn command() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(error),
    };
    if let Err(error) = signals::survive() {
        tell(format_args!("flowpin: {error}"));
        return Exit::Failed.into();
    }
    let outcome = match &cli.command {
        Command::Run(args) => command::run(args),
        Command::Identify(args) => command::identify(args),
        Command::Patterns(what) => command::patterns(what),
        Command::Rules(what) => command::rules(what),
        Command::Merge(args) => command::merge(args),
        Command::Slice(args) => command::slice(args),
        Command::Explain(args) => command::explain(args),
        Command::Streams(args) => command::streams(args),
        Command::Profile(args) => command::profile(args),
        Command::Plan(args) => command::plan_link(args),
        Command::Cc(what) => command::compile(what),
        Command::Doctor(args) => command::doctor(args),
        Command::Gen(args) => command::generate(args),
        Command::Bench { words } => command::bench(words),
        Command::Completions { shell } => command::completions(*shell),
        Command::Man { what, force } => command::manual(what.as_deref(), *force),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            tell(format_args!("flowpin: {failure}"));
            failure.exit().into()
        }
    }
}

/// Prints help, or the one line of a usage error.
fn usage(error: clap::Error) -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let command = args.first().map(|arg| arg.to_string_lossy());
    let error = cli::advise(error, &command.unwrap_or_default());
    match cli::usage_line(&error, &args) {
        Some(line) => {
            let failure = exit::Failure::usage(anyhow::anyhow!(line));
            tell(format_args!("flowpin: {failure}"));
            failure.exit().into()
        }
        // Help and version are results: they can fail to be written as others can.
        None => match print(&error) {
            Err(failed) if failed.kind() != ErrorKind::BrokenPipe => {
                tell(format_args!(
                    "flowpin: cannot write to standard output: {failed}"
                ));
                Exit::Failed.into()
            }
            _ if error.use_stderr() => Exit::Usage.into(),
            _ => Exit::Done.into(),
        },
    }
}

fn print(error: &clap::Error) -> io::Result<()> {
    if !error.use_stderr() {
        flowpin_disk::stdout()?;
    }
    error.print()
}
