//! Which files are the program's own, and places in them.

use crate::clang::RawPlace;
use crate::model::{FileId, Place, SourceFile};
use crate::program::Sources;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The program's own files, as they are met.
pub(super) struct Files {
    root: PathBuf,
    files: Vec<SourceFile>,
    by_path: HashMap<PathBuf, FileId>,
    /// What libclang calls a file, in a directory; none for files of the system.
    by_name: HashMap<(PathBuf, String), Option<FileId>>,
    /// Where relative names begin.
    pub(super) directory: PathBuf,
}

impl Files {
    pub(super) fn of(sources: &Sources) -> Self {
        let folders = sources.units.iter().filter_map(|unit| unit.file.parent());
        Self {
            root: shared_beginning(folders),
            files: Vec::new(),
            by_path: HashMap::new(),
            by_name: HashMap::new(),
            directory: PathBuf::new(),
        }
    }

    /// The number of an own file; none for a file of the system.
    pub(super) fn own(&mut self, name: &str) -> Option<FileId> {
        let key = (self.directory.clone(), name.to_owned());
        if let Some(known) = self.by_name.get(&key) {
            return *known;
        }
        let path = self.directory.join(name);
        let path = path.canonicalize().unwrap_or(path);
        let number = self.is_below_root(&path).then(|| self.number(path));
        self.by_name.insert(key, number);
        number
    }

    fn is_below_root(&self, path: &Path) -> bool {
        let is_system = |path: &Path| SYSTEM.iter().any(|folder| path.starts_with(folder));
        path.starts_with(&self.root) && (is_system(&self.root) || !is_system(path))
    }

    fn number(&mut self, path: PathBuf) -> FileId {
        if let Some(number) = self.by_path.get(&path) {
            return *number;
        }
        let number = self.files.len();
        self.files.push(SourceFile { path: path.clone() });
        self.by_path.insert(path, number);
        number
    }

    pub(super) fn place(&mut self, raw: &RawPlace) -> Option<Place> {
        let file = self.own(&raw.file)?;
        Some(Place {
            file,
            offset: raw.offset as usize,
            line: raw.line,
        })
    }

    pub(super) fn finish(self) -> (PathBuf, Vec<SourceFile>) {
        (self.root, self.files)
    }
}

/// Folders of headers that belong to no program.
const SYSTEM: &[&str] = &[
    "/usr/include",
    "/usr/lib",
    "/usr/local/include",
    "/usr/share",
];

/// The deepest folder that holds all.
fn shared_beginning<'a>(mut folders: impl Iterator<Item = &'a Path>) -> PathBuf {
    let mut shared = folders.next().unwrap_or(Path::new("/")).to_owned();
    for folder in folders {
        while !folder.starts_with(&shared) && shared.pop() {}
    }
    shared
}
