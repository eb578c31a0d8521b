//! One output that a user names: a file, a device, or standard output.

use crate::beside;
use crate::regular::raw;
use crate::unfinished;
use crate::{Existing, Identity, Reads, Refused, Removed, check, create, is_gone};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Something to write to, unbuffered. A file that is not [kept](Output::keep) is removed again: a
/// half would look like a whole. What it replaces stays until then: the new file is written under
/// another name, and takes the place of the old one as a whole.
///
/// What stands in `/dev` by itself (`/dev/null`, a terminal, a descriptor that a shell opened as
/// `/dev/fd/63`) is written to as it is: nobody but the system puts anything there.
#[derive(Debug)]
pub struct Output {
    /// Where it is written.
    path: PathBuf,
    /// Which file it takes the place of in the end, if one is there.
    replaces: Option<PathBuf>,
    file: File,
    /// Which file was made, if one was.
    made: Option<Identity>,
    kept: bool,
}

impl Output {
    /// Whether a name stands for standard output.
    pub fn is_stdout(path: &Path) -> bool {
        let names = ["-", "/dev/stdout"];
        names.iter().any(|name| path == Path::new(name))
            || is_descriptor(path) && path.file_name().is_some_and(|number| number == "1")
    }

    /// Whether [`Output::open`] would be refused. Opens nothing.
    ///
    /// # Errors
    /// As [`check`], and for standard output as [`Reads::check_stdout`].
    pub fn check(path: &Path, existing: Existing, reads: &Reads) -> Result<(), Refused> {
        if Self::is_stdout(path) {
            reads.check_stdout()
        } else if is_in_dev(path) {
            let meta = path.metadata().ok();
            let refusal = meta.and_then(|meta| reads.refusal(Identity::of(&meta), path));
            refusal.map_or(Ok(()), Err)
        } else {
            check(path, existing, reads)
        }
    }

    /// As [`Output::check`], of all outputs of a command: none may be another one.
    ///
    /// # Errors
    /// As [`Output::check`]; two of them are one file.
    pub fn check_all(paths: &[&Path], existing: Existing, reads: &Reads) -> Result<(), Refused> {
        let mut reads = reads.clone();
        let mut names: Vec<(Option<PathBuf>, &Path)> = Vec::new();
        for path in paths {
            Self::check(path, existing, &reads)?;
            let place = place(path);
            if let Some((_, other)) = names.iter().find(|(known, _)| *known == place) {
                return Err(Refused::Twice {
                    output: path.to_path_buf(),
                    other: other.to_path_buf(),
                });
            }
            let Some(of) = &place else {
                reads.add_stdout();
                names.push((place, path));
                continue;
            };
            let meta = of.metadata().ok();
            let meta = meta.filter(|meta| !meta.file_type().is_char_device());
            match meta {
                Some(meta) => reads.add_written(Identity::of(&meta), path),
                // A device may be named twice; what is not there yet has a name only.
                None if of.exists() => {}
                None => names.push((place, path)),
            }
        }
        Ok(())
    }

    /// Opens it.
    ///
    /// # Errors
    /// As [`Output::check`]; what the system says.
    pub fn open(path: &Path, existing: Existing, reads: &Reads) -> io::Result<Self> {
        Self::check(path, existing, reads)?;
        let over = |file, made, beside: Option<PathBuf>| {
            let replaces = beside.as_ref().map(|_| path.to_owned());
            let path = beside.unwrap_or_else(|| path.to_owned());
            if let Some(made) = made {
                unfinished::add(&path, made);
            }
            Self {
                path,
                replaces,
                file,
                made,
                kept: false,
            }
        };
        if Self::is_stdout(path) {
            return Ok(over(stdout()?, None, None));
        }
        if is_in_dev(path) {
            return Ok(over(open_device(path, reads)?, None, None));
        }
        if existing == Existing::Replace && fs::symlink_metadata(path).is_ok() {
            let (beside, file) = beside::create(path)?;
            let made = Identity::of_open(&file);
            return Ok(over(file, made, Some(beside)));
        }
        let file = create(path, existing, reads)?;
        let made = Identity::of_open(&file);
        Ok(over(file, made, None))
    }

    /// Which file was made, if one was.
    pub const fn made(&self) -> Option<Identity> {
        self.made
    }

    /// What it is written to, unless that is a device: no other output may be it.
    pub fn identity(&self) -> Option<Identity> {
        Identity::of_written(&self.file)
    }

    /// Waits until it is on the disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Cuts a file that was made to `len` bytes, after a failure; what stays is kept, unless it
    /// would replace a file that is whole. Whether it is kept.
    pub fn keep_only(mut self, len: u64) -> bool {
        let is_made = self.made.is_some() && self.replaces.is_none();
        self.kept = is_made && len > 0 && self.file.set_len(len).is_ok();
        self.kept
    }

    /// All is written.
    ///
    /// # Errors
    /// The file was removed meanwhile, or cannot take the place of the one that it replaces.
    pub fn keep(mut self) -> io::Result<()> {
        if self.made.is_some() && is_gone(&self.file) {
            return Err(Removed.into());
        }
        if let Some(path) = &self.replaces {
            if Identity::at(&self.path) != self.made {
                return Err(Removed.into());
            }
            fs::rename(&self.path, path)?;
        }
        self.kept = true;
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let Some(made) = self.made else {
            return;
        };
        unfinished::settle(&self.path, made, !self.kept);
    }
}

/// Standard output, not through the standard library's line buffer.
///
/// # Errors
/// It was closed when the process began: what stands in its place takes anything and keeps nothing.
/// What the system says.
pub fn stdout() -> io::Result<File> {
    if flowpin_cpu::began_without_stdout() {
        return Err(io::Error::other("it is closed"));
    }
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Where a path leads to, none for standard output: two names of one file that is not there yet
/// are one path in one folder.
fn place(path: &Path) -> Option<PathBuf> {
    if Output::is_stdout(path) {
        return None;
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let place = folder.canonicalize().ok().zip(path.file_name());
    Some(place.map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name)))
}

/// Whether a path names a descriptor of this process.
fn is_descriptor(path: &Path) -> bool {
    let Some(parent) = path.parent().and_then(Path::to_str) else {
        return false;
    };
    let own = parent.strip_prefix("/proc/");
    let own = own.and_then(|parent| parent.strip_suffix("/fd"));
    parent == "/dev/fd"
        || own.is_some_and(|process| {
            matches!(process, "self" | "thread-self") || process.parse() == Ok(std::process::id())
        })
}

/// Whether a path names what stands in `/dev` itself, or a descriptor of this process. Not what
/// lies below: `/dev/shm` is a folder like any other.
fn is_in_dev(path: &Path) -> bool {
    let parent = path.parent().and_then(Path::to_str);
    let by_itself = matches!(path.to_str(), Some("/dev/stdout" | "/dev/stderr"));
    let Ok(meta) = path.metadata() else {
        return false;
    };
    let kind = meta.file_type();
    let is_flow = kind.is_char_device() || kind.is_fifo();
    (is_descriptor(path) || by_itself) && (is_flow || kind.is_file())
        || parent == Some("/dev") && kind.is_char_device()
}

fn open_device(path: &Path, reads: &Reads) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.custom_flags(raw(OFlags::NONBLOCK | OFlags::NOCTTY));
    let file = options.write(true).open(path)?;
    let identity = Identity::of_written(&file);
    if let Some(refused) = identity.and_then(|identity| reads.refusal(identity, path)) {
        return Err(refused.into());
    }
    // Opened without waiting; written with.
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::Output;
    use crate::{Existing, Reads, Refused};
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    /// A file is there when all of it is; a failure leaves what was asked to be left.
    #[test]
    fn half_a_file_is_not_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let open = || Output::open(&path, Existing::Replace, &Reads::default()).unwrap();
        let mut output = open();
        output.write_all(b"0123").unwrap();
        drop(output);
        assert!(!path.exists());
        let mut output = open();
        output.write_all(b"0123").unwrap();
        assert!(output.keep_only(3));
        assert_eq!(fs::read(&path).unwrap(), b"012");
        let mut output = open();
        output.write_all(b"4567").unwrap();
        output.keep().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"4567");
        fs::remove_file(&path).unwrap();
        let output = open();
        fs::remove_file(&path).unwrap();
        assert!(output.keep().unwrap_err().to_string().contains("removed"));
    }

    /// With `--force`, too, a file of before stays until the new one is whole.
    #[test]
    fn a_failure_leaves_what_was_to_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let open = || Output::open(&path, Existing::Replace, &Reads::default()).unwrap();
        fs::write(&path, "old").unwrap();
        let mut output = open();
        output.write_all(b"0123").unwrap();
        drop(output);
        let mut output = open();
        output.write_all(b"0123").unwrap();
        assert!(!output.keep_only(3));
        assert_eq!((fs::read(&path).unwrap(), names()), (b"old".to_vec(), 1));
        // Two at a time: neither takes the other's.
        let (mut first, mut second) = (open(), open());
        first.write_all(b"first").unwrap();
        second.write_all(b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        second.keep().unwrap();
        first.keep().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names()), (b"first".to_vec(), 1));
    }

    /// Two outputs are never one file, whatever their names and whether it is there yet.
    #[test]
    fn two_outputs_of_a_command_are_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("below")).unwrap();
        std::os::unix::fs::symlink(folder.path(), at("around")).unwrap();
        fs::write(at("there"), "").unwrap();
        fs::hard_link(at("there"), at("linked")).unwrap();
        let check = |one: &Path, other: &Path| {
            Output::check_all(&[one, other], Existing::Replace, &Reads::default())
        };
        for (one, other) in [
            ("new", "new"),
            ("new", "./new"),
            ("new", "below/../new"),
            ("new", "around/new"),
            ("there", "linked"),
            ("there", "around/there"),
        ] {
            let refused = check(&at(one), &at(other)).unwrap_err();
            assert!(matches!(refused, Refused::Twice { .. }), "{refused}");
        }
        for (one, other) in [("new", "there"), ("new", "below/new"), ("x/new", "y/new")] {
            check(&at(one), &at(other)).unwrap();
        }
        let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/thread-self/fd/1"];
        for other in names.map(Path::new) {
            check(Path::new("-"), other).unwrap_err();
            check(&at("new"), other).unwrap();
        }
        check(Path::new("/dev/null"), Path::new("/dev/null")).unwrap();
    }

    /// What the system keeps in `/dev` may be named; a link to it from elsewhere may not.
    #[test]
    fn devices_that_are_named_are_written_to() {
        let none = Reads::default();
        let mut null = Output::open(Path::new("/dev/null"), Existing::Refuse, &none).unwrap();
        null.write_all(b"gone").unwrap();
        null.keep().unwrap();
        assert!(Path::new("/dev/null").exists());
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        Output::open(&link, Existing::Replace, &none).unwrap_err();
    }
}
