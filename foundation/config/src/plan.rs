//! The plan of one run, complete and checked.

use crate::{
    DefragmentationPlan, FilesPlan, HostsPlan, IdentifyPlan, ParsePlan, ScansPlan, StreamsPlan,
};
use std::path::{Path, PathBuf};

/// Where packets come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A capture file.
    File(PathBuf),
    /// A directory: every capture in it, in name order, below it too.
    Directory(PathBuf),
    /// Standard input.
    Stdin,
}

impl Input {
    /// What a path on the command line means: `-` is standard input.
    pub fn at(path: &Path) -> Self {
        if path == Path::new("-") {
            Self::Stdin
        } else if path.is_dir() {
            Self::Directory(path.to_owned())
        } else {
            Self::File(path.to_owned())
        }
    }
}

/// `--pipeline`: how many threads, and what each does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PipelineShape {
    /// Chosen from the cores that there are and the cost of each stage.
    #[default]
    Auto,
    /// `1x1`: everything on one thread.
    Single,
    /// `2xN`: one input thread feeds N workers; the input thread also merges the output.
    InputAndWorkers(u16),
    /// `3xN`: an input thread, N workers, an output thread.
    InputWorkersOutput(u16),
}

/// `--cut`: what the input thread does besides walking, peeling and hashing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// As the number of workers wants it: one has less to do than the input if that verifies
    /// checksums, several divide them among themselves.
    #[default]
    Auto,
    /// Nothing more: transport headers and checksums are the worker's.
    Capture,
    /// Decodes transport headers too.
    L2,
    /// Decodes and verifies checksums.
    L3,
}

/// `-k`: whether IP and transport checksums are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// All of them; a packet whose checksum does not hold is counted and changes no state.
    #[default]
    All,
    /// None.
    None,
}

/// What to do when a worker's ring is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FullRing {
    /// Wait (files).
    #[default]
    Wait,
    /// Drop and count (live).
    Drop,
}

/// `--timeouts`: after how long without a packet a connection has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeouts {
    /// Zeek's: TCP 5 min, 5 s for an attempt and after a close; UDP, ICMP and others 1 min.
    #[default]
    Zeek,
    /// Suricata's: TCP 60 s new, 600 s established, 60 s closed; others 30 s new, 300 s
    /// established.
    Suricata,
    /// Never: a connection ends with the input only (as tshark counts).
    None,
}

/// A format that records are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Suricata's EVE JSON: `eve.json`, all types in one file.
    Eve,
    /// Zeek's tab-separated logs: `conn.log`, …
    ZeekTsv,
    /// Zeek's logs as JSON lines.
    ZeekJson,
    /// Comma-separated values with a header line (RFC 4180).
    Csv,
    /// Apache Parquet, zstd-compressed.
    Parquet,
    /// Records are built and not written.
    None,
}

/// How fine times are in Parquet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParquetTime {
    /// Microseconds: what every reader knows and can reckon with.
    #[default]
    Micros,
    /// Nanoseconds, as captured, for readers that know them (pandas, Polars, Arrow).
    Nanos,
}

/// Where and how records are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPlan {
    /// `-l DIR`: where log files go.
    pub dir: PathBuf,
    /// `--output -`: JSON lines to standard output instead of files.
    pub to_stdout: bool,
    /// `--format`, one or more.
    pub formats: Vec<Format>,
    /// Community ID in connection records.
    pub community_id: bool,
    /// The seed of the Community ID (usually 0).
    pub community_seed: u16,
    /// `--csv-safe`: no CSV cell is a formula to a spreadsheet.
    pub csv_safe: bool,
    /// How fine times are in Parquet.
    pub parquet_time: ParquetTime,
    /// A file is rotated when the records' time leaves its interval; none: never.
    pub rotate_every_ns: Option<u64>,
    /// A file is rotated before it grows past this; none: never.
    pub rotate_bytes_max: Option<u64>,
    /// Once that much was written in all, writing stops and is reported; none: no limit.
    pub total_bytes_max: Option<u64>,
    /// `--force`: what an earlier run left is replaced. Without it, it keeps this run from
    /// beginning. On the command line only: a habit that destroys files has no place in settings.
    pub replace: bool,
}

impl Default for OutputPlan {
    fn default() -> Self {
        Self {
            dir: PathBuf::from("."),
            to_stdout: false,
            formats: vec![Format::Eve],
            community_id: true,
            community_seed: 0,
            csv_safe: false,
            parquet_time: ParquetTime::default(),
            rotate_every_ns: None,
            rotate_bytes_max: None,
            total_bytes_max: None,
            replace: false,
        }
    }
}

/// Everything that a run needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// `-r`, in argument order.
    pub inputs: Vec<Input>,
    /// `-c`: the file that settings were read from.
    pub settings_file: Option<PathBuf>,
    /// The BPF expression, empty for none.
    pub filter: String,
    /// `-n`: stop after that many packets.
    pub packet_count_max: Option<u64>,
    /// `--pipeline`.
    pub pipeline: PipelineShape,
    /// `--cut`.
    pub cut: Cut,
    /// `--cpus`: the processors to pin threads to, input first; empty: chosen.
    pub cpus: Vec<usize>,
    /// `-k`.
    pub checksums: Checksums,
    /// What to do when a ring is full.
    pub full_ring: FullRing,
    /// `--timeouts`.
    pub timeouts: Timeouts,
    /// `--interim`: stream time between interim records of a long connection; none: no such.
    pub interim_ns: Option<u64>,
    /// `--memory`: for connection state and fragments, over all workers.
    pub memory_bytes: u64,
    /// `--id-seed`: keys identifiers and shards.
    pub id_seed: u64,
    /// `--seed`: the dispatch secret; none: random. No record depends on it.
    pub dispatch_seed: Option<u64>,
    /// Forward leaps of the capture's clock beyond this are clamped and counted.
    pub clock_leap_max_ns: u64,
    /// Fragments.
    pub defragmentation: DefragmentationPlan,
    /// TCP streams.
    pub streams: StreamsPlan,
    /// Protocols.
    pub identify: IdentifyPlan,
    /// Messages of application protocols.
    pub parse: ParsePlan,
    /// What is made of bodies of messages.
    pub files: FilesPlan,
    /// Scans and floods.
    pub scans: ScansPlan,
    /// What is known of the hosts.
    pub hosts: HostsPlan,
    /// Records.
    pub output: OutputPlan,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            settings_file: None,
            filter: String::new(),
            packet_count_max: None,
            pipeline: PipelineShape::default(),
            cut: Cut::default(),
            cpus: Vec::new(),
            checksums: Checksums::default(),
            full_ring: FullRing::default(),
            timeouts: Timeouts::default(),
            interim_ns: None,
            memory_bytes: 1 << 30,
            id_seed: 0,
            dispatch_seed: None,
            clock_leap_max_ns: 3_600_000_000_000,
            defragmentation: DefragmentationPlan::default(),
            streams: StreamsPlan::default(),
            identify: IdentifyPlan::default(),
            parse: ParsePlan::default(),
            files: FilesPlan::default(),
            scans: ScansPlan::default(),
            hosts: HostsPlan::default(),
            output: OutputPlan::default(),
        }
    }
}
