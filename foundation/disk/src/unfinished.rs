//! Outputs that are not whole yet, so that none is left if the process ends in their midst.

use crate::Identity;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are being written, of the whole process: few, and each only until it is whole.
static UNFINISHED: Mutex<Vec<(PathBuf, Identity)>> = Mutex::new(Vec::new());

/// Removes all files that are not whole yet: the process is about to end.
pub fn abandon() {
    for (path, made) in files().drain(..) {
        remove(&path, made);
    }
}

pub(crate) fn add(path: &Path, made: Identity) {
    files().push((path.to_owned(), made));
}

/// A file is whole, or to be removed.
pub(crate) fn settle(path: &Path, made: Identity, is_half: bool) {
    let mut files = files();
    files.retain(|(known, of)| known != path || *of != made);
    if is_half {
        remove(path, made);
    }
}

/// Best effort: the failure before this one is being told.
fn remove(path: &Path, made: Identity) {
    if Identity::at(path) == Some(made) {
        let _ = fs::remove_file(path);
    }
}

/// A list of names stays good whoever panicked with it in hand.
fn files() -> MutexGuard<'static, Vec<(PathBuf, Identity)>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
