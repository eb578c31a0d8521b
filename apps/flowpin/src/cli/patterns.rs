//! `flowpin patterns`.

use super::flags::{Connections, Flags};
use super::input::is_capture_name;
use super::{InputArgs, help};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use flowpin_config::Settings;
use std::ffi::OsString;
use std::path::PathBuf;

/// The commands for patterns.
#[derive(Subcommand, Debug)]
pub(crate) enum PatternsCommand {
    /// Check patterns, and report their cost and their matches in captures
    #[command(long_about = help::TEST_ABOUT, after_long_help = help::TEST_AFTER)]
    #[command(after_help = "Details of matching, and exit codes: `flowpin patterns test --help`.")]
    Test(Box<TestArgs>),
    /// List the built-in protocols, with their groups, ports and rules
    #[command(after_long_help = help::LIST_AFTER)]
    List {
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: PageFormat,
    },
}

/// The options of `flowpin patterns test`.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// A .pat file, a directory of them, or a capture (recognised by the ending of its name)
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    paths: Vec<OsString>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Output format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "table",
        help_heading = "Output"
    )]
    pub(crate) format: PageFormat,

    #[command(flatten)]
    connections: Flags<Connections>,
}

/// The format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// For people
    Table,
    /// One JSON document
    Json,
}

impl TestArgs {
    /// The settings from these options.
    ///
    /// # Errors
    /// See [`InputArgs::settings`].
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let (captures, patterns): (Vec<OsString>, Vec<OsString>) =
            self.paths.iter().cloned().partition(is_capture_name);
        if patterns.is_empty() {
            anyhow::bail!("no patterns: name a .pat file or a directory of them");
        }
        let settings = self.input.settings(&captures)?;
        let mut settings = settings.over(self.connections.settings());
        settings.identify.patterns = Some(patterns.into_iter().map(PathBuf::from).collect());
        Ok(settings)
    }
}
