//! Why output fails, and what to do about it.

use flowpin_disk::Refused;
use std::io;
use std::path::{Path, PathBuf};

/// Output could not be written. What was written before is intact and readable.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Something stands where a log would be written. Nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Logs of an earlier run in other formats stand where this run's would be written.
    #[error(
        "{} is a log of an earlier run, in a format that this run does not write, and the two \
         would be mixed: choose another directory with -l, or --force to leave it there",
        path.display()
    )]
    OtherRun {
        /// The first of them.
        path: PathBuf,
    },
    /// A log lost its name while it was written.
    #[error(
        "{}: {source}; choose a directory with -l that nobody clears meanwhile",
        path.display()
    )]
    Removed {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: flowpin_disk::Removed,
    },
    /// A log was cut shorter while it was written.
    #[error(
        "{}: it was cut shorter while it was written, and records are lost; rename logs and send \
         HUP instead of truncating them (copytruncate)",
        path.display()
    )]
    Shortened {
        /// The file.
        path: PathBuf,
    },
    /// A log that was moved away could not be made anew: the file that was open went on.
    #[error(
        "{} was not made anew after HUP: {}; records since then are in the file that was open, \
         move away what is there",
        path.display(),
        in_its_place(source)
    )]
    NotRemade {
        /// Where it would be.
        path: PathBuf,
        /// What is in the way, or what the system said.
        source: io::Error,
    },
    /// The directory for log files cannot be made or used.
    #[error("cannot use {path} as log directory: {source}; {}", advice(source))]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be created.
    #[error("cannot create {path}: {source}; {}", advice(source))]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be written any further.
    #[error("cannot write {path}: {source}; {}", advice_on_writing(path, *kept_bytes, source))]
    Write {
        /// The file.
        path: PathBuf,
        /// How long it is now; it ends with a whole record.
        kept_bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Records cannot be sent there as asked (exit code 2). Nothing was changed.
    #[error("cannot send records to {address}: {why}")]
    Unusable {
        /// Where it would be.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// The program that takes records does not listen at the start. Nothing was changed.
    #[error(
        "cannot send records to {address}: {source}; start what listens there, or give --spool \
         DIR, where records wait for it"
    )]
    Away {
        /// Where it would be.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// It was away when all records were made, and stayed away.
    #[error(
        "{address} was away in the end: {}", stayed_away(spooled.as_ref(), *bytes, *lost)
    )]
    StayedAway {
        /// Where it would be.
        address: String,
        /// Where records wait, if they do.
        spooled: Option<PathBuf>,
        /// How many bytes of them.
        bytes: u64,
        /// Records that are lost.
        lost: u64,
    },
    /// Records could not be encoded as Parquet: for want of memory, or by a defect.
    #[error("cannot encode {path}: {reason}; {}", advice_on_encoding(reason))]
    Encode {
        /// The file.
        path: PathBuf,
        /// What the encoder said.
        reason: String,
    },
}

impl OutputError {
    /// The file or directory in question.
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Refused(refused) => refused.path(),
            Self::OtherRun { path }
            | Self::Removed { path, .. }
            | Self::Shortened { path }
            | Self::NotRemade { path, .. }
            | Self::Directory { path, .. }
            | Self::Create { path, .. }
            | Self::Write { path, .. }
            | Self::Encode { path, .. } => Some(path),
            Self::Unusable { .. } | Self::Away { .. } | Self::StayedAway { .. } => None,
        }
    }
}

impl OutputError {
    /// A file cannot be created. What is refused for what it is says by itself what to do.
    pub(crate) fn create(path: PathBuf, source: io::Error) -> Self {
        match source.downcast::<Refused>() {
            // Nothing of this run is told to replace what came meanwhile.
            Ok(Refused::Exists { .. }) => Self::Create {
                path,
                source: io::ErrorKind::AlreadyExists.into(),
            },
            Ok(refused) => Self::Refused(refused),
            Err(source) => Self::Create { path, source },
        }
    }
}

/// What has become of records without a reader.
fn stayed_away(spooled: Option<&PathBuf>, bytes: u64, lost: u64) -> String {
    let spooled = spooled.map(|dir| {
        let dir = dir.display();
        format!("{bytes} bytes wait in {dir}, for the next run with --spool {dir}")
    });
    let lost = (lost > 0).then(|| format!("{lost} records are lost; give --spool DIR"));
    let told: Vec<_> = spooled.into_iter().chain(lost).collect();
    told.join("; ")
}

/// What keeps a log from being made anew.
fn in_its_place(source: &io::Error) -> String {
    let refused = source.get_ref().and_then(|why| why.downcast_ref());
    match refused {
        Some(Refused::Exists { .. }) => "another file is there".to_owned(),
        Some(Refused::NotRegular { what, .. }) => format!("{what} is there"),
        Some(Refused::Input { .. }) => "a file that this run reads is there".to_owned(),
        Some(Refused::Twice { .. }) => "a file that this run writes is there".to_owned(),
        _ if source.kind() == io::ErrorKind::IsADirectory => "a directory is there".to_owned(),
        _ => source.to_string(),
    }
}

/// A file with bytes of connections cannot be written. What was written before is intact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot write {}: {why}", path.display())]
pub struct FileError {
    /// The file or the folder.
    pub path: PathBuf,
    kind: io::ErrorKind,
    why: String,
}

impl FileError {
    pub(crate) fn new(path: PathBuf, error: &io::Error) -> Self {
        Self {
            path,
            kind: error.kind(),
            why: error.to_string(),
        }
    }

    /// The system's error.
    pub fn source(&self) -> io::Error {
        io::Error::new(self.kind, self.why.clone())
    }
}

/// Streams cannot be written to a folder.
#[derive(Debug, thiserror::Error)]
pub enum StreamFilesError {
    /// A file there must not be replaced. Nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The folder is not empty. Nothing was changed.
    #[error(
        "{} is not empty, and streams of another run would be mixed with these: use a new or \
         empty directory with -w, or --force to write to this one",
        .0.display()
    )]
    NotEmpty(PathBuf),
    /// The folder cannot be created.
    #[error(transparent)]
    Write(#[from] FileError),
}

/// What the standard output is called in place of a path.
pub(crate) const STDOUT: &str = "standard output";

/// What to do about a failure to write, and what is kept. Of where standard output goes, little is
/// known: neither what is there nor how to choose another place.
fn advice_on_writing(path: &Path, kept_bytes: u64, source: &io::Error) -> String {
    if path == Path::new(STDOUT) {
        return match source.kind() {
            io::ErrorKind::BrokenPipe => advice(source).to_owned(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space where it goes, or write files with -l".to_owned()
            }
            _ => "check where it goes, or write files with -l".to_owned(),
        };
    }
    let advice = advice(source);
    format!("{advice}; the first {kept_bytes} bytes are kept, whole records")
}

/// What to do about a failure to encode. The compressor allocates for itself, and says so.
fn advice_on_encoding(reason: &str) -> &'static str {
    let reason = reason.to_ascii_lowercase();
    if reason.contains("memory") || reason.contains("allocat") {
        "the system has no memory left for this process: use a smaller --memory, or raise its limit"
    } else {
        "please report it"
    }
}

/// What to do about a failure of the file system.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space or choose another directory with -l"
        }
        io::ErrorKind::FileTooLarge => "raise the file size limit (ulimit -f) or rotate files",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a directory that you may write to with -l"
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidInput => {
            "it was not there when this run began: move it away"
        }
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
            "something else has that name: move it or choose another directory with -l"
        }
        io::ErrorKind::BrokenPipe => "its reader went away",
        _ => "check the disk or choose another directory with -l",
    }
}

#[cfg(test)]
mod tests {
    use super::OutputError;

    /// Nobody can report a limit of the system's away.
    #[test]
    fn a_lack_of_memory_is_no_defect() {
        let error = |reason: &str| {
            let (path, reason) = ("conn.parquet".into(), reason.to_owned());
            OutputError::Encode { path, reason }.to_string()
        };
        let memory = error("External: Allocation error : not enough memory");
        assert!(memory.contains("--memory"), "{memory}");
        assert!(!memory.contains("report"), "{memory}");
        assert!(error("a column too few").ends_with("please report it"));
    }
}
