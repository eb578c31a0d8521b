//! Why settings were refused, in one line each.

use crate::{ByteSize, OutputPlan, Places, Plan};
use flowpin_packet::Network;
use std::path::PathBuf;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("{}: cannot read the configuration: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has an unknown key or an invalid value.
    #[error("{}{line}:{column}: {message}", path_prefix(path.as_ref()))]
    Refused {
        /// Which file, if it is one.
        path: Option<PathBuf>,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Settings that no file can hold.
    #[error(
        "a configuration file cannot hold a file name that is not valid UTF-8, or a number above \
         {}",
        i64::MAX
    )]
    NoText,
    /// The file of the filter could not be read.
    #[error("{}: cannot read the filter: {source}", path.display())]
    UnreadableFilter {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file of the filter has none.
    #[error("{}: there is no filter in the file", .0.display())]
    EmptyFilter(PathBuf),
    /// A filter both as an expression and in a file.
    #[error("two filters, an expression and `--filter-file`: give one of them")]
    TwoFilters,
    /// `-r -` more than once.
    #[error("standard input (`-r -`) can be read only once")]
    StdinTwice,
    /// Interfaces and captures.
    #[error("packets come from interfaces (`-i`) or from captures (`-r`), not from both")]
    LiveAndFiles,
    /// A setting that must not be 0.
    #[error("{what} must be more than 0")]
    Zero {
        /// Its section and key.
        key: [&'static str; 2],
        /// What it is.
        what: &'static str,
    },
    /// Too little memory.
    #[error("memory of {0} is too small: at least {min}", min = ByteSize(Plan::MEMORY_BYTES_MIN))]
    MemoryTooSmall(ByteSize),
    /// A network in two groups of hosts.
    #[error("the network {network} is in [[hosts]] twice")]
    NetworkTwice {
        /// Which.
        network: Network,
        /// Which group repeats it, from 1.
        group: usize,
    },
    /// Hosts without networks.
    #[error("[[hosts]] number {0} has no networks")]
    HostsNowhere(usize),
    /// A time that ends before it begins.
    #[error("no packet is captured at or after `--since` and before `--until`")]
    NoTime,
    /// An empty list of formats.
    #[error("no output format: name at least one, or `none`")]
    NoFormat,
    /// `none` and another format.
    #[error("the format `none` cannot be combined with another")]
    NoneAmongFormats,
    /// Standard output with another format than EVE.
    #[error(
        "`--output` takes only EVE JSON lines: remove `--format` (in a file `formats`), or \
         remove `--output` (in a file `stdout` or `stream`) and write other formats to a \
         directory with `-l DIR`"
    )]
    NotEve,
    /// A bucket with another format than Parquet.
    #[error(
        "`--output s3://…` takes only Parquet: remove `--format` (in a file `formats`), or write \
         other formats to a directory with `-l DIR`"
    )]
    NotParquet,
    /// A live capture whose files never become whole.
    #[error(
        "files go to a bucket when they are whole, which those of a live capture become by \
         `--rotate` alone: add that, such as `--rotate \"10 m\"`"
    )]
    NeverWhole,
    /// Standard output and another program.
    #[error("records go to one place: remove `stdout` or `stream`")]
    TwoPlaces,
    /// Standard output with rotation.
    #[error(
        "what goes to `--output` cannot be rotated: remove `--rotate` (in a file `rotate_every` \
         and `rotate_size`), or write files with `-l DIR` (in a file, remove `stdout` or `stream`)"
    )]
    RotatedStdout,
    /// More files than there can be.
    #[error(
        "a log can be divided among {max} files at most, not {0} (`--output-files`)",
        max = OutputPlan::FILES_MAX
    )]
    TooManyFiles(u16),
    /// Files beside each other, of what cannot be divided.
    #[error("`--output-files` divides logs of text in a directory: {0}")]
    NotDivided(&'static str),
}

impl ConfigError {
    /// The error with its position, if the refused value is from the file.
    pub(crate) fn in_file(self, places: &Places) -> Self {
        let place = match &self {
            Self::Zero {
                key: [section, key],
                ..
            } => places.line_and_column(section, key),
            Self::HostsNowhere(group) | Self::NetworkTwice { group, .. } => {
                places.line_and_column("hosts", &group.to_string())
            }
            other => other
                .keys()
                .iter()
                .find_map(|[section, key]| places.line_and_column(section, key)),
        };
        let Some((line, column)) = place else {
            return self;
        };
        let message = match self {
            Self::Zero { key: [_, key], .. } => format!("`{key}` must be more than 0"),
            other => other.to_string(),
        };
        Self::Refused {
            path: Some(places.path().to_owned()),
            line,
            column,
            message,
        }
    }

    /// The keys concerned, the likeliest first.
    const fn keys(&self) -> &'static [[&'static str; 2]] {
        match self {
            Self::StdinTwice => &[["input", "read"]],
            Self::LiveAndFiles => &[["live", "interfaces"], ["input", "read"]],
            Self::MemoryTooSmall(_) => &[["pipeline", "memory"]],
            Self::NoTime => &[["input", "until"], ["input", "since"]],
            Self::NoFormat | Self::NoneAmongFormats => &[["output", "formats"]],
            Self::NotEve => &[["output", "formats"], ["output", "stdout"]],
            Self::NotParquet => &[["output", "formats"], ["output", "stream"]],
            Self::NeverWhole => &[["output", "stream"]],
            Self::TwoPlaces => &[["output", "stream"], ["output", "stdout"]],
            Self::RotatedStdout => &[
                ["output", "rotate_every"],
                ["output", "rotate_size"],
                ["output", "stdout"],
            ],
            Self::TooManyFiles(_) | Self::NotDivided(_) => &[["output", "files"]],
            _ => &[],
        }
    }
}

fn path_prefix(path: Option<&PathBuf>) -> String {
    path.map_or_else(String::new, |path| format!("{}:", path.display()))
}
