//! `flowpin gen`: traces out of nothing, or out of a real capture.

use super::print;
use crate::cli::{GenArgs, ReplicateArgs, Target, TraceArgs, What};
use crate::exit::{Exit, Failure};
use crate::summary::number;
use anyhow::Context;
use flowpin_gen::{Characteristics, Error, Interface, Kind, Options, Totals};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Does what `flowpin gen` was told.
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
    let mut truth = match args.truth() {
        Some(path) => Some(BufWriter::new(create(&path)?)),
        None => None,
    };
    let target = args.target.target();
    let truth = truth.as_mut().map(|file| file as &mut dyn Write);
    match flowpin_gen::generate(&options, open(target)?, truth) {
        Ok(totals) => tell(target, &summary(&options, &totals)),
        Err(error) => refuse(error),
    }
}

fn replicate(args: &ReplicateArgs) -> Result<Exit, Failure> {
    let what = args.replication();
    let target = args.target.target();
    match flowpin_gen::replicate(&what, open(target)?) {
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
                    "{count} of the original not IP: the same in each copy\n"
                ));
            }
            if done.left_out > 0 {
                let count = number::things(done.left_out, "packet");
                text.push_str(&format!(
                    "{count} left out: their link type is not Ethernet\n"
                ));
            }
            tell(target, &text)
        }
        Err(error) => refuse(error),
    }
}

/// Opens what the trace is written to.
fn open(target: Target<'_>) -> Result<Box<dyn Write>, Failure> {
    Ok(match target {
        Target::Stdout => Box::new(io::stdout().lock()),
        Target::File(path) => Box::new(create(path)?),
        Target::Interface { name, topspeed } => {
            Box::new(Interface::open(name, topspeed).map_err(Failure::failed)?)
        }
    })
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path)
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(Failure::failed)
}

/// A reader that has gone is no error.
fn refuse(error: Error) -> Result<Exit, Failure> {
    match error {
        Error::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Error::Options(error) => Err(Failure::usage(error)),
        Error::Read(error) => Err(flowpin_engine::RunError::from(error).into()),
        error => Err(Failure::failed(error)),
    }
}

/// The summary goes where the capture does not.
fn tell(target: Target<'_>, text: &str) -> Result<Exit, Failure> {
    match target {
        Target::Stdout => anstream::eprint!("{text}"),
        Target::File(path) => print(&format!("{}: {text}", path.display()))?,
        Target::Interface { name, .. } => print(&format!("{name}: {text}"))?,
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
        text.push_str(&format!("{what}: {is:.3}, not {asked:.3} as asked for\n"));
    }
    text
}

/// What could not be had: more than 2 % away from what was asked for.
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
