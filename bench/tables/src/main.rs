//! `flowpin bench`: the papers' tables again, theirs beside ours.
//!
//! ```text
//!  benches ──► Table ──► markdown, JSON, picture
//!                └── record: tables and the machine ──► docs/performance.md
//! ```
//!
//! A program of its own, so that traces, peers and pictures are no part of the product. Owns what
//! the papers published; runs the engine in this process. Refuses to measure while others use the
//! processors.

mod bench;
mod lab;
mod page;
mod table;

use anyhow::{Context, Result};
use bench::{ALL, Blocks};
use clap::{Args, Parser, Subcommand};
use flowpin_disk::{Existing, Output, Reads, check_folder};
use lab::{Extent, Lab, Machine, Whole};
use page::Record;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::{Table, markdown, picture};

#[derive(Parser)]
#[command(
    name = "flowpin bench",
    about = "The papers' tables again, theirs beside ours"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Makes docs/performance.md and its pictures from records
    Page {
        /// What --json wrote, one or more
        #[arg(required = true)]
        records: Vec<PathBuf>,
        /// The folder that gets performance.md and performance/
        #[arg(long, default_value = "docs")]
        docs: PathBuf,
    },
    /// Takes and gives back blocks with whichever allocator this process has
    #[command(hide = true)]
    Blocks {
        len: usize,
        threads: usize,
        set_bytes: usize,
        turns: u64,
    },
    /// Runs the pipeline once, and tells as JSON what it took
    #[command(hide = true)]
    Whole(Whole),
}

#[derive(Args)]
struct RunArgs {
    /// Which tables; `all` for every one
    #[arg(value_name = "TABLE", value_parser = table_name)]
    tables: Vec<String>,
    /// The short form: it shows that all works, its figures mean nothing
    #[arg(long)]
    quick: bool,
    /// How often everything is measured
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Packets of a trace, at most
    #[arg(long, default_value_t = 1_500_000)]
    packets: u64,
    /// Measures although others use the processors
    #[arg(long)]
    allow_busy: bool,
    /// Machine and tables as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A picture of each table
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Replaces files of --json and --svg that are there
    #[arg(long)]
    force: bool,
}

fn main() -> ExitCode {
    match done(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("flowpin bench: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn done(cli: &Cli) -> Result<()> {
    match &cli.command {
        Some(Command::Page { records, docs }) => page::write(records, docs),
        &Some(Command::Blocks {
            len,
            threads,
            set_bytes,
            turns,
        }) => {
            let blocks = Blocks {
                len,
                threads,
                set_bytes,
                turns,
            };
            let took = bench::blocks_measured(blocks, false).context("no memory")?;
            say(&took.to_string())
        }
        Some(Command::Whole(whole)) => say(&serde_json::to_string(&whole.run()?)?),
        None if cli.run.tables.is_empty() => {
            let mut text = String::from("flowpin bench TABLE…, or all:\n");
            for bench in &ALL {
                text.push_str(&format!("\n  {:<12} {}", bench.name, bench.about));
            }
            say(&text)
        }
        None => run(&cli.run),
    }
}

fn run(args: &RunArgs) -> Result<()> {
    let (existing, reads) = (args.existing(), Reads::default());
    // Refused now, not after minutes of measuring.
    let json = args.json.as_deref();
    let json = json
        .map(|path| Output::open(path, existing, &reads))
        .transpose()?;
    args.svg.as_deref().map(check_folder).transpose()?;
    let mut record = Record {
        machine: Machine::now(),
        tables: Vec::new(),
    };
    let mut lab = Lab::new(extent(args), Some(std::env::current_exe()?))?;
    let is_wanted = |name: &str| args.tables.iter().any(|one| one == "all" || one == name);
    for bench in ALL.iter().filter(|bench| is_wanted(bench.name)) {
        let table = (bench.run)(&mut lab).with_context(|| bench.name.to_owned())?;
        say(&markdown(&table))?;
        if let Some(folder) = &args.svg {
            draw(folder, &table, existing, &reads)?;
        }
        record.tables.push(table);
    }
    say(&record.machine.text())?;
    if let Some(mut output) = json {
        let text = serde_json::to_string_pretty(&record)?;
        output.write_all((text + "\n").as_bytes())?;
        output.keep()?;
    }
    Ok(())
}

impl RunArgs {
    const fn existing(&self) -> Existing {
        if self.force {
            Existing::Replace
        } else {
            Existing::Refuse
        }
    }
}

fn extent(args: &RunArgs) -> Extent {
    if args.quick {
        return Extent::QUICK;
    }
    Extent {
        packets_max: args.packets.max(1),
        rounds: args.rounds.max(1),
        quick: false,
        allow_busy: args.allow_busy,
    }
}

fn table_name(name: &str) -> Result<String, String> {
    let is_known = name == "all" || ALL.iter().any(|bench| bench.name == name);
    let names = ALL.map(|bench| bench.name).join(", ");
    is_known
        .then(|| name.to_owned())
        .ok_or(format!("there are {names}"))
}

/// A line, or more, to standard output; a reader that has gone is no error.
fn say(text: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn draw(folder: &Path, table: &Table, existing: Existing, reads: &Reads) -> Result<()> {
    let Some(svg) = picture(table) else {
        return Ok(());
    };
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{}.svg", table.name));
    write_file(&path, &svg, existing, reads)
}

/// A whole file, or none.
fn write_file(path: &Path, text: &str, existing: Existing, reads: &Reads) -> Result<()> {
    let written = || {
        let mut output = Output::open(path, existing, reads)?;
        output.write_all(text.as_bytes())?;
        output.keep()
    };
    written().with_context(|| path.display().to_string())
}
