//! `flowpin run`.

use super::InputArgs;
use super::flags::{Connections, Cores, Directory, Flags, Live, Output, Records, Stages};
use clap::Args;
use flowpin_config::Settings;
use std::ffi::OsString;

/// The options of `flowpin run`.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    live: Flags<Live>,

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

    /// More captures (arguments ending in .pcap, .pcapng, .cap, also with .gz …), then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

/// Where records are written.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    dir: Flags<Directory>,

    /// Replace the logs and extracted files of an earlier run
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    how: Flags<Output>,
}

/// Output on the terminal.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct ShowArgs {
    /// Print the summary as JSON (see docs/user/summary.md)
    #[arg(long)]
    pub(crate) json: bool,

    /// Print a longer summary: every file, port, worker and reason
    #[arg(short = 'v', long)]
    pub(crate) verbose: bool,

    /// Print no progress bar and no summary, except with --json
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
    /// The settings from these options.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = self.input.settings(&self.words)?;
        let others = [
            self.live.settings(),
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
