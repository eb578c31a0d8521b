//! Why something is not written.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Why an output is not opened. Nothing was changed. Each prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// This run reads that file.
    #[error(
        "{}{} is read by this run, and writing would destroy it: choose another place to write",
        output.display(),
        also(output, input)
    )]
    Input {
        /// The name under which it would be written.
        output: PathBuf,
        /// The name under which it is read.
        input: PathBuf,
    },
    /// This run writes that file, too.
    #[error(
        "{}{} is written by this run already, and two outputs cannot be one file: choose another \
         place to write",
        output.display(),
        also(output, other)
    )]
    Twice {
        /// The name under which it would be written.
        output: PathBuf,
        /// The name under which it is written already.
        other: PathBuf,
    },
    /// Something is there already.
    #[error(
        "{} there already, and nothing is replaced without a word: choose another place to write, \
         or --force to replace {}",
        listed(paths),
        if paths.len() == 1 { "it" } else { "them" }
    )]
    Exists {
        /// What is there: one at least.
        paths: Vec<PathBuf>,
    },
    /// Something is there that is no regular file.
    #[error(
        "{} is {what}, and only regular files are written: remove it, or choose another place to \
         write",
        path.display()
    )]
    NotRegular {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Where a folder is to be, or on the way there, is something else.
    #[error(
        "{} is {what} and no directory: choose another directory to write into",
        path.display()
    )]
    NoFolder {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// What is there cannot be looked at.
    #[error("cannot look at {}: {source}; choose another place to write", path.display())]
    Unknown {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Refused {
    /// What is not written.
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Input { output, .. } | Self::Twice { output, .. } => Some(output),
            Self::Exists { paths } => paths.first(),
            Self::NotRegular { path, .. }
            | Self::NoFolder { path, .. }
            | Self::Unknown { path, .. } => Some(path),
        }
    }

    /// What a file is that is not regular.
    pub(crate) fn not_regular(path: &Path, kind: FileType) -> Self {
        Self::NotRegular {
            path: path.to_owned(),
            what: Self::name_of(kind),
        }
    }

    /// What a kind of file is called.
    pub(crate) fn name_of(kind: FileType) -> &'static str {
        match kind {
            kind if kind.is_file() => "a file",
            kind if kind.is_symlink() => "a symbolic link",
            kind if kind.is_dir() => "a directory",
            kind if kind.is_fifo() => "a named pipe",
            kind if kind.is_socket() => "a socket",
            _ => "a device",
        }
    }
}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        let kind = match &refused {
            Refused::Exists { .. } => io::ErrorKind::AlreadyExists,
            Refused::Unknown { source, .. } => source.kind(),
            Refused::Input { .. } | Refused::Twice { .. } | Refused::NotRegular { .. } => {
                io::ErrorKind::InvalidInput
            }
            Refused::NoFolder { .. } => io::ErrorKind::NotADirectory,
        };
        Self::new(kind, refused)
    }
}

/// A file was removed or replaced while it was written: its bytes are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was removed or replaced while it was written, and what was in it is lost")]
pub struct Removed;

impl From<Removed> for io::Error {
    fn from(removed: Removed) -> Self {
        Self::new(io::ErrorKind::NotFound, removed)
    }
}

/// The other name, if there is one.
fn also(output: &Path, input: &Path) -> String {
    if output == input {
        String::new()
    } else {
        format!(" (that is {})", input.display())
    }
}

/// The first few, and how many more.
fn listed(paths: &[PathBuf]) -> String {
    let named: Vec<_> = (paths.iter().take(NAMED_MAX))
        .map(|path| path.display().to_string())
        .collect();
    let verb = if paths.len() == 1 { "is" } else { "are" };
    match paths.len().saturating_sub(NAMED_MAX) {
        0 => format!("{} {verb}", named.join(", ")),
        more => format!("{} and {more} more {verb}", named.join(", ")),
    }
}

/// Names in one line.
const NAMED_MAX: usize = 4;
