//! What a run reads, and therefore must not write; and what it writes, and must not write twice.

use crate::{Identity, Refused};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// The files that a run reads: captures, settings, grammars, patterns, standard input. Also those
/// that it writes by another name.
///
/// Clones share the list while nothing is added.
#[derive(Clone, Debug, Default)]
pub struct Reads(Arc<HashMap<Identity, Known>>);

/// A file that must not be written.
#[derive(Clone, Debug)]
struct Known {
    path: PathBuf,
    is_written: bool,
}

impl Reads {
    /// Standard input, if it comes from a file, and nothing else.
    pub fn standard_input() -> Self {
        let mut reads = Self::default();
        if let Some(identity) = of_descriptor(&io::stdin()) {
            reads.add(identity, Path::new(NOT_NAMED));
        }
        reads
    }

    /// Adds a file that is open, or was.
    pub fn add(&mut self, identity: Identity, path: &Path) {
        let files = Arc::make_mut(&mut self.0);
        let known = files.entry(identity).or_insert_with(|| Known {
            path: path.to_owned(),
            is_written: false,
        });
        // That it is read is the better reason.
        if known.is_written || known.path == Path::new(NOT_NAMED) {
            path.clone_into(&mut known.path);
            known.is_written = false;
        }
    }

    /// Adds what is written already, unless it is read.
    pub fn add_written(&mut self, identity: Identity, path: &Path) {
        let files = Arc::make_mut(&mut self.0);
        let known = files.entry(identity).or_insert_with(|| Known {
            path: path.to_owned(),
            is_written: true,
        });
        if known.path == Path::new(NOT_NAMED) {
            path.clone_into(&mut known.path);
            known.is_written = true;
        }
    }

    /// Adds standard output, to which results or a summary go.
    pub fn add_stdout(&mut self) {
        let own = io::stdout().as_fd().try_clone_to_owned();
        let identity = own.ok().map(File::from);
        if let Some(identity) = identity.and_then(|file| Identity::of_written(&file)) {
            self.add_written(identity, Path::new(STDOUT));
        }
    }

    /// Adds what a path leads to; of a directory, all files in it and below it. `-` is standard
    /// input, by name.
    pub fn add_path(&mut self, path: &Path) {
        if path == Path::new("-") {
            if let Some(identity) = of_descriptor(&io::stdin()) {
                self.add(identity, Path::new("standard input (-)"));
            }
        } else if let Some(identity) = Identity::at(path) {
            self.add(identity, path);
        } else if path.is_dir() {
            self.add_below(path, 0);
        }
    }

    /// Adds what a path leads to, if that is a file: for what is never a directory.
    pub fn add_file(&mut self, path: &Path) {
        if !path.is_dir() {
            self.add_path(path);
        }
    }

    fn add_below(&mut self, directory: &Path, depth: usize) {
        // What cannot be listed is not read either.
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && depth < DEPTH_MAX {
                self.add_below(&path, depth + 1);
            } else if let Some(identity) = Identity::at(&path) {
                self.add(identity, &path);
            }
        }
    }

    /// Whether a file is read, or written already.
    pub fn has(&self, identity: Identity) -> bool {
        self.0.contains_key(&identity)
    }

    /// Why `output` is not written, if it is that file.
    pub(crate) fn refusal(&self, identity: Identity, output: &Path) -> Option<Refused> {
        let Known { path, is_written } = self.0.get(&identity)?.clone();
        let output = output.to_owned();
        Some(match is_written {
            true => Refused::Twice {
                output,
                other: path,
            },
            false => Refused::Input {
                output,
                input: path,
            },
        })
    }

    /// Whether standard output goes to a regular file: only then it is worth while to look.
    pub fn may_hold_stdout() -> bool {
        of_descriptor(&io::stdout()).is_some()
    }

    /// Refuses a standard output that goes to a file which is read. Where standard input leads to
    /// is one of those only if it was named: whoever starts a program may open one file for both.
    ///
    /// # Errors
    /// [`Refused::Input`].
    pub fn check_stdout(&self) -> Result<(), Refused> {
        let identity = of_descriptor(&io::stdout());
        match identity.and_then(|identity| self.refusal(identity, Path::new(STDOUT))) {
            Some(Refused::Input { input, .. }) if input == Path::new(NOT_NAMED) => Ok(()),
            Some(Refused::Twice { other, .. }) if other == Path::new(STDOUT) => Ok(()),
            Some(refused) => Err(refused),
            None => Ok(()),
        }
    }
}

/// Of the regular file that a descriptor leads to.
fn of_descriptor(descriptor: &impl AsFd) -> Option<Identity> {
    let own = descriptor.as_fd().try_clone_to_owned().ok()?;
    Identity::of_open(&File::from(own))
}

/// The file that standard input comes from, while nothing says that it is read.
const NOT_NAMED: &str = "standard input";

/// Standard output in messages.
const STDOUT: &str = "standard output";

/// Directories within directories.
const DEPTH_MAX: usize = 64;
