//! The plan of one run, complete and checked.

use crate::options::{Flag, Hint, options};
use crate::{
    ByteSize, CpuList, DefragmentationPlan, FilesPlan, HostsPlan, IdentifyPlan, LivePlan,
    OutputPlan, ParsePlan, Places, RulesPlan, ScansPlan, Span, StreamsPlan, TimeText,
};
use std::path::{Path, PathBuf};

/// Where packets come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A capture file.
    File(PathBuf),
    /// A directory: every capture in it and in its subdirectories, in name order.
    Directory(PathBuf),
    /// Standard input.
    Stdin,
}

impl Input {
    /// Whether a path ends like the name of a capture: of one that rotation numbered, too
    /// (`a.pcap3`), compressed or not.
    pub fn is_capture_name(path: &Path) -> bool {
        let ending = |path: &Path| {
            let ending = path.extension().unwrap_or_default();
            ending.to_string_lossy().to_ascii_lowercase()
        };
        let inner = match ending(path).as_str() {
            "gz" | "zst" | "lz4" | "xz" => &path.with_extension(""),
            _ => path,
        };
        let ending = ending(inner);
        let ending = ending.trim_end_matches(|letter: char| letter.is_ascii_digit());
        ["pcap", "pcapng", "cap", "pcapn", "ntar", "dmp"].contains(&ending)
    }

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

    /// The path that means it.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::File(path) | Self::Directory(path) => path.clone(),
            Self::Stdin => PathBuf::from("-"),
        }
    }
}

/// `--pipeline`: how many threads, and what each does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PipelineShape {
    /// Chosen by the number of cores and the cost of each stage.
    #[default]
    Auto,
    /// `1x1`: everything on one thread.
    Single,
    /// `1xN`: N threads that each do everything, and take turns at the input and at the output.
    Turns(u16),
    /// `2xN`: one input thread feeds N workers; the input thread also merges the output.
    InputAndWorkers(u16),
    /// `3xN`: an input thread, N workers, an output thread.
    InputWorkersOutput(u16),
}

/// `--cut`: what the input thread does besides walking, peeling and hashing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// By the shape: an input thread verifies checksums for a single worker, and several workers
    /// verify them themselves; where threads take turns, the one that describes a packet does.
    #[default]
    Auto,
    /// Nothing more: workers decode transport headers and verify checksums.
    Capture,
    /// Decodes transport headers too.
    L2,
    /// Decodes and verifies checksums.
    L3,
}

/// `-k`: whether IP and transport checksums are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// All of them; a packet with a bad checksum is counted and changes no state.
    #[default]
    All,
    /// None.
    None,
}

/// How packets are taken from interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureMethod {
    /// Copies of what the interface receives and sends.
    #[default]
    AfPacket,
    /// What it receives, before the host gets it, which then does not.
    AfXdp,
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

/// The unit of times in Parquet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParquetTime {
    /// Microseconds, which every reader supports.
    #[default]
    Micros,
    /// Nanoseconds, as captured, for readers that support them (pandas, Polars, Arrow).
    Nanos,
}

options! {
    /// Everything that a run needs to know.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan Plan {
        [input] InputSettings: "`[input]`: captures and filter." {
            /// Capture files and directories, in order; "-" is standard input.
            read: Vec<PathBuf> => inputs: Vec<Input> = Vec::new(),
                flag Flag::value("read", "FILE", "A capture, a directory of captures, or `-` for \
                    standard input; may be repeated").short('r').hint(Hint::Path);
            /// Only packets that match this pcap-filter(7) expression.
            filter: String => filter: String = String::new(),
                flag Flag::value("filter", "EXPR", "Only packets that match this pcap-filter(7) \
                    expression; arguments that are not options do the same").short('f');
            /// A file with that expression; lines that begin with # are comments.
            filter_file: PathBuf => filter_file: Option<PathBuf> = None,
                example "\"/etc/flowpin/filter\"",
                flag Flag::value("filter-file", "FILE", "Read the filter from FILE, which may have \
                    several lines, and comments behind #").short('F').hint(Hint::File);
            /// Stop reading after this many packets.
            count: u64 => packet_count_max: Option<u64> = None, example "1000",
                not_zero "the packet count (-n)",
                flag Flag::value("count", "COUNT", "Stop reading after COUNT packets").short('n');
            /// Leave out packets captured before this time.
            since: TimeText => since: Option<TimeText> = None,
                example "\"2026-11-23T08:35:00Z\"",
                flag Flag::value("since", "TIME", "Leave out packets captured before TIME: \
                    2026-11-23T08:35:00Z, or seconds since 1970");
            /// Leave out packets captured at this time or later.
            until: TimeText => until: Option<TimeText> = None,
                example "\"2026-11-23T08:40:00Z\"",
                flag Flag::value("until", "TIME", "Leave out packets captured at TIME or later");
            /// Captures that are truncated or damaged are reported, but are no failure.
            accept_damage: bool => accept_damage: bool = false,
                flag Flag::switch("accept-damage", "Report truncated or damaged captures, but end \
                    with exit code 0: what is before the damage is analysed anyway");
        }
        [pipeline] PipelineSettings: "`[pipeline]`: threads and memory." {
            /// "auto", "1xN" (N do everything), "2xN" (input, N workers) or "3xN" (also output).
            shape: PipelineShape => pipeline: PipelineShape = PipelineShape::default(),
                flag Flag::value("pipeline", "SHAPE", "Threads: `1xN` each does everything, `2xN` \
                    one reads and N analyse, `3xN` also one that writes");
            /// Decoding on the input thread: "capture", "l2" or "l3".
            cut: Cut => cut: Cut = Cut::default(),
                flag Flag::value("cut", "WHERE", "Decoding that the input thread does besides \
                    dispatching packets");
            /// Processors to pin threads to, the input thread first; chosen if not set.
            cpus: CpuList => cpus: Vec<usize> = Vec::new(), example "\"0,2-5\"",
                flag Flag::value("cpus", "LIST", "Processors to pin threads to, the input \
                    thread first: 0,2-5 [default: chosen]");
            /// Memory for everything that is kept of packets; 3 GiB if not set and message bodies
            /// are decoded.
            memory: ByteSize => memory_bytes: u64 = 1 << 30,
                flag Flag::value("memory", "SIZE", "Memory for everything that is kept of \
                    packets (see docs/user/memory.md); 3 GiB where message bodies are decoded");
            /// When the ring of a worker is full: "wait" or "drop" (counted).
            full_ring: FullRing => full_ring: FullRing = FullRing::default();
            /// Secret for the positions of connections in their table; random if not set. No record
            /// depends on it.
            seed: u64 => dispatch_seed: Option<u64> = None, example "1",
                flag Flag::value("seed", "N", "Secret for the positions of connections in their \
                    table; no record depends on it");
        }
        [connections] ConnectionSettings: "`[connections]`: how connections are followed." {
            /// Verify checksums: "all" or "none".
            checksums: Checksums => checksums: Checksums = Checksums::default(),
                flag Flag::value("checksums", "WHICH", "Verify checksums").short('k');
            /// Time-outs as in "zeek" or "suricata", or "none".
            timeouts: Timeouts => timeouts: Timeouts = Timeouts::default(),
                flag Flag::value("timeouts", "WHOSE", "When a silent connection has ended, as \
                    in which tool");
            /// Write interim records of open connections at this interval; none if not set.
            interim: Span => interim_ns: Option<u64> = None, example "\"5 min\"",
                not_zero "the interim interval",
                flag Flag::value("interim", "SPAN", "Write interim records of open connections \
                    at this interval of the capture's time");
            /// Seed of uid and flow_id: the same seed gives the same identifiers.
            id_seed: u64 => id_seed: u64 = 0,
                flag Flag::value("id-seed", "N", "Seed of uid and flow_id: the same seed gives \
                    the same identifiers");
            /// Largest forward leap of the capture's clock that is accepted.
            clock_leap_max: Span => clock_leap_max_ns: u64 = 3_600_000_000_000,
                not_zero "clock_leap_max";
        }
        others {
            /// `-c`: the file that settings were read from.
            settings_file: Option<PathBuf> = None;
            /// Positions of the keys in that file that no option overrides.
            places: Places = Places::default();
            /// Bytes that are read at a time. No record depends on it.
            piece_bytes: usize = 256 << 10;
            /// Network interfaces.
            live: LivePlan = LivePlan::default();
            /// Fragments.
            defragmentation: DefragmentationPlan = DefragmentationPlan::default();
            /// TCP streams.
            streams: StreamsPlan = StreamsPlan::default();
            /// Protocols.
            identify: IdentifyPlan = IdentifyPlan::default();
            /// Messages of application protocols.
            parse: ParsePlan = ParsePlan::default();
            /// Decoding, hashing and extraction of message bodies.
            files: FilesPlan = FilesPlan::default();
            /// Scans and floods.
            scans: ScansPlan = ScansPlan::default();
            /// Signature rules.
            rules: RulesPlan = RulesPlan::default();
            /// Systems of hosts.
            hosts: HostsPlan = HostsPlan::default();
            /// Records.
            output: OutputPlan = OutputPlan::default();
        }
    }
}

impl Plan {
    /// Whether packets come from network interfaces.
    pub fn is_live(&self) -> bool {
        !self.live.interfaces.is_empty()
    }

    /// Less memory than this cannot hold the tables of one worker.
    pub const MEMORY_BYTES_MIN: u64 = 1 << 20;
    /// The default where message bodies are decoded: room for a decoder with a window of 4 MiB in
    /// every shard.
    pub const MEMORY_BYTES_WITH_BODIES: u64 = 3 << 30;
}
