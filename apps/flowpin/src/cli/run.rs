//! `flowpin run`.

use super::value::{self, Rotate};
use super::{ConnectionArgs, InputArgs, PatternArgs};
use clap::{Args, ValueHint};
use flowpin_config::{
    CpuList, Cut, FileSettings, Format, IdentifySettings, OutputSettings, ParseSettings,
    PipelineSettings, PipelineShape, ScanSettings, Settings, Span, StreamSettings,
};
use std::ffi::OsString;
use std::path::PathBuf;

/// The options of `flowpin run`.
#[derive(Args, Debug, Default)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    cores: CoreArgs,

    #[command(flatten)]
    connections: ConnectionArgs,

    #[command(flatten)]
    stages: StageArgs,

    #[command(flatten)]
    records: RecordArgs,

    #[command(flatten)]
    pub(crate) show: ShowArgs,

    /// Further captures (words that end in .pcap, .pcapng, .cap, also .gz …), then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

/// Where records go.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Where log files go; made if missing [default: .]
    #[arg(short = 'l', long = "log-dir", value_name = "DIR", value_hint = ValueHint::DirPath)]
    log_dir: Option<PathBuf>,

    /// Replace the logs and extracted files that an earlier run left there
    #[arg(long)]
    pub(crate) force: bool,

    /// Formats; several by comma or by repeating [default: eve]
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    #[arg(value_parser = value::word::<Format>())]
    format: Vec<Format>,

    /// `-`: EVE JSON lines to standard output instead of files; no other format goes there
    #[arg(long, value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    #[arg(conflicts_with = "log_dir")]
    output: Option<String>,

    /// New files each time the records' time leaves such an interval, or before a file grows
    /// past a size: "1 h", "100 MiB", or both by comma
    #[arg(long, value_name = "WHEN", value_delimiter = ',', value_parser = value::rotate)]
    rotate: Vec<Rotate>,

    /// Stop writing, and say so, once all files together hold this
    #[arg(long, value_name = "SIZE")]
    output_max: Option<flowpin_config::ByteSize>,
}

/// Threads.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Cores")]
struct CoreArgs {
    /// Threads: `1x1` one for everything, `2xN` one reads and N work, `3xN` one more writes
    /// [default: auto]
    #[arg(long, value_name = "SHAPE")]
    pipeline: Option<PipelineShape>,

    /// What the reading thread does besides dispatching packets [default: auto]
    #[arg(long, value_name = "WHERE", value_parser = value::word::<Cut>())]
    cut: Option<Cut>,

    /// Processors to pin threads to, the reading thread's first: 0,2-5 [default: chosen]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,

    /// Dispatch secret; decides which worker gets what, never what is recorded
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// What is looked at besides connections.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Analysis")]
pub(super) struct StageArgs {
    /// Put TCP streams in order, and tell what is odd about them; how: `[streams]` in settings
    /// [default: on]
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    #[arg(value_parser = value::on_off())]
    streams: Option<bool>,

    /// Ask connections' first bytes which protocol they are [default: on]
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    #[arg(value_parser = value::on_off())]
    identify: Option<bool>,

    #[command(flatten)]
    patterns: PatternArgs,

    /// Read the messages of application protocols: of all that have a parser, of none, or of
    /// these alone (http,dns); how: `[parse]` in settings [default: on]
    #[arg(long, value_name = "on|off|NAMES", value_parser = value::parse)]
    parse: Option<value::Parse>,

    /// Read every field of messages, not only the common ones: all of HTTP's and FIX's; of FTP every
    /// command
    #[arg(long)]
    all_fields: bool,

    /// Write the bodies of messages to files in this directory; limits: `[files]` in settings
    #[arg(long, value_name = "DIR")]
    extract: Option<PathBuf>,

    /// Tell the hashes of the bodies of messages, decoded: md5, sha1, sha256
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    hash: Vec<Hash>,

    /// A grammar (docs/user/grammar.md): reads connections of the protocol it names; may be
    /// repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    grammar: Vec<PathBuf>,

    /// A QuickFIX data dictionary (XML) with names of FIX fields and messages; may be repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    fix_dictionary: Vec<PathBuf>,

    /// Look for scans and floods; thresholds and exceptions: `[scans]` in settings [default: on]
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    #[arg(value_parser = value::on_off())]
    scans: Option<bool>,
}

/// What records hold.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Records")]
struct RecordArgs {
    /// Interim records of long connections, each such length of the capture's time
    #[arg(long, value_name = "SPAN")]
    interim: Option<Span>,

    /// Community ID in connection records [default: on]
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    #[arg(value_parser = value::on_off())]
    community_id: Option<bool>,

    /// Seed of the Community ID [default: 0]
    #[arg(long, value_name = "N")]
    community_seed: Option<u16>,

    /// For spreadsheets: text in CSV that begins like a formula (=, +, -, @) gets an apostrophe in
    /// front
    #[arg(long)]
    csv_safe: bool,
}

/// What is shown.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "What is shown")]
pub(crate) struct ShowArgs {
    /// The summary as JSON (docs/user/summary.md)
    #[arg(long)]
    pub(crate) json: bool,

    /// A longer summary: every file, port, worker and reason
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,

    /// No progress bar and no summary but that of --json
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Check settings, inputs and filter, then stop
    #[arg(short = 'T', long = "test-config")]
    pub(crate) test: bool,

    /// Print the effective settings as a configuration file, then stop
    #[arg(long, conflicts_with = "test")]
    pub(crate) print_config: bool,
}

impl RunArgs {
    /// The settings that these options make.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let (mut connections, pipeline) = self.connections.settings();
        connections.interim = self.records.interim;
        let (mut rotate_every, mut rotate_size) = (None, None);
        for &rotate in &self.output.rotate {
            match rotate {
                Rotate::Every(span) => rotate_every = Some(span),
                Rotate::Size(size) => rotate_size = Some(size),
            }
        }
        // A log directory on the command line wins over standard output in the file.
        let stdout = match (&self.output.output, &self.output.log_dir) {
            (Some(_), _) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        };
        Ok(Settings {
            input: self.input.settings(&self.words)?,
            pipeline: PipelineSettings {
                shape: self.cores.pipeline,
                cut: self.cores.cut,
                cpus: self.cores.cpus.clone(),
                seed: self.cores.seed,
                ..pipeline
            },
            connections,
            output: OutputSettings {
                dir: self.output.log_dir.clone(),
                stdout,
                formats: (!self.output.format.is_empty()).then(|| self.output.format.clone()),
                community_id: self.records.community_id,
                community_seed: self.records.community_seed,
                csv_safe: self.records.csv_safe.then_some(true),
                rotate_every,
                rotate_size,
                size_max: self.output.output_max,
                ..OutputSettings::default()
            },
            ..self.stages.settings()
        })
    }
}

/// A hash of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Hash {
    Md5,
    Sha1,
    Sha256,
}

impl StageArgs {
    /// That a hash is asked for; what settings say otherwise.
    fn hashes(&self, hash: Hash) -> Option<bool> {
        self.hash.contains(&hash).then_some(true)
    }

    /// The settings of the stages behind the connection table.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            streams: StreamSettings {
                enabled: self.streams,
                ..StreamSettings::default()
            },
            identify: IdentifySettings {
                enabled: self.identify,
                ..self.patterns.settings()
            },
            parse: ParseSettings {
                enabled: self.parse.as_ref().map(|parse| *parse != value::Parse::Off),
                protocols: self.parse.as_ref().and_then(value::Parse::protocols),
                grammars: (!self.grammar.is_empty()).then(|| self.grammar.clone()),
                fix_dictionaries: (!self.fix_dictionary.is_empty())
                    .then(|| self.fix_dictionary.clone()),
                all_fields: self.all_fields.then_some(true),
                ..ParseSettings::default()
            },
            files: FileSettings {
                extract: self.extract.clone(),
                md5: self.hashes(Hash::Md5),
                sha1: self.hashes(Hash::Sha1),
                sha256: self.hashes(Hash::Sha256),
                ..FileSettings::default()
            },
            scans: ScanSettings {
                enabled: self.scans,
                ..ScanSettings::default()
            },
            ..Settings::default()
        }
    }
}
