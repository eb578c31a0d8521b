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

    /// The result as JSON
    #[arg(long, help_heading = "Result")]
    pub(crate) json: bool,

    /// Save the result as JSON, for `flowpin plan`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Result")]
    pub(crate) save: Option<PathBuf>,

    /// Draw the pipeline and its bottleneck
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Result")]
    pub(crate) svg: Option<PathBuf>,

    /// Replace these files if they are there
    #[arg(long, help_heading = "Result")]
    pub(crate) force: bool,

    /// Shapes of up to so many cores are also run [default: the cores that there are]
    #[arg(long, value_name = "N", help_heading = "Result")]
    pub(crate) cores: Option<usize>,

    #[command(flatten)]
    connections: Flags<Connections>,

    #[command(flatten)]
    stages: Flags<Stages>,

    /// Further captures, then the filter
    #[arg(
        value_name = "FILTER",
        allow_negative_numbers = true,
        help_heading = "Input"
    )]
    words: Vec<OsString>,
}

impl ProfileArgs {
    /// The settings that these options make.
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
    /// Bits a second on the wire, in thousands of millions
    #[arg(long, value_name = "GBIT/S")]
    pub(crate) gbps: f64,

    /// Bytes of a frame, on average, without check sequence
    #[arg(long, value_name = "BYTES")]
    pub(crate) packet: f64,

    /// What `flowpin profile --save` wrote
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) profile: PathBuf,

    /// The answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
