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

    /// How it is shown
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "table",
        help_heading = "Output"
    )]
    pub(crate) format: ListFormat,

    /// Only connections of these protocols; `unknown`: that no rule knows, `silent`: that said
    /// nothing; several by comma or by repeating
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub(crate) only: Vec<String>,

    /// Only the sums by protocol, no connections
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

/// How the list is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people, with sums by protocol behind it
    Table,
    /// JSON lines, in the words of EVE JSON
    Json,
    /// Comma-separated values with a header line
    Csv,
}

impl IdentifyArgs {
    /// The settings that these options make.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = self.input.settings(&self.words)?;
        let settings = settings.over(self.connections.settings());
        Ok(settings.over(self.patterns.settings()))
    }
}
