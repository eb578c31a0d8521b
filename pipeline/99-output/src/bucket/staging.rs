//! Where files grow before they are put: a folder for each run, which names the bucket.
//!
//! ```text
//!  spool/  run-000001/  to             s3://bucket/prefix
//!                       conn-….parquet
//! ```
//!
//! What a run leaves, because the bucket was away or the run was killed, is put by the next one.
//! A file of Parquet is readable at any time, so that one of a killed run has what it had written.

use super::Place;
use crate::OutputError;
use flowpin_disk::{Existing, Reads, check_folder, create, read_given_text};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder of this run.
pub(super) struct Staging {
    base: PathBuf,
    pub(super) folder: PathBuf,
    is_temporary: bool,
    /// Held while the base is used: two runs would put the same files.
    _lock: File,
}

/// Files of an earlier run.
pub(super) struct Left {
    pub(super) folder: PathBuf,
    pub(super) place: Place,
    pub(super) files: Vec<PathBuf>,
}

const PREFIX: &str = "run-";
/// The file that names the bucket.
const TO: &str = "to";

impl Staging {
    /// Makes a folder for a run in the spool, or in a new folder of the system's for temporary
    /// files; and says what is there.
    pub(super) fn open(
        spool: Option<&Path>,
        place: &Place,
        reads: &Reads,
    ) -> Result<(Self, Vec<Left>), OutputError> {
        let base = match spool {
            Some(dir) => dir.to_owned(),
            None => temporary()?,
        };
        check_folder(&base)?;
        let failed = |source| OutputError::Directory {
            path: base.clone(),
            source,
        };
        fs::create_dir_all(&base).map_err(failed)?;
        let lock = File::open(&base).map_err(failed)?;
        let mode = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        rustix::fs::flock(&lock, mode).map_err(|error| match error {
            rustix::io::Errno::WOULDBLOCK => failed(io::Error::other("another run uses it")),
            error => failed(error.into()),
        })?;
        let (left, next) = earlier(&base).map_err(failed)?;
        let folder = base.join(format!("{PREFIX}{next:06}"));
        let made = fs::create_dir(&folder).and_then(|()| {
            let mut to = create(&folder.join(TO), Existing::Refuse, reads)?;
            to.write_all(place.to_string().as_bytes())
        });
        made.map_err(failed)?;
        let staging = Self {
            base: base.clone(),
            folder,
            is_temporary: spool.is_none(),
            _lock: lock,
        };
        Ok((staging, left))
    }

    /// The folder that the next run should be told of.
    pub(super) fn base(&self) -> &Path {
        &self.base
    }

    /// Removes the folder of a run, if nothing is left in it.
    pub(super) fn clear(folder: &Path) {
        let files = fs::read_dir(folder).map(|files| files.flatten().count());
        if files.is_ok_and(|count| count <= 1) {
            let _ = fs::remove_file(folder.join(TO));
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        Self::clear(&self.folder);
        if self.is_temporary {
            let _ = fs::remove_dir(&self.base);
        }
    }
}

fn temporary() -> Result<PathBuf, OutputError> {
    let made = tempfile::Builder::new().prefix("flowpin-").tempdir();
    let made = made.map_err(|source| OutputError::Directory {
        path: std::env::temp_dir(),
        source,
    })?;
    // It goes when all in it has gone: what could not be put is not thrown away.
    Ok(made.keep())
}

/// What earlier runs have left, in their order, and a number that none has.
fn earlier(base: &Path) -> io::Result<(Vec<Left>, u64)> {
    let mut found = Vec::new();
    let mut next = 1;
    for entry in fs::read_dir(base)? {
        let entry = entry?;
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let number = digits.and_then(|digits| digits.parse::<u64>().ok());
        let Some(number) = number.filter(|number| *number < u64::MAX / 2) else {
            continue;
        };
        next = next.max(number + 1);
        // Links and files were put there by others.
        if entry.file_type()?.is_dir()
            && let Some(left) = left(&entry.path())?
        {
            found.push((number, left));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    Ok((found.into_iter().map(|(_, left)| left).collect(), next))
}

/// What is in the folder of a run, if it names a bucket.
fn left(folder: &Path) -> io::Result<Option<Left>> {
    let Ok(text) = read_given_text(&folder.join(TO)) else {
        return Ok(None);
    };
    let Some(place) = Place::of(&text) else {
        return Ok(None);
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path()))?;
        let is_parquet = path.extension().is_some_and(|ending| ending == "parquet");
        if is_parquet && entry?.is_file() {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        Staging::clear(folder);
        return Ok(None);
    }
    let folder = folder.to_owned();
    Ok(Some(Left {
        folder,
        place,
        files,
    }))
}
