//! Which files are the program's own, and places in them.

use crate::clang::RawPlace;
use crate::model::{FileId, Place, SourceFile};
use crate::program::Sources;
use std::collections::{HashMap, HashSet};
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
        let mut folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
        folders.extend(folders_above(sources));
        Self {
            root: shared_beginning(folders.iter().map(PathBuf::as_path)),
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

/// Folders that the program's text names from where it stands (`#include "../config.h"`): they keep
/// their place beside it, so that the program begins above them.
fn folders_above(sources: &Sources) -> HashSet<PathBuf> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut work: Vec<PathBuf> = sources.units.iter().map(|unit| unit.file.clone()).collect();
    while let Some(file) = work.pop() {
        if !seen.insert(file.clone()) {
            continue;
        }
        let text = std::fs::read(&file).unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new("."));
        for name in included(&String::from_utf8_lossy(&text)) {
            let Ok(target) = folder.join(name).canonicalize() else {
                continue;
            };
            if let Some(above) = target.parent().filter(|_| name.starts_with("..")) {
                found.insert(above.to_owned());
            }
            work.push(target);
        }
    }
    found
}

/// What a text includes by names in quotes.
fn included(text: &str) -> Vec<&str> {
    text.lines().filter_map(included_by).collect()
}

fn included_by(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split('"').next()
}
