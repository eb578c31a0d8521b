//! `flowpin profile` and `flowpin plan`.

use super::InputArgs;
use super::flags::{Connections, Flags, Measured, Stages};
use clap::{Args, ValueHint};
use flowpin_config::Settings;
use std::ffi::OsString;
use std::path::PathBuf;

/// The options of `flowpin profile`.
#[derive(Args, Debug)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    formats: Flags<Measured>,

    /// Print the result as JSON
    #[arg(long, help_heading = "Result")]
    pub(crate) json: bool,

    /// Save the result as JSON, for `flowpin plan`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Result")]
    pub(crate) save: Option<PathBuf>,

    /// Draw the pipeline and its bottleneck
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Result")]
    pub(crate) svg: Option<PathBuf>,

    /// Replace existing files
    #[arg(long, help_heading = "Result")]
    pub(crate) force: bool,

    /// Measure shapes for up to N cores [default: the cores of this machine]
    #[arg(long, value_name = "N", help_heading = "Result")]
    pub(crate) cores: Option<usize>,

    #[command(flatten)]
    connections: Flags<Connections>,

    #[command(flatten)]
    stages: Flags<Stages>,

    /// More captures, then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

impl ProfileArgs {
    /// The settings from these options.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let settings = self.input.settings(&self.words)?;
        let settings = settings.over(self.formats.settings());
        let settings = settings.over(self.connections.settings());
        Ok(settings.over(self.stages.settings()))
    }
}

/// The options of `flowpin plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Rate of the link, in gigabits a second
    #[arg(long, value_name = "GBIT/S")]
    pub(crate) gbps: f64,

    /// Average frame length, without check sequence
    #[arg(long, value_name = "BYTES")]
    pub(crate) packet: f64,

    /// A file written by `flowpin profile --save`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) profile: PathBuf,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
