//! Appends to many files of one folder, of which only a few are open at a time.

use crate::FileError;
use flowpin_disk::{Existing, Identity, Reads, Removed, create, is_gone, reopen};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The files of a folder that are being written, by name.
#[derive(Debug)]
pub(crate) struct Appender {
    folder: PathBuf,
    open_max: usize,
    existing: Existing,
    reads: Reads,
    open: HashMap<Box<str>, OpenFile>,
    /// Files closed for now: their lengths and identities.
    closed: HashMap<Box<str>, (u64, Identity)>,
    uses: u64,
}

#[derive(Debug)]
struct OpenFile {
    file: BufWriter<File>,
    /// The offset of the next write; the length of the file once it is closed.
    len: u64,
    /// Whether it ends in a hole.
    ends_in_hole: bool,
    used: u64,
}

impl Appender {
    /// At most `open_max` files, but at least one, are open at a time.
    pub(crate) fn new(folder: &Path, open_max: usize, existing: Existing) -> Self {
        Self {
            folder: folder.to_owned(),
            open_max: open_max.max(1),
            existing,
            reads: Reads::default(),
            open: HashMap::new(),
            closed: HashMap::new(),
            uses: 0,
        }
    }

    /// Never writes to these files.
    pub(crate) fn protect(&mut self, reads: &Reads) {
        self.reads = reads.clone();
    }

    /// Creates an empty file.
    pub(crate) fn create(&mut self, name: &str) -> Result<(), FileError> {
        self.open_file(name, None)
    }

    /// Appends bytes to a file.
    pub(crate) fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.with_open(name, |open| {
            open.file.write_all(bytes)?;
            open.len = open.len.saturating_add(bytes.len() as u64);
            open.ends_in_hole &= bytes.is_empty();
            Ok(())
        })
    }

    /// Appends a hole: zeros that take no space on most file systems.
    pub(crate) fn append_hole(&mut self, name: &str, len: u64) -> Result<(), FileError> {
        self.with_open(name, |open| {
            open.len = open.len.saturating_add(len);
            open.ends_in_hole = true;
            open.file.seek(SeekFrom::Start(open.len)).map(drop)
        })
    }

    /// Completes a file.
    pub(crate) fn close(&mut self, name: &str) -> Result<(), FileError> {
        self.closed.remove(name);
        match self.open.remove(name) {
            Some(open) => open.finish().map_err(|error| self.failed(name, &error)),
            None => Ok(()),
        }
    }

    fn failed(&self, name: &str, error: &io::Error) -> FileError {
        FileError::new(self.folder.join(name), error)
    }

    /// Calls `write` with an open file.
    fn with_open(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut OpenFile) -> io::Result<()>,
    ) -> Result<(), FileError> {
        self.uses += 1;
        if !self.open.contains_key(name) {
            let before = self.closed.remove(name);
            self.open_file(name, before)?;
        }
        let written = match self.open.get_mut(name) {
            Some(open) => {
                open.used = self.uses;
                write(open)
            }
            None => Err(io::ErrorKind::NotFound.into()),
        };
        written.map_err(|error| self.failed(name, &error))
    }

    /// Creates a file, or opens it again.
    fn open_file(&mut self, name: &str, before: Option<(u64, Identity)>) -> Result<(), FileError> {
        self.uses += 1;
        while self.open.len() >= self.open_max {
            self.close_stalest()?;
        }
        let path = self.folder.join(name);
        let file = loop {
            let opened = match before {
                Some((_, made)) => reopen(&path, made),
                None => create(&path, self.existing, &self.reads),
            };
            match opened {
                // The process, or the system, has no more descriptors: use fewer.
                Err(error) if is_too_many(&error) && !self.open.is_empty() => {
                    self.open_max = self.open.len();
                    self.close_stalest()?;
                }
                opened => break opened,
            }
        };
        let len = before.map_or(0, |(len, _)| len);
        let file = file.and_then(|mut file| {
            file.seek(SeekFrom::Start(len))?;
            Ok(file)
        });
        let open = OpenFile {
            file: BufWriter::with_capacity(
                BUFFER_BYTES,
                file.map_err(|error| self.failed(name, &error))?,
            ),
            len,
            ends_in_hole: false,
            used: self.uses,
        };
        self.open.insert(name.into(), open);
        Ok(())
    }

    /// Closes the least recently written file for now.
    fn close_stalest(&mut self) -> Result<(), FileError> {
        let stalest = self.open.iter().min_by_key(|(_, open)| open.used);
        let Some(name) = stalest.map(|(name, _)| name.clone()) else {
            return Ok(());
        };
        let Some(open) = self.open.remove(&name) else {
            return Ok(());
        };
        let (len, identity) = (open.len, Identity::of_open(open.file.get_ref()));
        let finished = open.finish();
        finished.map_err(|error| self.failed(&name, &error))?;
        if let Some(identity) = identity {
            self.closed.insert(name, (len, identity));
        }
        Ok(())
    }
}

impl OpenFile {
    fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        if self.ends_in_hole {
            self.file.get_ref().set_len(self.len)?;
        }
        if is_gone(self.file.get_ref()) {
            return Err(Removed.into());
        }
        Ok(())
    }
}

/// EMFILE or ENFILE.
fn is_too_many(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(24 | 23))
}

/// A few segments.
const BUFFER_BYTES: usize = 8 << 10;
