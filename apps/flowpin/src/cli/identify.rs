//! `flowpin identify`.

use super::InputArgs;
use super::flags::{Connections, Flags, Patterns};
use clap::{Args, ValueEnum};
use flowpin_config::Settings;
use std::ffi::OsString;

/// The options of `flowpin identify`.
#[derive(Args, Debug)]
pub(crate) struct IdentifyArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Output format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "table",
        help_heading = "Output"
    )]
    pub(crate) format: ListFormat,

    /// Only connections of these protocols, or `unknown` (no rule matched), `silent` (no payload);
    /// several separated by commas, or repeated
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub(crate) only: Vec<String>,

    /// Only the totals by protocol, without connections
    #[arg(long, conflicts_with_all = ["format", "only"], help_heading = "Output")]
    pub(crate) totals: bool,

    #[command(flatten)]
    patterns: Flags<Patterns>,

    #[command(flatten)]
    connections: Flags<Connections>,

    /// Further captures, then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

/// The format of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people, followed by totals by protocol
    Table,
    /// JSON lines, with the field names of EVE JSON
    Json,
    /// Comma-separated values with a header line
    Csv,
}

impl IdentifyArgs {
    /// The settings from these options.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = self.input.settings(&self.words)?;
        let settings = settings.over(self.connections.settings());
        Ok(settings.over(self.patterns.settings()))
    }
}
