//! Why settings were refused, in one line each.

use crate::{ByteSize, Plan};
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
    /// The file says something that we do not understand.
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
    #[error("the name of a file is no valid text: it has no place in a configuration file")]
    NoText,
    /// `-r -` more than once.
    #[error("standard input (`-r -`) can be read only once")]
    StdinTwice,
    /// A setting that must not be 0.
    #[error("{0} must be more than 0")]
    Zero(&'static str),
    /// Too little memory.
    #[error("memory of {0} is too little: at least {min}", min = ByteSize(Plan::MEMORY_BYTES_MIN))]
    MemoryTooSmall(ByteSize),
    /// A network in two groups of hosts.
    #[error("the network {0} is in [[hosts]] twice")]
    NetworkTwice(Network),
    /// Hosts without networks.
    #[error("[[hosts]] number {0} names no networks")]
    HostsNowhere(usize),
    /// An empty list of formats.
    #[error("no output format: name at least one, or `none`")]
    NoFormat,
    /// `none` and another format.
    #[error("the format `none` cannot be combined with another")]
    NoneAmongFormats,
    /// Standard output with another format than EVE.
    #[error(
        "standard output takes EVE JSON lines alone: leave out `--format`, or leave out \
         `--output -` and name a directory for other formats with `-l DIR`"
    )]
    NotEve,
    /// Standard output with rotation.
    #[error("standard output cannot be rotated: drop `--rotate`, or write files with `-l DIR`")]
    RotatedStdout,
}

fn path_prefix(path: Option<&PathBuf>) -> String {
    path.map_or_else(String::new, |path| format!("{}:", path.display()))
}
