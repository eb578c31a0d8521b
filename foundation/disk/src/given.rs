//! Files that a user names and that are read whole: settings, grammars, patterns, dictionaries.

use crate::regular::raw;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The most that is read of such a file: far more than anybody writes by hand.
pub const GIVEN_LEN_MAX: u64 = 16 << 20;

/// Why a file that a user names is not read.
#[derive(Debug, thiserror::Error)]
pub enum NotGiven {
    /// It is neither a regular file nor an open pipe.
    #[error("it is {0}, and only regular files are read")]
    Kind(&'static str),
    /// It is too long.
    #[error("it is longer than {} MiB, the most that is read of such a file", .0 >> 20)]
    Long(u64),
    /// Text was expected.
    #[error("it is no text: byte {0} is not UTF-8")]
    NoText(usize),
}

impl From<NotGiven> for io::Error {
    fn from(why: NotGiven) -> Self {
        let kind = match why {
            NotGiven::Kind(_) => io::ErrorKind::InvalidInput,
            NotGiven::Long(_) => io::ErrorKind::FileTooLarge,
            NotGiven::NoText(_) => io::ErrorKind::InvalidData,
        };
        Self::new(kind, why)
    }
}

/// Reads a file that a user names, whatever links lead to it: a regular one, or a pipe that is open
/// already, as `/dev/stdin` and a shell's `<(…)` are. Of neither more than [`GIVEN_LEN_MAX`].
///
/// # Errors
/// It is something else, such as a device, or longer; what the system says.
pub fn read_given(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, GIVEN_LEN_MAX)
}

/// As [`read_given`], of up to `len_max` bytes: for files that programs write, such as rule sets.
///
/// # Errors
/// As those of [`read_given`].
pub fn read_given_up_to(path: &Path, len_max: u64) -> io::Result<Vec<u8>> {
    read_at_most(path, len_max)
}

/// As [`read_given`], of text.
///
/// # Errors
/// Also if the bytes are not UTF-8.
pub fn read_given_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_given(path)?)
        .map_err(|error| NotGiven::NoText(error.utf8_error().valid_up_to()).into())
}

fn read_at_most(path: &Path, len_max: u64) -> io::Result<Vec<u8>> {
    // The usual name for nothing, and the one device whose end is near.
    if path == Path::new("/dev/null") {
        return Ok(Vec::new());
    }
    // Looked at before it is opened: opening a device may do something to it.
    let kind = std::fs::metadata(path)?.file_type();
    let is_open_pipe = kind.is_fifo() && is_descriptor(path);
    if !kind.is_file() && !is_open_pipe {
        return Err(NotGiven::Kind(name(kind)).into());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    if !is_open_pipe {
        // Another may have taken its place: a pipe would wait for its other end.
        options.custom_flags(raw(OFlags::NONBLOCK | OFlags::NOCTTY));
    }
    let file = options.open(path)?;
    let opened = file.metadata()?.file_type();
    if opened.is_file() || is_open_pipe && opened.is_fifo() {
        take(file, len_max)
    } else {
        Err(NotGiven::Kind(name(opened)).into())
    }
}

fn take(file: File, len_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The length that the system tells is not asked: a file may grow, and a pipe has none.
    let read = file.take(len_max + 1).read_to_end(&mut bytes)?;
    if read as u64 > len_max {
        return Err(NotGiven::Long(len_max).into());
    }
    Ok(bytes)
}

/// Whether a path is one of those by which a process finds what it has open itself: whoever
/// handed over a pipe there means to write into it.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|folder| {
            [Path::new("/dev/fd"), Path::new("/proc/self/fd")].contains(&folder)
        })
}

fn name(kind: std::fs::FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(test)]
mod tests {
    use super::{read_at_most, read_given, read_given_text};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// Nothing keeps the reader waiting, and nothing fills the memory; links are followed.
    #[test]
    fn what_is_given_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(read_at_most(&link, 10).unwrap(), b"0123456789");
        let told = read_at_most(&path, 9).unwrap_err().to_string();
        assert!(told.contains("longer than"), "{told}");
        assert!(read_given(Path::new("/dev/null")).unwrap().is_empty());
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for (path, part) in [
            (pipe.as_path(), "a named pipe"),
            (folder.path(), "a directory"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            let told = read_given(path).unwrap_err().to_string();
            assert!(told.contains(part), "{told}");
        }
    }

    /// What is no text is told as that, with the place.
    #[test]
    fn text_is_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, b"ab\xff").unwrap();
        let told = read_given_text(&path).unwrap_err().to_string();
        assert!(told.contains("byte 2"), "{told}");
        fs::write(&path, "\u{fc}").unwrap();
        assert_eq!(read_given_text(&path).unwrap(), "\u{fc}");
    }
}
