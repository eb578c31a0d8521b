//! Files that connections carry, written as they come.
//!
//! No file stays open: a few KiB of each are gathered and appended, so any number of them may be on
//! their way. Names are made of the connection's identifier and the transaction, so they depend on
//! the input alone.

use flowpin_record::{FilePart, Uid};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The files of one worker.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    open: HashMap<(Uid, u64), Open>,
    error: Option<(PathBuf, i32)>,
}

#[derive(Debug, Default)]
struct Open {
    gathered: Vec<u8>,
    is_made: bool,
}

/// Bytes that are gathered of a file before they are written.
const GATHERED: usize = 16 << 10;

/// Of a gap no more is filled.
const FILLED_MAX: u64 = 1 << 20;

impl Files {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            open: HashMap::new(),
            error: None,
        }
    }

    /// The first that could not be written, and the system's number for why.
    pub(super) const fn error(&self) -> Option<&(PathBuf, i32)> {
        self.error.as_ref()
    }

    /// A part of a connection's file.
    pub(super) fn part(&mut self, uid: Uid, part: FilePart<'_>) {
        if self.error.is_some() {
            return;
        }
        match part {
            FilePart::Begin(number) => {
                self.open.insert((uid, number), Open::default());
            }
            FilePart::Data(number, bytes) => self.append(uid, number, bytes),
            FilePart::Missing(number, len) => {
                // Bytes behind a gap lie where they belong.
                let zeros = usize::try_from(len.min(FILLED_MAX)).unwrap_or(0);
                self.append(uid, number, &vec![0; zeros]);
            }
            FilePart::End(number, _) => {
                if let Some(open) = self.open.remove(&(uid, number)) {
                    self.write(uid, number, &open);
                }
            }
        }
    }

    fn append(&mut self, uid: Uid, number: u64, bytes: &[u8]) {
        let Some(open) = self.open.get_mut(&(uid, number)) else {
            return;
        };
        open.gathered.extend_from_slice(bytes);
        if open.gathered.len() < GATHERED {
            return;
        }
        let full = std::mem::take(open);
        self.write(uid, number, &full);
        if let Some(open) = self.open.get_mut(&(uid, number)) {
            open.is_made = true;
            open.gathered = full.gathered;
            open.gathered.clear();
        }
    }

    /// Writes what was gathered. A file without bytes is not made.
    fn write(&mut self, uid: Uid, number: u64, open: &Open) {
        if open.gathered.is_empty() {
            return;
        }
        // Each transaction has a request and a response.
        let side = if number.is_multiple_of(2) {
            "request"
        } else {
            "response"
        };
        let path = self.folder.join(format!("{uid}-{}-{side}", number / 2));
        let write = || -> io::Result<()> {
            let mut options = OpenOptions::new();
            if open.is_made {
                options.append(true);
            } else {
                options.write(true).create(true).truncate(true);
            }
            options.open(&path)?.write_all(&open.gathered)
        };
        if let Err(error) = write() {
            self.error = Some((path, error.raw_os_error().unwrap_or(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Files;
    use flowpin_record::{FilePart, Uid};

    /// Parts of files come mixed; each file has its own bytes, gaps as zeros.
    #[test]
    fn files_have_their_own_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::new(folder.path());
        let uid = Uid::default();
        let long = vec![b'x'; 40_000];
        for part in [
            FilePart::Begin(2),
            FilePart::Begin(3),
            FilePart::Data(2, b"ab"),
            FilePart::Data(3, &long),
            FilePart::Missing(2, 3),
            FilePart::Data(2, b"c"),
            FilePart::Data(3, b"y"),
            FilePart::End(2, false),
            FilePart::End(3, true),
            FilePart::Begin(4),
            FilePart::End(4, true),
        ] {
            files.part(uid, part);
        }
        assert!(files.error().is_none());
        let read = |name: &str| std::fs::read(folder.path().join(format!("{uid}-{name}"))).unwrap();
        assert_eq!(read("1-request"), b"ab\0\0\0c");
        assert_eq!(read("1-response").len(), 40_001);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        let mut nowhere = Files::new(&folder.path().join("none"));
        nowhere.part(uid, FilePart::Begin(2));
        nowhere.part(uid, FilePart::Data(2, b"x"));
        nowhere.part(uid, FilePart::End(2, true));
        assert!(nowhere.error().is_some());
    }
}
