//! What is captured, written to a file as it is read.

use crate::error::CaptureError;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// The recording of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    file: File,
    failure: Option<io::Error>,
}

impl Recorder {
    /// Writes to a new file.
    pub(crate) const fn new(path: PathBuf, file: File) -> Self {
        Self {
            path,
            file,
            failure: None,
        }
    }

    /// Writes bytes that were analysed. Nothing after a failure: a recording has no holes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.file.write_all(bytes).err();
        }
    }

    /// Why bytes could not be written, if that has not been told.
    pub(crate) fn failure(&mut self) -> Option<CaptureError> {
        let source = self.failure.as_ref()?;
        // Kept, so that nothing more is written.
        let source = io::Error::new(source.kind(), source.to_string());
        let path = self.path.clone();
        Some(CaptureError::Unwritable { path, source })
    }
}
