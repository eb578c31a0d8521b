//! Makes a big capture out of a small real one; see `flowpin_testkit::multiply`.

use flowpin_testkit::multiply::{Layout, multiply};
use flowpin_testkit::pcap::Capture;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: replicate -r REAL.pcap -n REPLICAS -w OUT.pcap
    [--interleaved]     replicas overlap in time (default)
    [--window SECONDS]  … and all lie within this (default 120)
    [--appended]        replicas one after the other
    [--seed NUMBER]     where in the window each begins (default 1)";

struct Arguments {
    read: PathBuf,
    write: PathBuf,
    replicas: u32,
    layout: Layout,
    seed: u64,
}

fn main() -> ExitCode {
    let Some(arguments) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("replicate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<()> {
    let original = Capture::open(&arguments.read)?;
    let out = File::create(&arguments.write)?;
    let written = multiply(
        &original,
        arguments.replicas,
        arguments.layout,
        arguments.seed,
        out,
    )?;
    eprintln!(
        "{}: {} packets, {} bytes, {} hosts; not IP, so the same in each replica: {}",
        arguments.write.display(),
        written.packets,
        written.bytes,
        written.hosts,
        written.not_ip,
    );
    Ok(())
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
    let (mut read, mut write, mut replicas) = (None, None, None);
    let (mut seed, mut window, mut appended) = (1, 120, false);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-r" => read = Some(PathBuf::from(words.next()?)),
            "-w" => write = Some(PathBuf::from(words.next()?)),
            "-n" => replicas = Some(words.next()?.parse().ok()?),
            "--seed" => seed = words.next()?.parse().ok()?,
            "--window" => window = words.next()?.parse().ok()?,
            "--appended" => appended = true,
            "--interleaved" => appended = false,
            _ => return None,
        }
    }
    let layout = if appended {
        Layout::Appended
    } else {
        Layout::Interleaved {
            window_ns: window * 1_000_000_000,
        }
    };
    Some(Arguments {
        read: read?,
        write: write?,
        replicas: replicas?,
        layout,
        seed,
    })
}
