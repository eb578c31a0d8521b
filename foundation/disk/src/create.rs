//! New files.

use crate::{Identity, Reads, Refused};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the output is refused.
    #[default]
    Refuse,
    /// A new one takes its place (`--force`).
    Replace,
}

/// Whether a file may be made at `path`. Opens nothing.
///
/// # Errors
/// What is there is read by this run, or not a regular file, or not to be replaced.
pub fn check(path: &Path, existing: Existing, reads: &Reads) -> Result<(), Refused> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // Making it will fail for the same reason; it is told with what to do about it there.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
        Err(source) => {
            let path = path.to_owned();
            return Err(Refused::Unknown { path, source });
        }
    };
    // Through a link, too: that it leads to an input is the better reason.
    let refusal = Identity::at(path).and_then(|identity| reads.refusal(identity, path));
    if let Some(refused) = refusal {
        return Err(refused);
    }
    if !meta.is_file() {
        return Err(Refused::not_regular(path, meta.file_type()));
    }
    match existing {
        Existing::Replace => Ok(()),
        Existing::Refuse => Err(Refused::Exists {
            paths: vec![path.to_owned()],
        }),
    }
}

/// Makes a new, empty file.
///
/// One that is there loses its name, not its bytes: whoever has it open, or has another name for
/// it, keeps it as it was.
///
/// # Errors
/// As [`check`]; what the system says.
pub fn create(path: &Path, existing: Existing, reads: &Reads) -> io::Result<File> {
    // O_CREAT with O_EXCL: neither follows a link nor opens a pipe, whoever put it there and when.
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            check(path, existing, reads)?;
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            File::create_new(path)
        }
        done => done,
    }
}

/// Makes a file anew whose name was taken away, as `logrotate` does. One that is there must be
/// empty: its directive `create` has made it.
///
/// # Errors
/// As [`check`]; what the system says.
pub fn remake(path: &Path, reads: &Reads) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        done => return done,
    }
    let there = crate::regular::open(path)?;
    let meta = there.metadata()?;
    let is_read = reads.has(Identity::of(&meta));
    if meta.len() > 0 || meta.nlink() != 1 || is_read {
        check(path, Existing::Refuse, reads)?;
    }
    Ok(there)
}

/// Whether a file has no name any more: it was removed, or another took its place.
pub fn is_gone(file: &File) -> bool {
    let meta = file.metadata();
    meta.is_ok_and(|meta| meta.is_file() && meta.nlink() == 0)
}

#[cfg(test)]
mod tests {
    use super::{Existing, check, create, is_gone, remake};
    use crate::{Reads, Refused};
    use std::fs;
    use std::io::{self, Read, Write};
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn reading(path: &Path) -> Reads {
        let mut reads = Reads::default();
        reads.add_path(path);
        reads
    }

    /// Whatever an input is called, `--force` included, it is neither written nor renamed away.
    #[test]
    fn an_input_is_never_written_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("input"), "precious").unwrap();
        fs::hard_link(at("input"), at("hard")).unwrap();
        symlink(at("input"), at("soft")).unwrap();
        symlink(folder.path(), at("around")).unwrap();
        let readings = [reading(&at("input")), reading(folder.path())];
        for reads in readings {
            for name in ["input", "hard", "soft", "./input", "around/input"] {
                for existing in [Existing::Refuse, Existing::Replace] {
                    let refused = check(&at(name), existing, &reads);
                    assert!(matches!(refused, Err(Refused::Input { .. })), "{name}");
                    create(&at(name), existing, &reads).unwrap_err();
                    assert_eq!(fs::read(at("input")).unwrap(), b"precious");
                }
            }
        }
    }

    /// A link, a pipe, a directory: refused without waiting for anybody, and left as they are.
    #[test]
    fn only_regular_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "mine").unwrap();
        symlink(at("victim"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        let pipe = std::process::Command::new("mkfifo")
            .arg(at("pipe"))
            .status();
        assert!(pipe.unwrap().success());
        let none = Reads::default();
        for (name, what) in [
            ("link", "a symbolic link"),
            ("dangling", "a symbolic link"),
            ("folder", "a directory"),
            ("pipe", "a named pipe"),
        ] {
            for existing in [Existing::Refuse, Existing::Replace] {
                let error = create(&at(name), existing, &none).unwrap_err().to_string();
                assert!(error.contains(what) && !error.contains('\n'), "{error}");
                assert!(fs::symlink_metadata(at(name)).is_ok(), "{name} is gone");
            }
            remake(&at(name), &none).unwrap_err();
        }
        assert_eq!(fs::read(at("victim")).unwrap(), b"mine");
        assert!(!at("nowhere").exists());
    }

    /// A file of before is replaced only where that was asked for; its other names keep its bytes.
    #[test]
    fn a_file_is_replaced_by_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("log"), folder.path().join("kept"));
        fs::write(&path, "old").unwrap();
        fs::hard_link(&path, &other).unwrap();
        let mut reader = fs::File::open(&path).unwrap();
        let none = Reads::default();
        let error = create(&path, Existing::Refuse, &none).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(error.to_string().contains("--force"), "{error}");
        let mut made = create(&path, Existing::Replace, &none).unwrap();
        made.write_all(b"new").unwrap();
        let mut seen = String::new();
        reader.read_to_string(&mut seen).unwrap();
        assert_eq!(
            (seen.as_str(), fs::read(&other).unwrap()),
            ("old", b"old".to_vec())
        );
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(!is_gone(&made));
        fs::rename(&path, folder.path().join("log.1")).unwrap();
        assert!(!is_gone(&made), "renamed is not removed");
        fs::remove_file(folder.path().join("log.1")).unwrap();
        assert!(is_gone(&made));
    }

    /// `logrotate` renames, and may make an empty file in the old place; nothing else is taken.
    #[test]
    fn an_empty_file_is_taken_over_after_a_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let none = Reads::default();
        remake(&at("absent"), &none).unwrap();
        fs::write(at("empty"), "").unwrap();
        remake(&at("empty"), &none)
            .unwrap()
            .write_all(b"x")
            .unwrap();
        assert_eq!(fs::read(at("empty")).unwrap(), b"x");
        remake(&at("empty"), &none).unwrap_err();
        fs::write(at("linked"), "").unwrap();
        fs::hard_link(at("linked"), at("twice")).unwrap();
        remake(&at("linked"), &none).unwrap_err();
    }
}
