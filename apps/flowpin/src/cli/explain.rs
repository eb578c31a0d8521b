//! `flowpin explain`.

use super::InputArgs;
use super::flags::{Connections, Flags, Lines, Stages, Texts, Workers};
use clap::{Arg, ArgGroup, Args};
use flowpin_config::Settings;
use std::ffi::OsString;

/// The options of `flowpin explain`.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("question").required(true)))]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// A packet, by its number in the merged input (`pcap_cnt` in EVE JSON)
    #[arg(long, value_name = "N", group = "question", help_heading = "What")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) packet: Option<u64>,

    /// Each packet of a connection, by its uid, flow_id or Community ID from a record
    #[arg(long, value_name = "ID", group = "question", help_heading = "What")]
    pub(crate) uid: Option<String>,

    /// The packet or the connection that caused a record: a line of EVE JSON, of a Zeek log or of
    /// CSV; `-` for standard input
    #[arg(
        long,
        value_name = "LINE",
        group = "question",
        help_heading = "What",
        allow_hyphen_values = true
    )]
    pub(crate) record: Option<String>,

    /// Print JSON lines: an object for each packet, then one for the connection
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    #[command(flatten)]
    lines: Flags<Lines>,

    #[command(flatten)]
    workers: Flags<Workers>,

    #[command(flatten)]
    connections: Flags<Connections>,

    #[command(flatten)]
    stages: Flags<Stages>,

    #[command(flatten)]
    records: Flags<Texts>,

    /// Further captures, then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

impl ExplainArgs {
    /// The settings that these options make.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = self.input.settings(&self.words)?;
        let settings = settings.over(self.lines.settings());
        let settings = settings.over(self.workers.settings());
        let settings = settings.over(self.connections.settings());
        let settings = settings.over(self.stages.settings());
        Ok(settings.over(self.records.settings()))
    }
}

/// `--read` for an input that is read twice: not standard input.
pub(super) fn of_files(read: Arg) -> Arg {
    read.help("A capture, or a directory of captures; may be repeated")
}

pub(super) const ABOUT: &str = "\
Explains what each stage of the pipeline saw of a packet and decided, in order: headers with their \
offsets, fast or slow path, fragments, checksum, shard, the connection before and after, bytes \
delivered, held or dropped and why, protocol and parser, and the records that the packet caused. \
Beside each stage stands the folder of its source code.

Give the same input and the same settings as the run that wrote the record. The input is read \
twice, on one thread: it must be a file, not a pipe. Nothing is written but the explanation: \
--extract changes records as in a run, but no body is written.

--uid explains each packet of a connection in a line or two, then how and when the connection \
ended; a Community ID that several connections have explains each of them. --record takes a line \
of any record and explains its packet, if the record names one, or else its connection.";

pub(super) const AFTER: &str = "\
Examples:
  flowpin explain -r big.pcap --packet 4711
      one packet, stage by stage: why is it not in the log?
  flowpin explain -r big.pcap --uid C0XWfTK4LReq
      each packet of a connection in a line or two, then its end
  grep invalid_reset eve.json | head -1 | flowpin explain -r big.pcap --record -
      what caused a record
  flowpin explain -r big.pcap --packet 4711 --json | jq .reassembly

Exit codes: as for `flowpin run`; 1 also if there is no such packet or connection.";
