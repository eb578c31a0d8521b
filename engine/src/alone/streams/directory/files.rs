//! Files being written: a few of them open at a time, the others opened again when needed.

use super::failed;
use crate::RunError;
use flowpin_disk::{Existing, Identity, Reads, Removed, create, is_gone, reopen};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The files of a folder that are being written, by name.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    open_max: usize,
    existing: Existing,
    reads: Reads,
    open: HashMap<Box<str>, Open>,
    /// Those that are not open and will be gone on with: their lengths, and which they are.
    closed: HashMap<Box<str>, (u64, Identity)>,
    uses: u64,
}

#[derive(Debug)]
struct Open {
    file: BufWriter<File>,
    /// Where writing goes on; the file is as long when it is closed.
    len: u64,
    /// Whether it ends in zeros that were not written.
    hollow: bool,
    used: u64,
}

impl Files {
    pub(super) fn new(folder: &Path, open_max: usize, overwrite: bool) -> Self {
        Self {
            folder: folder.to_owned(),
            open_max: open_max.max(1),
            existing: if overwrite {
                Existing::Replace
            } else {
                Existing::Refuse
            },
            reads: Reads::default(),
            open: HashMap::new(),
            closed: HashMap::new(),
            uses: 0,
        }
    }

    /// These are not to be written.
    pub(super) fn spare(&mut self, reads: &Reads) {
        self.reads = reads.clone();
    }

    /// Makes a file that is empty.
    pub(super) fn make(&mut self, name: &str) -> Result<(), RunError> {
        self.open_file(name, None)
    }

    /// Writes at the end of a file.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), RunError> {
        let path = self.folder.join(name);
        let open = self.reach(name)?;
        open.file
            .write_all(bytes)
            .map_err(|source| failed(&path, source))?;
        open.len += bytes.len() as u64;
        open.hollow &= bytes.is_empty();
        Ok(())
    }

    /// Makes a file longer by zeros, which take no room on disk.
    pub(super) fn skip(&mut self, name: &str, len: u64) -> Result<(), RunError> {
        let path = self.folder.join(name);
        let open = self.reach(name)?;
        open.len += len;
        open.hollow = true;
        let end = SeekFrom::Start(open.len);
        open.file
            .seek(end)
            .map(drop)
            .map_err(|source| failed(&path, source))
    }

    /// Nothing more is written to a file.
    pub(super) fn close(&mut self, name: &str) -> Result<(), RunError> {
        self.closed.remove(name);
        let path = self.folder.join(name);
        match self.open.remove(name) {
            Some(open) => open.finish().map_err(|source| failed(&path, source)),
            None => Ok(()),
        }
    }

    /// An open file.
    fn reach(&mut self, name: &str) -> Result<&mut Open, RunError> {
        self.uses += 1;
        let used = self.uses;
        if !self.open.contains_key(name) {
            let before = self.closed.remove(name);
            self.open_file(name, before)?;
        }
        let missing = || failed(&self.folder.join(name), io::ErrorKind::NotFound.into());
        let open = self.open.get_mut(name).ok_or_else(missing)?;
        open.used = used;
        Ok(open)
    }

    /// Opens a file again, or makes it.
    fn open_file(&mut self, name: &str, before: Option<(u64, Identity)>) -> Result<(), RunError> {
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
                // The process, or the system, has no more: do with fewer.
                Err(error) if is_too_many(&error) && !self.open.is_empty() => {
                    self.open_max = self.open.len();
                    self.close_stalest()?;
                }
                done => break done,
            }
        };
        let len = before.map_or(0, |(len, _)| len);
        let placed = file.and_then(|mut file| {
            file.seek(SeekFrom::Start(len))?;
            Ok(file)
        });
        let file = placed.map_err(|source| failed(&path, source))?;
        let open = Open {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            len,
            hollow: false,
            used: self.uses,
        };
        self.open.insert(name.into(), open);
        Ok(())
    }

    /// Closes the file that was written to least recently.
    fn close_stalest(&mut self) -> Result<(), RunError> {
        let stalest = self.open.iter().min_by_key(|(_, open)| open.used);
        let Some(name) = stalest.map(|(name, _)| name.clone()) else {
            return Ok(());
        };
        let Some(open) = self.open.remove(&name) else {
            return Ok(());
        };
        let path = self.folder.join(&*name);
        if let Some(made) = Identity::of_open(open.file.get_ref()) {
            self.closed.insert(name, (open.len, made));
        }
        open.finish().map_err(|source| failed(&path, source))
    }
}

impl Open {
    fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        if self.hollow {
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

/// Some segments.
const BUFFER_BYTES: usize = 8 << 10;
