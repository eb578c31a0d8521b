//! Which files there are to read: directories are looked through, in name order.

use crate::error::CaptureError;
use flowpin_config::Input;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Something that may be a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Candidate {
    /// Named by the user: must be a capture.
    Named(PathBuf),
    /// Found in a directory (by its place among the directories): counts if it is a capture.
    Found(PathBuf, usize),
    /// Standard input: must be a capture.
    Stdin,
}

/// All candidates in order, and the directories that were named.
pub(crate) fn candidates(inputs: &[Input]) -> Result<(Vec<Candidate>, Vec<PathBuf>), CaptureError> {
    let mut candidates = Vec::new();
    let mut directories = Vec::new();
    for input in inputs {
        match input {
            Input::Stdin => candidates.push(Candidate::Stdin),
            // A directory is one however it was given.
            Input::File(path) | Input::Directory(path) if path.is_dir() => {
                let mut found = Vec::new();
                look_through(path, 0, &mut found).map_err(|source| CaptureError::Unreadable {
                    path: path.clone(),
                    source,
                })?;
                let index = directories.len();
                directories.push(path.clone());
                candidates.extend(found.into_iter().map(|path| Candidate::Found(path, index)));
            }
            Input::File(path) | Input::Directory(path) => {
                candidates.push(Candidate::Named(path.clone()));
            }
        }
    }
    Ok((candidates, directories))
}

/// Regular files in `directory` and below it, in name order. Symbolic links to files count,
/// those to directories are not followed: they may lead round in a circle. A directory below it
/// that cannot be read is found as if it were a file, so that it is named when it is opened.
fn look_through(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        entries.push((entry.file_name(), entry.file_type()?));
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (name, file_type) in entries {
        let path = directory.join(name);
        if file_type.is_dir() {
            if depth < DEPTH_MAX && look_through(&path, depth + 1, found).is_err() {
                found.push(path);
            }
        } else if file_type.is_file() || (file_type.is_symlink() && may_be_file(&path)) {
            // Anything else (a pipe, a device) might wait for ever when opened.
            found.push(path);
        }
    }
    Ok(())
}

/// Whether a link leads to a file; also if it leads nowhere, so that it is named when it is opened.
fn may_be_file(link: &Path) -> bool {
    fs::metadata(link).map_or(true, |target| target.is_file())
}

/// Directories within directories.
const DEPTH_MAX: usize = 64;
