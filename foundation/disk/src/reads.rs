//! What a run reads, and therefore must not write.

use crate::{Identity, Refused};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// The files that a run reads: captures, settings, grammars, patterns, standard input.
///
/// Clones share the list while nothing is added.
#[derive(Clone, Debug, Default)]
pub struct Reads(Arc<HashMap<Identity, PathBuf>>);

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
        let name = files.entry(identity).or_insert_with(|| path.to_owned());
        if name == Path::new(NOT_NAMED) {
            path.clone_into(name);
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

    /// By which name a file is read, if it is.
    pub fn name_of(&self, identity: Identity) -> Option<&Path> {
        self.0.get(&identity).map(PathBuf::as_path)
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
        match identity.and_then(|identity| self.name_of(identity)) {
            Some(input) if input != Path::new(NOT_NAMED) => Err(Refused::Input {
                output: "standard output".into(),
                input: input.to_owned(),
            }),
            _ => Ok(()),
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

/// Directories within directories.
const DEPTH_MAX: usize = 64;
