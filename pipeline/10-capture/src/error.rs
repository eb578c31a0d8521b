//! Why input could not be opened, in one line that says what to do.

use crate::report::things;
use flowpin_socket::SocketError;
use std::io;
use std::path::PathBuf;

/// Why there is nothing to analyse. What goes wrong *inside* a capture is no error but a
/// [`Damage`](crate::Damage) in its report: what came before is analysed.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// No input was named.
    #[error("no input: name a capture file, a directory, or - for standard input")]
    NoInput,
    /// A file or directory could not be opened or read.
    #[error(
        "cannot read {path}: {source}; check the path and its permissions",
        path = path.display()
    )]
    Unreadable {
        /// What was to be opened.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory holds no capture.
    #[error(
        "no capture in {path}, which has {}: none is pcap or pcapng, compressed or not",
        things(*file_count as u64, "file"),
        path = path.display()
    )]
    NoCaptures {
        /// The directory.
        path: PathBuf,
        /// How many files were looked at.
        file_count: usize,
    },
    /// A file that was named is not a capture.
    #[error("{path} is not a capture that can be read: {found}", path = path.display())]
    NotACapture {
        /// The file.
        path: PathBuf,
        /// What it is instead, and what to do.
        found: String,
    },
    /// No capture has frames that can be decoded.
    #[error(
        "{path} has link type {number} ({name}), which is not decoded: nothing to analyse",
        path = path.display()
    )]
    UnsupportedLink {
        /// The first capture.
        path: PathBuf,
        /// The number in the registry of link types.
        number: u16,
        /// Its name.
        name: String,
    },
    /// An interface cannot be captured from.
    #[error(transparent)]
    Interface(#[from] SocketError),
    /// What is captured cannot be recorded. What was recorded before is whole.
    #[error(
        "cannot record to {path}: {source}; check the disk or choose another file with -w",
        path = path.display()
    )]
    Unwritable {
        /// The recording.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The filter expression does not compile.
    #[error("filter \"{expression}\" does not compile for link type {link}: {message}")]
    Filter {
        /// The expression as given.
        expression: String,
        /// The name of the link type.
        link: String,
        /// What libpcap's compiler said.
        message: String,
    },
    /// Nothing has read from the interfaces for a while.
    #[error("the run did not take the filter within ten seconds")]
    NotRead,
}

impl CaptureError {
    /// Whether an output is to blame (exit code 1).
    pub const fn is_output(&self) -> bool {
        matches!(self, Self::Unwritable { .. })
    }

    /// Whether the command line is to blame (exit code 2) and not the input (exit code 3).
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::NoInput | Self::Filter { .. })
    }
}
