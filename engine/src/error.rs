//! Why a run could not be done, or not to its end.

use flowpin_capture::CaptureError;
use flowpin_output::OutputError;
use std::path::PathBuf;

/// Why a run failed. Each prints as one line: what, where, what to do.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input cannot be read (exit code 3), or the filter does not compile (2).
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Records cannot be written (exit code 1). What was written before is intact.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Memory for connection state cannot be reserved (exit code 1).
    #[error("cannot reserve memory for connections: {0}; use a smaller --memory")]
    Memory(std::io::Error),
    /// A thread cannot be started (exit code 1).
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A worker ended before its input did: a defect (exit code 1).
    #[error("worker {0} stopped unexpectedly; please report it")]
    WorkerLost(usize),
    /// A slice needs to read its input twice (exit code 2).
    #[error(
        "cannot slice standard input by --uid, which takes two passes: save it to a file first"
    )]
    SliceFromPipe,
    /// The slice cannot be written (exit code 1).
    #[error(
        "cannot write {path}: {source}; check the disk or choose another file with -w",
        path = path.display()
    )]
    SliceWrite {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
