//! Files that are there and are opened again: the one that is meant, or none.

use crate::{Identity, Refused, Removed};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for writing that this run has made.
///
/// # Errors
/// Another one has its name now, or none; what the system says.
pub fn reopen(path: &Path, made: Identity) -> io::Result<File> {
    let file = open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Removed.into(),
        _ => error,
    })?;
    if Identity::of_open(&file) != Some(made) {
        return Err(Removed.into());
    }
    Ok(file)
}

/// The first bytes of a regular file, `len` at most.
///
/// # Errors
/// It is something else; what the system says.
pub fn read_head(path: &Path, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_as(path, OpenOptions::new().read(true))?;
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file, if it is a regular one of `len_max` bytes at most.
///
/// # Errors
/// It is something else, or longer; what the system says.
pub fn read(path: &Path, len_max: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    let file = open_as(path, options.read(true))?;
    let len = file.metadata()?.len();
    if len > len_max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(len_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file for reading.
///
/// # Errors
/// It is something else, or a link; what the system says.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open_as(path, OpenOptions::new().read(true))
}

/// Opens a regular file for writing, as it is.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_as(path, OpenOptions::new().write(true))
}

fn open_as(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // A pipe would wait for its other end; a link may lead anywhere.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = options.custom_flags(raw(flags)).open(path);
    let file = opened.map_err(|error| match path.symlink_metadata() {
        // The system speaks of too many links, or of no device.
        Ok(meta) if !meta.is_file() => Refused::not_regular(path, meta.file_type()).into(),
        _ => error,
    })?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else {
        Err(Refused::not_regular(path, kind).into())
    }
}

#[expect(clippy::cast_possible_wrap, reason = "flags of open(2) are small")]
pub(crate) const fn raw(flags: OFlags) -> i32 {
    flags.bits() as i32
}

#[cfg(test)]
mod tests {
    use super::{read, reopen};
    use crate::{Existing, Identity, Reads, create};
    use std::fs;
    use std::os::unix::fs::symlink;

    /// What took a file's name in the meantime is not written to.
    #[test]
    fn only_the_file_that_was_made_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let made = create(&path, Existing::Refuse, &Reads::default()).unwrap();
        let identity = Identity::of_open(&made).unwrap();
        reopen(&path, identity).unwrap();
        let aside = folder.path().join("aside");
        fs::rename(&path, &aside).unwrap();
        assert!(
            reopen(&path, identity)
                .unwrap_err()
                .to_string()
                .contains("removed")
        );
        symlink(&aside, &path).unwrap();
        let told = reopen(&path, identity).unwrap_err().to_string();
        assert!(told.contains("is a symbolic link"), "{told}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another").unwrap();
        reopen(&path, identity).unwrap_err();
    }

    /// Neither a pipe keeps a reader waiting nor a huge file fills the memory.
    #[test]
    fn what_is_read_whole_is_a_regular_file_of_bounded_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(read(&path, 10).unwrap(), b"0123456789");
        read(&path, 9).unwrap_err();
        let (link, pipe) = (folder.path().join("link"), folder.path().join("pipe"));
        symlink(&path, &link).unwrap();
        read(&link, 10).unwrap_err();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        read(&pipe, 10).unwrap_err();
        read(folder.path(), 10).unwrap_err();
    }
}
