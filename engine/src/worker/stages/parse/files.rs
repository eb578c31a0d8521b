//! Files that connections carry, written as they come.
//!
//! No file stays open: a few KiB of each are gathered and appended, so any number of them may be on
//! their way. Names are made of the connection's identifier and the transaction, so they depend on
//! the input alone.

use flowpin_record::{FilePart, Uid};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
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
    /// Where in the file the gathered bytes begin.
    offset: u64,
    is_made: bool,
}

/// Bytes that are gathered of a file before they are written.
const GATHERED: usize = 16 << 10;

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
            FilePart::Data(number, bytes) => {
                let Some(open) = self.open.get_mut(&(uid, number)) else {
                    return;
                };
                open.gathered.extend_from_slice(bytes);
                if open.gathered.len() >= GATHERED {
                    self.write(uid, number);
                }
            }
            FilePart::Missing(number, len) => {
                // Bytes behind a gap lie where they belong; on most systems a hole takes no room.
                self.write(uid, number);
                if let Some(open) = self.open.get_mut(&(uid, number)) {
                    open.offset = open.offset.saturating_add(len);
                }
            }
            FilePart::End(number, _) => {
                self.write(uid, number);
                self.open.remove(&(uid, number));
            }
        }
    }

    /// Writes what was gathered. A file without bytes is not made.
    fn write(&mut self, uid: Uid, number: u64) {
        let Some(open) = self.open.get_mut(&(uid, number)) else {
            return;
        };
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
        if let Err(error) = open.append(&path) {
            self.error = Some((path, error.raw_os_error().unwrap_or(0)));
        }
    }
}

impl Open {
    fn append(&mut self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(!self.is_made);
        let mut file = options.open(path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        file.write_all(&self.gathered)?;
        self.is_made = true;
        self.offset = self.offset.saturating_add(self.gathered.len() as u64);
        self.gathered.clear();
        Ok(())
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
