//! `flowpin slice`.

use super::InputArgs;
use super::flags::{Connections, Flags, Names, Rules};
use clap::{Args, ValueHint};
use flowpin_config::Settings;
use std::ffi::OsString;
use std::path::PathBuf;

/// The options of `flowpin slice`.
#[derive(Args, Debug)]
pub(crate) struct SliceArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// A connection, by its uid, flow_id or Community ID from a record; may be repeated
    #[arg(long = "uid", value_name = "ID", help_heading = "Input")]
    pub(crate) ids: Vec<String>,

    /// Connections that the rules (-S) with these numbers alert of; several are separated by
    /// commas, or the option repeated
    #[arg(
        long = "sid",
        value_name = "SID",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub(crate) sids: Vec<u32>,

    /// The capture to write: pcap if FILE ends in .pcap, else pcapng; `-` for standard output
    #[arg(
        short = 'w',
        long = "write",
        value_name = "FILE",
        help_heading = "Output"
    )]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) write: PathBuf,

    /// Replace FILE if it exists
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,

    #[command(flatten)]
    connections: Flags<Connections>,

    #[command(flatten)]
    names: Flags<Names>,

    #[command(flatten)]
    rules: Flags<Rules>,

    /// More captures, then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

impl SliceArgs {
    /// The settings from these options.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = self.input.settings(&self.words)?;
        let settings = settings.over(self.connections.settings());
        let settings = settings.over(self.names.settings());
        Ok(settings.over(self.rules.settings()))
    }
}
