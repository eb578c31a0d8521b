//! `flowpin run`.

use super::InputArgs;
use super::flags::{Connections, Cores, Directory, Flags, Output, Records, Stages};
use clap::Args;
use flowpin_config::Settings;
use std::ffi::OsString;

/// The options of `flowpin run`.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    cores: Flags<Cores>,

    #[command(flatten)]
    connections: Flags<Connections>,

    #[command(flatten)]
    stages: Flags<Stages>,

    #[command(flatten)]
    records: Flags<Records>,

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
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    dir: Flags<Directory>,

    /// Replace the logs and extracted files that an earlier run left there
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    how: Flags<Output>,
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
        let settings = self.input.settings(&self.words)?;
        let others = [
            self.output.dir.settings(),
            self.output.how.settings(),
            self.cores.settings(),
            self.connections.settings(),
            self.stages.settings(),
            self.records.settings(),
        ];
        Ok(others.into_iter().fold(settings, Settings::over))
    }
}
