//! `flowpin gen`: synthetic traces, and copies of real captures.

use super::print;
use crate::cli::{GenArgs, ReplicateArgs, Target, TraceArgs, What};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::tell::{tell, tell_text};
use anyhow::Context;
use flowpin_disk::{Existing, Identity, Output, Reads};
use flowpin_engine::Control;
use flowpin_gen::{Characteristics, Error, Interface, Kind, Options, Totals};
use flowpin_words::number;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Runs `flowpin gen`.
pub(crate) fn generate(args: &GenArgs) -> Result<Exit, Failure> {
    match &args.what {
        What::Http(args) => trace(args, Kind::Http),
        What::Fix(args) => trace(args, Kind::Fix),
        What::Mix(args) => trace(args, Kind::Mix),
        What::Dns(args) => trace(args, Kind::Dns),
        What::Scan(args) => trace(args, Kind::Scan),
        What::Flood(args) => trace(args, Kind::Flood),
        What::Fragments(args) => trace(args, Kind::Fragments),
        What::Connections(args) => trace(args, Kind::Connections),
        What::Replicate(args) => replicate(args),
    }
}

fn trace(args: &TraceArgs, kind: Kind) -> Result<Exit, Failure> {
    let options = args.options(kind).map_err(Failure::usage)?;
    options.check().map_err(Failure::usage)?;
    let (target, existing) = (args.target.target(), args.target.existing());
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let mut reads = Reads::standard_input();
    reads.add_stdout();
    let truth = args.truth();
    // Both are checked before one of them is opened.
    let outputs: Vec<_> = target.file().into_iter().chain(truth.as_deref()).collect();
    Output::check_all(&outputs, existing, &reads).map_err(Failure::usage)?;
    let has_stdout = outputs.iter().any(|path| Output::is_stdout(path));
    let mut made = Made::default();
    let mut out = made.open(target, existing, reads, &control)?;
    let mut truth = match &truth {
        Some(path) => Some(BufWriter::new(made.file(path, existing, &control)?)),
        None => None,
    };
    let sink = truth.as_mut().map(|file| file as &mut dyn Write);
    let outcome = flowpin_gen::generate(&options, &mut out, sink);
    let truth = truth.map(BufWriter::into_parts).map(|(file, _)| file);
    match kept(outcome, [Some(out), truth]) {
        Ok(totals) => show(target, has_stdout, &summary(&options, &totals)),
        Err(error) => refuse(error, &signals),
    }
}

fn replicate(args: &ReplicateArgs) -> Result<Exit, Failure> {
    let what = args.replication();
    let (target, existing) = (args.target.target(), args.target.existing());
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let mut reads = Reads::standard_input();
    reads.add_stdout();
    what.read.iter().for_each(|path| reads.add_path(path));
    reads.check_stdout().map_err(Failure::usage)?;
    let mut out = Made::default().open(target, existing, reads, &control)?;
    let outcome = flowpin_gen::replicate(&what, &control.stop, &mut out);
    match kept(outcome, [Some(out), None]) {
        Ok(done) => {
            let mut text = format!(
                "{}, {}, {}\n",
                number::things(done.packets, "packet"),
                number::bytes(done.file_bytes),
                number::things(done.hosts, "host"),
            );
            if done.not_ip > 0 {
                let count = number::things(done.not_ip, "packet");
                text.push_str(&format!(
                    "{count} of the original are not IP: unchanged in each copy\n"
                ));
            }
            if done.left_out > 0 {
                let count = number::things(done.left_out, "packet");
                text.push_str(&format!("{count} left out: not Ethernet\n"));
            }
            let exit = show(target, matches!(target, Target::Stdout), &text)?;
            for damaged in &done.damaged {
                tell(format_args!("flowpin: {damaged}"));
            }
            Ok(match done.damaged.is_empty() {
                true => exit,
                false => Exit::InputDamaged,
            })
        }
        Err(error) => refuse(error, &signals),
    }
}

/// The files written here, so that none is written under two names.
#[derive(Default)]
struct Made(Reads);

impl Made {
    /// Opens the target of the trace.
    fn open(
        &mut self,
        target: Target<'_>,
        existing: Existing,
        reads: Reads,
        control: &Control,
    ) -> Result<Sink, Failure> {
        self.0 = reads;
        let path = match target {
            Target::Stdout => Path::new("-"),
            Target::File(path) => path,
            Target::Interface { name, topspeed } => {
                let interface = Interface::open(name, topspeed).map_err(Failure::failed)?;
                let to = To::Interface(interface);
                return Ok(Sink::new(to, Path::new(name), control));
            }
        };
        self.file(path, existing, control)
    }

    fn file(
        &mut self,
        path: &Path,
        existing: Existing,
        control: &Control,
    ) -> Result<Sink, Failure> {
        Output::check(path, existing, &self.0).map_err(Failure::usage)?;
        let output = Output::open(path, existing, &self.0)
            .with_context(|| format!("cannot write {}", name(path)))
            .map_err(Failure::failed)?;
        // The existing file, which it may replace in the end, and the new one.
        for identity in Identity::at(path).into_iter().chain(output.identity()) {
            self.0.add_written(identity, path);
        }
        Ok(Sink::new(To::File(output), path, control))
    }
}

/// Writes a trace or its ground truth, until a signal requests a stop.
struct Sink {
    to: To,
    /// Its name in messages.
    path: PathBuf,
    control: Control,
}

enum To {
    File(Output),
    Interface(Interface),
}

impl Sink {
    fn new(to: To, path: &Path, control: &Control) -> Self {
        let (path, control) = (path.to_owned(), control.clone());
        Self { to, path, control }
    }

    fn keep(self) -> io::Result<()> {
        match self.to {
            To::File(output) => output.keep().map_err(|error| failed(&self.path, &error)),
            To::Interface(_) => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.control.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        let done = match &mut self.to {
            To::File(output) => output.write(bytes),
            To::Interface(interface) => interface.write(bytes),
        };
        done.map_err(|error| failed(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = match &mut self.to {
            To::File(output) => output.flush(),
            To::Interface(interface) => interface.flush(),
        };
        done.map_err(|error| failed(&self.path, &error))
    }
}

/// The error with path and advice. Its kind is kept: writers continue after an interruption.
fn failed(path: &Path, error: &io::Error) -> io::Error {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or choose another file with -w"
        }
        io::ErrorKind::FileTooLarge => "; raise the file size limit (ulimit -f), or generate less",
        _ => "",
    };
    let path = name(path);
    io::Error::new(
        error.kind(),
        format!("cannot write {path}: {error}{advice}"),
    )
}

/// An output's name in messages.
fn name(path: &Path) -> String {
    match Output::is_stdout(path) {
        true => "standard output".into(),
        false => path.display().to_string(),
    }
}

/// Keeps complete files; after a failure, incomplete ones are removed.
fn kept<T>(outcome: Result<T, Error>, sinks: [Option<Sink>; 2]) -> Result<T, Error> {
    let outcome = outcome?;
    for sink in sinks.into_iter().flatten() {
        sink.keep()?;
    }
    Ok(outcome)
}

/// It is not an error if the reader has closed the output.
fn refuse(error: Error, signals: &Signals) -> Result<Exit, Failure> {
    match error {
        Error::Write(_) if signals.received().is_some() => {
            Ok(signals.received().map_or(Exit::Failed, Exit::Signal))
        }
        Error::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Error::Options(error) => Err(Failure::usage(error)),
        Error::Read(error) => Err(flowpin_engine::RunError::from(error).into()),
        error => Err(Failure::failed(error)),
    }
}

/// Prints the summary where nothing else is written.
fn show(target: Target<'_>, has_stdout: bool, text: &str) -> Result<Exit, Failure> {
    let say = |text: &str| {
        if has_stdout {
            tell_text(text);
            return Ok(());
        }
        print(text)
    };
    match target {
        Target::Stdout => tell_text(text),
        Target::File(path) => say(&format!("{}: {text}", path.display()))?,
        Target::Interface { name, .. } => say(&format!("{name}: {text}"))?,
    }
    Ok(Exit::Done)
}

fn summary(options: &Options, totals: &Totals) -> String {
    let is = totals.characteristics();
    let mut text = format!(
        "{}, {}, {}\n{:.1} bytes a packet, {:.1} connections per 1,000 packets, {:.0} at a time\n",
        number::things(totals.packets, "packet"),
        number::bytes(totals.file_bytes),
        number::things(totals.connections, "connection"),
        is.packet_len,
        is.connection_rate,
        is.concurrency,
    );
    for (what, is, asked) in differences(options, &is) {
        text.push_str(&format!("{what}: {is:.3} instead of {asked:.3}\n"));
    }
    text
}

/// Characteristics more than 2 % away from the requested or default ones.
fn differences(
    options: &Options,
    is: &Characteristics,
) -> impl Iterator<Item = (&'static str, f64, f64)> {
    let rate = 1000.0 / options.packets_per_connection;
    let is_free = !matches!(options.kind, Kind::Scan | Kind::Flood | Kind::Fragments);
    let pairs = [
        ("bytes a packet", is.packet_len, options.packet_len),
        ("connections per 1,000 packets", is.connection_rate, rate),
        ("connections at a time", is.concurrency, options.concurrency),
        ("straddling packets", is.straddling, options.straddling),
        ("chunked packets", is.chunked, options.chunked),
    ];
    pairs
        .into_iter()
        .filter(move |(_, is, asked)| is_free && (is - asked).abs() > 0.02 * asked.max(0.01))
}
