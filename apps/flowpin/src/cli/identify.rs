//! `flowpin identify`.

use super::{ConnectionArgs, InputArgs};
use clap::{Args, ValueEnum, ValueHint};
use flowpin_config::{IdentifySettings, Settings};
use std::ffi::OsString;
use std::path::PathBuf;

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
    patterns: PatternArgs,

    #[command(flatten)]
    connections: ConnectionArgs,

    /// Further captures, then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

/// Patterns of the user's.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Analysis")]
pub(crate) struct PatternArgs {
    /// l7-filter patterns, a .pat file or a directory of them, asked where no built-in rule
    /// decides; may be repeated (try them with `flowpin patterns test`)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    patterns: Vec<PathBuf>,
}

impl PatternArgs {
    /// The settings that these options make.
    pub(crate) fn settings(&self) -> IdentifySettings {
        IdentifySettings {
            patterns: (!self.patterns.is_empty()).then(|| self.patterns.clone()),
            ..IdentifySettings::default()
        }
    }
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
        let (connections, pipeline) = self.connections.settings();
        Ok(Settings {
            input: self.input.settings(&self.words)?,
            connections,
            pipeline,
            identify: self.patterns.settings(),
            ..Settings::default()
        })
    }
}
