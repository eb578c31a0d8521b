//! Errors that prevent or end a run.

use flowpin_capture::CaptureError;
use flowpin_confine::ConfineError;
use flowpin_disk::{Output, Refused};
use flowpin_output::{FileError, OutputError, StreamFilesError};
use flowpin_parser::SetupError;
use std::path::{Path, PathBuf};

/// Why a run failed. Each error prints as one line: what, where, what to do.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input cannot be read (exit code 3), or the filter does not compile (2).
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Records cannot be written (exit code 1). What was written before is intact.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Rights cannot be given up as asked (exit code 2).
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// Memory for connection state cannot be reserved (exit code 1).
    #[error("{0}; raise the limit, or use a smaller --memory or fewer workers")]
    Memory(std::io::Error),
    /// A thread cannot be started (exit code 1).
    #[error("cannot start a thread: {0}; raise the limit of threads or memory (ulimit -u, -v)")]
    Thread(std::io::Error),
    /// A worker ended before its input did: a defect (exit code 1).
    #[error("worker {0} stopped unexpectedly; please report it")]
    WorkerLost(usize),
    /// A built-in rule does not compile: a defect (exit code 1).
    #[error("{0}; please report it")]
    Rule(flowpin_identify::BadRule),
    /// Patterns cannot be read (exit code 2).
    #[error("cannot read patterns from {path}: {source}", path = path.display())]
    Patterns {
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A pattern is refused where all must be valid (exit code 2).
    #[error("{0}")]
    PatternRefused(String),
    /// A file of a parser, such as a FIX data dictionary, cannot be read (exit code 2).
    #[error(transparent)]
    Parser(#[from] SetupError),
    /// No rule identifies the requested protocol (exit code 2).
    #[error("no rule identifies `{0}`: `flowpin patterns list` shows all protocols")]
    NoSuchProtocol(String),
    /// There is no parser for the requested protocol (exit code 2).
    #[error("there is no parser for `{name}`; there are parsers for {}", known.join(", "))]
    NoSuchParser {
        /// The requested protocol.
        name: String,
        /// Those that have a parser.
        known: Vec<String>,
    },
    /// A processor of `--cpus` does not exist or may not be used (exit code 2).
    #[error(
        "the list of processors (--cpus, in a file `cpus`) names {cpu}, which this process may not \
         use; it may use {}",
        ranges(allowed)
    )]
    NoSuchCpu {
        /// The first of them.
        cpu: usize,
        /// Those that may be used, in order.
        allowed: Vec<usize>,
    },
    /// A profile reads its input many times (exit code 2).
    #[error("cannot profile {0}, which can be read only once: save it to a file first")]
    ProfileFromPipe(&'static str),
    /// A slice needs to read its input twice (exit code 2).
    #[error("cannot slice a pipe by --uid, which reads the input twice: save it to a file first")]
    SliceFromPipe,
    /// An explanation needs to read its input twice (exit code 2).
    #[error("cannot explain {0}, which takes two passes: save it to a file first")]
    ExplainFromPipe(&'static str),
    /// An explanation shows lines of text (exit code 2).
    #[error(
        "an explanation shows the lines of records, and the chosen format has none: use --format \
         eve, zeek, zeek-json or csv"
    )]
    ExplainWithoutText,
    /// The packet or connection that is to be explained is not in the input (exit code 1).
    #[error("{0}")]
    NotExplained(String),
    /// A pcap file cannot hold a slice with several link types (exit code 2).
    #[error(
        "{path} has only the first {count}: a pcap file has one link type, and the next packet has \
         another; use a name that ends in .pcapng with -w",
        path = path.display(),
        count = counted(*packets)
    )]
    SliceLinks {
        /// The file.
        path: PathBuf,
        /// Packets before the first of another link type.
        packets: u64,
    },
    /// An output is also an input, or exists and must not be replaced (exit code 2). Nothing was
    /// changed.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The folder for streams is not empty (exit code 2).
    #[error(transparent)]
    StreamFolder(StreamFilesError),
    /// The parts of a divided run do not fit together (exit code 1).
    #[error("{0}")]
    Parts(&'static str),
    /// Streams cannot be written (exit code 1). What was written before is intact.
    #[error("cannot write {path}: {source}", path = path.display())]
    StreamWrite {
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The slice cannot be written (exit code 1).
    #[error(
        "cannot write {path}: {source}; check the disk or choose another file with -w; {kept}",
        path = named(path),
        kept = kept(*packets)
    )]
    SliceWrite {
        /// The file.
        path: PathBuf,
        /// The packets in it; without any, there is no file.
        packets: u64,
        /// The system's error.
        source: std::io::Error,
    },
}

impl RunError {
    /// Whether what was asked for is wrong (exit code 2): an option, a name, a filter.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Capture(error) => error.is_usage(),
            Self::Output(
                OutputError::Refused(_)
                | OutputError::OtherRun { .. }
                | OutputError::Unusable { .. },
            )
            | Self::Refused(_)
            | Self::Confine(_)
            | Self::ProfileFromPipe(_)
            | Self::SliceFromPipe
            | Self::ExplainFromPipe(_)
            | Self::ExplainWithoutText
            | Self::SliceLinks { .. }
            | Self::StreamFolder(_)
            | Self::Patterns { .. }
            | Self::PatternRefused(_)
            | Self::Parser(_)
            | Self::NoSuchProtocol(_)
            | Self::NoSuchParser { .. }
            | Self::NoSuchCpu { .. } => true,
            _ => false,
        }
    }

    /// Whether nothing could be read (exit code 3).
    pub const fn is_unreadable(&self) -> bool {
        matches!(self, Self::Capture(error) if !error.is_usage() && !error.is_output())
    }
}

impl From<FileError> for RunError {
    fn from(error: FileError) -> Self {
        let source = error.source();
        let path = error.path;
        Self::StreamWrite { path, source }
    }
}

impl From<StreamFilesError> for RunError {
    fn from(error: StreamFilesError) -> Self {
        match error {
            StreamFilesError::Refused(refused) => refused.into(),
            StreamFilesError::Write(error) => error.into(),
            error @ StreamFilesError::NotEmpty(_) => Self::StreamFolder(error),
        }
    }
}

/// An output's name in messages.
fn named(path: &Path) -> String {
    match Output::is_stdout(path) {
        true => "standard output".to_owned(),
        false => path.display().to_string(),
    }
}

/// The part of a failed slice that is kept.
fn kept(packets: u64) -> String {
    match packets {
        0 => "nothing is kept".to_owned(),
        1 => "the first packet is kept".to_owned(),
        _ => format!("the first {packets} packets are kept"),
    }
}

/// `packet`, `5 packets`: after "the first".
fn counted(packets: u64) -> String {
    match packets {
        1 => "packet".to_owned(),
        _ => format!("{packets} packets"),
    }
}

/// Processors in order, as `--cpus` takes them: "0-3,6".
fn ranges(cpus: &[usize]) -> String {
    let mut text = String::new();
    let mut rest = cpus;
    while let Some(&first) = rest.first() {
        let count = rest
            .iter()
            .zip(first..)
            .take_while(|&(&cpu, expected)| cpu == expected)
            .count();
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&first.to_string());
        if count > 1 {
            text.push_str(&format!("-{}", first + count - 1));
        }
        rest = rest.get(count..).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::ranges;

    /// The printed list is valid for `--cpus`.
    #[test]
    fn processors_are_printed_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 6, 8, 9]), "0-3,6,8-9");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(ranges(&[]), "");
    }
}
