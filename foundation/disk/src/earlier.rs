//! What an earlier run left where a run is to write.

use crate::{Existing, Reads, Refused, check};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What stands in a folder under names that this run may use, in name order: it is to be
/// [removed](remove) before anything is written. Opens nothing.
///
/// # Errors
/// Something there is read by this run, or no regular file; or there is something, and it is not
/// to be replaced.
pub fn earlier(
    folder: &Path,
    existing: Existing,
    reads: &Reads,
    is_ours: impl Fn(&str) -> bool,
) -> Result<Vec<PathBuf>, Refused> {
    let paths = named(folder, is_ours)?;
    for path in &paths {
        check(path, Existing::Replace, reads)?;
    }
    if existing == Existing::Refuse && !paths.is_empty() {
        return Err(Refused::Exists { paths });
    }
    Ok(paths)
}

/// Removes files that [`earlier`] found.
///
/// # Errors
/// The first that cannot be removed, and what the system says.
pub fn remove(paths: &[PathBuf]) -> Result<(), (PathBuf, io::Error)> {
    for path in paths {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err((path.clone(), error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What stands in a folder under such names, in name order.
///
/// # Errors
/// The folder cannot be listed.
pub fn named(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Refused> {
    let unknown = |source| Refused::Unknown {
        path: folder.to_owned(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // What is no folder cannot be made one: that is told where it is tried.
        Err(error) if is_no_folder(&error) => return Ok(Vec::new()),
        Err(error) => return Err(unknown(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unknown)?;
        if entry.file_name().to_str().is_some_and(&is_ours) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn is_no_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::{earlier, remove};
    use crate::{Existing, Reads, Refused};
    use std::fs;

    /// All that may be in the way is named before anything is touched.
    #[test]
    fn what_an_earlier_run_left_is_found_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let none = Reads::default();
        let is_log = |name: &str| name.ends_with(".log");
        let look = |existing, reads: &Reads| earlier(folder.path(), existing, reads, is_log);
        assert!(look(Existing::Refuse, &none).unwrap().is_empty());
        assert!(
            earlier(&at("absent"), Existing::Refuse, &none, is_log)
                .unwrap()
                .is_empty()
        );
        for name in ["b.log", "a.log", "mine.txt"] {
            fs::write(at(name), name).unwrap();
        }
        let both = vec![at("a.log"), at("b.log")];
        match look(Existing::Refuse, &none) {
            Err(Refused::Exists { paths }) => assert_eq!(paths, both),
            other => panic!("{other:?}"),
        }
        let mut reads = Reads::default();
        reads.add_path(&at("b.log"));
        let refused = look(Existing::Replace, &reads);
        assert!(matches!(refused, Err(Refused::Input { .. })), "{refused:?}");
        let found = look(Existing::Replace, &none).unwrap();
        assert_eq!(found, both);
        remove(&found).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::create_dir(at("c.log")).unwrap();
        let refused = look(Existing::Replace, &none);
        assert!(
            matches!(refused, Err(Refused::NotRegular { .. })),
            "{refused:?}"
        );
    }
}
