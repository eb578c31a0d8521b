//! The spill file: batches for which memory has no room, in Arrow's own format.
//!
//! It has no name, and is gone with the process. Its space is used anew once all of it was read.

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use std::fs::File;
use std::io::{self, Error};
use std::os::unix::fs::FileExt;

/// The file, made when it is needed.
#[derive(Debug, Default)]
pub(crate) struct Spill {
    file: Option<File>,
    /// Where the next batch goes.
    end: u64,
    /// Batches that were not read yet.
    waiting: usize,
    /// Bytes written so far.
    bytes: u64,
}

/// Where a batch is.
#[derive(Debug)]
pub(crate) struct Spilled {
    at: u64,
    len: usize,
}

impl Spill {
    /// Writes a batch.
    ///
    /// # Errors
    /// The folder for temporary files has no room, or cannot be written.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> io::Result<Spilled> {
        let mut writer =
            StreamWriter::try_new(Vec::new(), batch.schema_ref()).map_err(Error::other)?;
        writer.write(batch).map_err(Error::other)?;
        let bytes = writer.into_inner().map_err(Error::other)?;
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile().map_err(told)?);
        }
        if self.waiting == 0 {
            self.end = 0;
        }
        let at = self.end;
        if let Some(file) = &self.file {
            file.write_all_at(&bytes, at).map_err(told)?;
        }
        let len = bytes.len();
        self.end += len as u64;
        self.bytes += len as u64;
        self.waiting += 1;
        Ok(Spilled { at, len })
    }

    /// Reads a batch, once.
    ///
    /// # Errors
    /// The system's errors.
    pub(crate) fn read(&mut self, spilled: &Spilled) -> io::Result<RecordBatch> {
        let mut bytes = vec![0; spilled.len];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut bytes, spilled.at)?;
        }
        self.forget();
        let mut batches = StreamReader::try_new(bytes.as_slice(), None).map_err(Error::other)?;
        let batch = batches.next().unwrap_or_else(|| {
            let text = "a spilled batch is empty; please report it".to_owned();
            Err(ArrowError::IpcError(text))
        });
        batch.map_err(Error::other)
    }

    /// A batch is not needed any more.
    pub(crate) const fn forget(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// Bytes written so far.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What the system said, and what to do.
fn told(error: Error) -> Error {
    let folder = std::env::temp_dir();
    let text = format!(
        "cannot keep rows for later in {}: {error}; read the kinds of records at the same time, \
         name only those that are read (records=…), or set TMPDIR to a folder with more room",
        folder.display()
    );
    Error::new(error.kind(), text)
}
