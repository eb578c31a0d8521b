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

    /// Further captures, then the filter
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
    /// A file for each direction of each TCP connection in DIR, which is made if missing
    #[arg(short = 'w', long = "write", value_name = "DIR", group = "target")]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) write: Option<PathBuf>,

    /// Write into DIR even if it is not empty, over files of the same names
    #[arg(long, requires = "write")]
    pub(crate) force: bool,

    /// Stop writing, and say so, once all files together hold this
    #[arg(long, value_name = "SIZE", requires = "write")]
    pub(crate) output_max: Option<ByteSize>,

    /// Make no more files than this, and say so
    #[arg(
        long,
        value_name = "N",
        requires = "write",
        default_value_t = 1_000_000
    )]
    pub(crate) files_max: u64,

    /// Keep no more files than this open; others are opened again when needed
    #[arg(long, value_name = "N", requires = "write", default_value_t = 256)]
    #[arg(value_parser = value::at_least_one)]
    pub(crate) open_max: usize,
}

/// A conversation on standard output.
#[derive(Args, Debug)]
#[command(next_help_heading = "To standard output")]
pub(crate) struct FollowArgs {
    /// One conversation, TCP or UDP, both directions as they came: by uid, flow_id or Community ID
    #[arg(long, value_name = "ID", group = "target")]
    pub(crate) follow: Option<String>,

    /// How it is shown
    #[arg(
        long,
        value_name = "FORMAT",
        requires = "follow",
        default_value = "auto"
    )]
    pub(crate) format: Show,
}

/// What is told of a stream.
#[derive(Args, Debug)]
#[command(next_help_heading = "What")]
pub(crate) struct WhatArgs {
    /// Only what this side sent
    #[arg(long, value_name = "SIDE")]
    pub(crate) from: Option<Side>,

    #[command(flatten)]
    depth: Flags<Depth>,

    /// What stands where the capture lacks bytes (in files, and with --format raw)
    #[arg(long, value_name = "HOW", default_value = "zero")]
    pub(crate) gaps: Fill,
}

/// How a conversation is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// Text as text, anything else in hexadecimal
    Auto,
    /// All as text, a dot for what cannot be printed
    Text,
    /// All in hexadecimal, with offsets
    Hex,
    /// The bytes and nothing else
    Raw,
    /// JSON lines, one for each run of bytes, with its time, packet and offset
    Json,
}

/// A side of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// Who began it
    Client,
    /// The other one
    Server,
}

/// What stands for missing bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fill {
    /// Zeros, so that every byte lies at its offset; 16 MiB at most
    Zero,
    /// Nothing
    Skip,
    /// A note with their number
    Note,
}

impl WhatArgs {
    /// Whether only streams to the server are wanted, or only those to the client.
    pub(crate) fn only(&self) -> Option<bool> {
        self.from.map(|side| side == Side::Client)
    }

    /// What stands for missing bytes.
    pub(crate) fn gaps(&self) -> Gaps {
        match self.gaps {
            Fill::Zero => Gaps::Zero,
            Fill::Skip => Gaps::Skip,
            Fill::Note => Gaps::Note,
        }
    }
}

impl StreamsArgs {
    /// The settings that these options make.
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
