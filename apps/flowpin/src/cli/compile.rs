//! `flowpin cc`.

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// The commands for C programs.
#[derive(Subcommand, Debug)]
pub(crate) enum CcCommand {
    /// Show the state of a program: who uses it, and what would become of it
    #[command(after_long_help = REPORT_AFTER)]
    Report(Box<ReportArgs>),
    /// Write the program with one state for each core
    #[command(long_about = TRANSFORM_ABOUT, after_long_help = TRANSFORM_AFTER)]
    Transform(Box<TransformArgs>),
    /// Let a flex scanner stop in the middle of a token, and continue with the stream's next bytes
    #[command(long_about = SCANNER_ABOUT, after_long_help = SCANNER_AFTER)]
    Scanner(Box<ScannerArgs>),
    /// Write l7-filter's patterns as a scanner of flex
    #[command(long_about = PATTERNS_ABOUT, after_long_help = PATTERNS_AFTER)]
    Patterns(Box<FlexArgs>),
    /// Compare what a program says about a capture and about its parts
    #[command(long_about = CHECK_ABOUT, after_long_help = CHECK_AFTER)]
    Check(Box<CheckArgs>),
}

/// The sources of a program.
#[derive(Args, Debug)]
pub(crate) struct SourceArgs {
    /// All C sources of the program, its libraries' sources among them
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    #[arg(required_unless_present = "database", conflicts_with = "database")]
    pub(crate) sources: Vec<PathBuf>,

    /// Take sources and flags from a compilation database (compile_commands.json)
    #[arg(short = 'p', long = "database", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) database: Option<PathBuf>,

    /// Give up after this many seconds; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) time_limit: u64,

    /// The compiler's flags for the sources: -I, -D, -std, …
    #[arg(value_name = "FLAG", last = true)]
    pub(crate) flags: Vec<String>,
}

/// The options of `flowpin cc report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Report instead what a cut before this function would divide: state that would have to be
    /// forwarded, state that conflicts, and the calls that are to blame
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) cut: Option<String>,
}

/// The options of `flowpin cc transform`.
#[derive(Args, Debug)]
pub(crate) struct TransformArgs {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// The directory for the transformed program; new or empty
    #[arg(short = 'o', long = "output", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// How each core gets its own state
    #[arg(long, value_name = "BACKEND", default_value = "context")]
    pub(crate) backend: StateBackend,

    /// How threads exchange packets and calls
    #[arg(long, value_name = "FIFO", default_value = "flowpin")]
    pub(crate) fifo: RingKind,

    /// Where the program's memory comes from
    #[arg(long, value_name = "ALLOC", default_value = "libc")]
    pub(crate) alloc: Memory,

    /// Compile the sources as one, so that functions of all go into each other
    #[arg(long)]
    pub(crate) unity: bool,

    /// Replace files of an earlier output
    #[arg(long)]
    pub(crate) force: bool,
}

/// How each core gets its own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateBackend {
    /// Functions get the address of the core's state
    Context,
    /// Variables become `__thread`: few changes, to compare with
    Thread,
}

/// How threads exchange packets and calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RingKind {
    /// Counters of bytes, shown in runs and remembered
    Flowpin,
    /// Lamport's ring: counters shown and read with each element
    Lamport,
    /// FastForward: slots that are empty or not, without counters
    Fastforward,
}

/// Where the program's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Memory {
    /// The C library
    Libc,
    /// A pool for each core, without locks
    Pool,
}

/// The options of `flowpin cc scanner`.
#[derive(Args, Debug)]
pub(crate) struct ScannerArgs {
    /// The scanner that flex 2.6 has made
    #[arg(value_name = "SCANNER.c", value_hint = ValueHint::FilePath)]
    pub(crate) scanner: PathBuf,

    /// The scanner to write; its header is beside it, with the ending .h
    #[arg(short = 'o', long = "output", value_name = "FILE.c", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Replace the files if they exist
    #[arg(long)]
    pub(crate) force: bool,
}

/// The options of `flowpin cc patterns`.
#[derive(Args, Debug)]
pub(crate) struct FlexArgs {
    /// Files with patterns, and folders with .pat files
    #[arg(value_name = "PATTERNS", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) patterns: Vec<PathBuf>,

    /// The scanner's source to write, for flex
    #[arg(short = 'o', long = "output", value_name = "FILE.l", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Look where a stream begins for what may begin anywhere: fewer states, and fewer matches
    #[arg(long)]
    pub(crate) anchored: bool,

    /// Leave `$` out of patterns, which match more then, rather than the patterns
    #[arg(long)]
    pub(crate) drop_ends: bool,

    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// The options of `flowpin cc check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// What the packets of one core have in common
    #[arg(long, value_name = "KEY", default_value = "ip_pair")]
    pub(crate) key: PartKey,

    /// The capture; what is no plain pcap file, the program gets as one
    #[arg(short = 'r', long = "read", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) read: PathBuf,

    /// How many parts the capture is divided into
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=256))]
    pub(crate) ways: u32,

    /// Leave out lines that begin with TEXT; may be repeated
    #[arg(long = "ignore", value_name = "TEXT")]
    pub(crate) ignored: Vec<String>,

    /// The sequential program and its arguments: {} stands for the capture, {out} for a file that
    /// it writes; without {}, the capture is the last argument
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    #[arg(allow_hyphen_values = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

/// What the packets of one part have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum PartKey {
    /// Both addresses
    IpPair,
    /// Both addresses and ports; fragments go by addresses alone
    FourTuple,
}

/// What the long help says first.
pub(super) const ABOUT: &str = "\
Makes a sequential C program that analyses packets run on many cores: each core runs the \
program's own code, unchanged in its control flow, on its own copy of the program's state, and \
gets the packets of its own connections.

Needs libclang 19.1 or newer when it runs (Debian: libclang-19-dev).";

const REPORT_AFTER: &str = "\
Examples:
  flowpin cc report app.c libnids/src/*.c -- -Ilibnids/src
  flowpin cc report -p build/compile_commands.json --json | jq .counts
  flowpin cc report --cut process_tcp app.c libnids/src/*.c -- -Ilibnids/src

Exit codes:
  0  success
  1  libclang is missing or too old
  2  usage error
  3  a source cannot be read, or does not compile";

const TRANSFORM_ABOUT: &str = "\
Writes the program with one state for each core, with a run-time and a makefile. `make` builds \
it; FLOWPIN_WAYS=4 in its environment runs it on four cores.

What cannot be shown to be safe is refused, with file, line and reason, and nothing is written. \
Lines such as `#pragma flowpin once` in the sources say what the compiler cannot know.";

const TRANSFORM_AFTER: &str = "\
Examples:
  flowpin cc transform -o parallel app.c libnids/src/*.c -- -Ilibnids/src
  make -C parallel LDLIBS='-lnet -lpcap'
  FLOWPIN_WAYS=4 parallel/program big.pcap

Exit codes:
  0  success
  1  the program is refused; libclang is missing or too old; a file could not be written
  2  usage error; the directory is not empty
  3  a source cannot be read, or does not compile";

const SCANNER_ABOUT: &str = "\
Makes a scanner of flex 2.6 push-mode and resumable: it gets a stream in pieces, stops in the \
middle of a token where a piece ends, and continues with the next piece. Each stream has a state \
of about 32 bytes, in which `#pragma flowpin perflow NAME, …` keeps variables of the actions.

Refuses scanners that use input(), yymore() or REJECT.";

const SCANNER_AFTER: &str = "\
Examples:
  flex -o http.c http.l
  flowpin cc scanner http.c -o http_push.c

Exit codes:
  0  success
  1  it is no scanner of flex 2.6, or cannot be pushed; a file could not be written
  2  usage error; a file would be replaced
  3  the scanner cannot be read";

const PATTERNS_ABOUT: &str = "\
Writes l7-filter's patterns as one scanner of flex, whose first token is the number of a stream's \
protocol; `flowpin cc scanner` makes it push-mode, `flowpin cc transform` parallel. Of several \
protocols it is the one whose pattern matches first, of those the longest match.

A leading wildcard goes, as all rules but those with `^` may begin anywhere in the first 2,048 \
bytes (PATTERN_BYTES_MAX). Patterns that flex cannot have are left out, each with the reason.";

const PATTERNS_AFTER: &str = "\
Examples:
  flowpin cc patterns /etc/l7-protocols -o l7.l
  flex -o l7.c l7.l
  flowpin cc scanner l7.c -o l7_push.c

Exit codes:
  0  success; patterns that are left out are told
  1  a file could not be written
  2  usage error; no pattern is left; a file would be replaced
  3  a file with patterns cannot be read";

const CHECK_ABOUT: &str = "\
Runs the sequential program once over a whole capture and once over each of its parts, and \
compares the lines that it writes, without regard to their order. If they are the same, the \
program is connection-affine, and may run on many cores. Programs that count by host, such as \
scan detectors, are not.";

const CHECK_AFTER: &str = "\
Examples:
  flowpin cc check --key ip_pair -r big.pcap ./app
  flowpin cc check --key four_tuple -r big.pcap --ignore '#' ./app -q {} {out}

Exit codes:
  0  the same lines
  1  other lines, or the program failed
  2  usage error
  3  the capture cannot be read";
