//! Files that connections carry, written as they come.
//!
//! No file stays open: a few KiB of each are gathered and appended, so any number of them may be on
//! their way. Names are made of the connection's identifier and the transaction, so they depend on
//! the input alone. Whoever can guess them gains nothing: only files that were made here are
//! written to.

use crate::RunError;
use flowpin_disk::{Existing, Identity, Reads, Refused, create, earlier, reopen};
use flowpin_record::{FilePart, Uid};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The files of one worker.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    open: HashMap<(Uid, u64), Open>,
    error: Option<FileError>,
}

/// A file that could not be written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileError {
    path: PathBuf,
    kind: ErrorKind,
    why: String,
}

impl FileError {
    /// As an error of the run.
    pub(crate) fn to_run_error(&self) -> RunError {
        RunError::StreamWrite {
            path: self.path.clone(),
            source: io::Error::new(self.kind, self.why.clone()),
        }
    }
}

/// What an earlier run has extracted into a folder.
///
/// # Errors
/// See [`earlier`].
pub(crate) fn earlier_files(
    folder: &Path,
    existing: Existing,
    reads: &Reads,
) -> Result<Vec<PathBuf>, Refused> {
    earlier(folder, existing, reads, is_name)
}

#[derive(Debug, Default)]
struct Open {
    gathered: Vec<u8>,
    /// Where in the file the gathered bytes begin.
    offset: u64,
    made: Option<Identity>,
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

    /// The first that could not be written.
    pub(super) const fn error(&self) -> Option<&FileError> {
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
                // Bytes after a gap lie where they belong; on most systems a hole takes no room.
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
        let path = self.folder.join(name(uid, number));
        if let Err(error) = open.append(&path) {
            self.error = Some(FileError {
                path,
                kind: error.kind(),
                why: error.to_string(),
            });
        }
    }
}

/// Each transaction has a request and a response.
const SIDES: [&str; 2] = ["request", "response"];

fn name(uid: Uid, number: u64) -> String {
    let [request, response] = SIDES;
    let side = if number.is_multiple_of(2) {
        request
    } else {
        response
    };
    format!("{uid}-{}-{side}", number / 2)
}

/// Whether it is a [`name`].
fn is_name(text: &str) -> bool {
    let mut parts = text.split('-');
    let (uid, number, side) = (parts.next(), parts.next(), parts.next());
    uid.is_some_and(|uid| uid.parse::<Uid>().is_ok())
        && number.is_some_and(|number| number.parse::<u64>().is_ok())
        && side.is_some_and(|side| SIDES.contains(&side))
        && parts.next().is_none()
}

impl Open {
    fn append(&mut self, path: &Path) -> io::Result<()> {
        let mut file = self.open(path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        file.write_all(&self.gathered)?;
        self.offset = self.offset.saturating_add(self.gathered.len() as u64);
        self.gathered.clear();
        Ok(())
    }

    fn open(&mut self, path: &Path) -> io::Result<File> {
        if let Some(made) = self.made {
            return reopen(path, made);
        }
        // Those of an earlier run are gone by now, if they were to be replaced.
        let file = create(path, Existing::Refuse, &Reads::default())?;
        self.made = Identity::of_open(&file);
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::{Files, is_name, name};
    use flowpin_record::{FilePart, Uid};

    /// A link under a name that can be guessed is not followed, a file there not written over: nor
    /// one that took the place of ours meanwhile.
    #[test]
    fn what_is_planted_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let uid = Uid::default();
        let (victim, path) = (
            folder.path().join("victim"),
            folder.path().join(name(uid, 2)),
        );
        std::fs::write(&victim, "mine").unwrap();
        let feed = |early: &dyn Fn(), late: &dyn Fn()| {
            let mut files = Files::new(folder.path());
            early();
            files.part(uid, FilePart::Begin(2));
            files.part(uid, FilePart::Data(2, &[b'x'; 20_000]));
            late();
            files.part(uid, FilePart::Data(2, b"y"));
            files.part(uid, FilePart::End(2, true));
            std::fs::remove_file(&path).unwrap();
            files.error().map(|error| error.to_run_error().to_string())
        };
        let plant = || std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(feed(&plant, &|| ()).unwrap().contains("a symbolic link"));
        let write = || std::fs::write(&path, "another").unwrap();
        assert!(feed(&write, &|| ()).unwrap().contains("there already"));
        let swap = || {
            std::fs::remove_file(&path).unwrap();
            plant();
        };
        feed(&|| (), &swap).unwrap();
        assert_eq!(feed(&|| (), &|| ()), None);
        assert_eq!(std::fs::read(&victim).unwrap(), b"mine");
    }

    /// An earlier run's files are known by their names, and nothing else is.
    #[test]
    fn names_are_known_again() {
        for number in [0, 1, 7, u64::MAX] {
            assert!(is_name(&name(Uid(u64::MAX), number)));
        }
        for other in [
            "C00000000010-1",
            "C00000000010-1-request-2",
            "C1-1-request",
            "notes",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

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
