//! `flowpin streams`.

use super::flags::{Connections, Depth, Flags, Names};
use super::{InputArgs, value};
use clap::{ArgGroup, Args, ValueEnum, ValueHint};
use flowpin_config::{ByteSize, Settings};
use flowpin_engine::Gaps;
use std::ffi::OsString;
use std::path::PathBuf;

/// The options of `flowpin streams`.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("target").required(true)))]
pub(crate) struct StreamsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) show: FollowArgs,

    #[command(flatten)]
    pub(crate) what: WhatArgs,

    #[command(flatten)]
    connections: Flags<Connections>,

    #[command(flatten)]
    names: Flags<Names>,

    /// More captures, then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

/// Streams as files.
#[derive(Args, Debug)]
#[command(next_help_heading = "To files")]
pub(crate) struct FileArgs {
    /// Write each direction of each TCP connection to a file in DIR, created if missing
    #[arg(short = 'w', long = "write", value_name = "DIR", group = "target")]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) write: Option<PathBuf>,

    /// Write to DIR even if it is not empty, over files of the same names
    #[arg(long, requires = "write")]
    pub(crate) force: bool,

    /// Stop writing when all files together have this size, and say so
    #[arg(long, value_name = "SIZE", requires = "write")]
    pub(crate) output_max: Option<ByteSize>,

    /// Create at most N files, and say if there would be more
    #[arg(
        long,
        value_name = "N",
        requires = "write",
        default_value_t = 1_000_000
    )]
    pub(crate) files_max: u64,

    /// Keep at most N files open; others are reopened when needed
    #[arg(long, value_name = "N", requires = "write", default_value_t = 256)]
    #[arg(value_parser = value::at_least_one)]
    pub(crate) open_max: usize,
}

/// A conversation on standard output.
#[derive(Args, Debug)]
#[command(next_help_heading = "To standard output")]
pub(crate) struct FollowArgs {
    /// Show one conversation, TCP or UDP, in both directions: by uid, flow_id or Community ID
    #[arg(long, value_name = "ID", group = "target")]
    pub(crate) follow: Option<String>,

    /// Output format
    #[arg(
        long,
        value_name = "FORMAT",
        requires = "follow",
        default_value = "auto"
    )]
    pub(crate) format: Show,
}

/// Which bytes of a stream are written.
#[derive(Args, Debug)]
#[command(next_help_heading = "Selection")]
pub(crate) struct WhatArgs {
    /// Only bytes sent by this side
    #[arg(long, value_name = "SIDE")]
    pub(crate) from: Option<Side>,

    #[command(flatten)]
    depth: Flags<Depth>,

    /// How to represent bytes that the capture lacks (in files, and with --format raw)
    #[arg(long, value_name = "HOW", default_value = "zero")]
    pub(crate) gaps: Fill,
}

/// The format of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// Text as text, anything else in hexadecimal
    Auto,
    /// Everything as text, with a dot for each byte that cannot be printed
    Text,
    /// Everything in hexadecimal, with offsets
    Hex,
    /// The bytes and nothing else
    Raw,
    /// JSON lines, one for each run of bytes, with its time, packet and offset
    Json,
}

/// A side of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// The side that opened the connection
    Client,
    /// The other side
    Server,
}

/// The representation of missing bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fill {
    /// Zeros, so that every byte is at its offset; at most 16 MiB of a gap
    Zero,
    /// Nothing
    Skip,
    /// A note with their number
    Note,
}

impl WhatArgs {
    /// Selects one direction: `true` for the client's bytes, `false` for the server's.
    pub(crate) fn only(&self) -> Option<bool> {
        self.from.map(|side| side == Side::Client)
    }

    /// The representation of missing bytes.
    pub(crate) fn gaps(&self) -> Gaps {
        match self.gaps {
            Fill::Zero => Gaps::Zero,
            Fill::Skip => Gaps::Skip,
            Fill::Note => Gaps::Note,
        }
    }
}

impl StreamsArgs {
    /// The settings from these options.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = self.input.settings(&self.words)?;
        let settings = settings.over(self.connections.settings());
        let settings = settings.over(self.names.settings());
        let mut settings = settings.over(self.what.depth.settings());
        settings.streams.enabled = Some(true);
        Ok(settings)
    }
}
