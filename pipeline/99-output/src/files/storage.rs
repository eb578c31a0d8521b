//! Where bytes go: files on disk, standard output, or a test's faulty medium.

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// An open file.
pub trait Target: Write + Seek + Send {
    /// Makes the file `len` bytes long and goes on from there.
    ///
    /// # Errors
    ///
    /// What the system says; pipes cannot be cut.
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// Whether `path` still leads to this file. Without knowing: yes.
    fn is_at(&self, path: &Path) -> bool {
        let _ = path;
        true
    }
}

impl Target for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.seek(SeekFrom::Start(len)).map(|_| ())
    }

    fn is_at(&self, path: &Path) -> bool {
        let identity = |meta: Metadata| (meta.dev(), meta.ino());
        match (self.metadata(), path.metadata()) {
            (Ok(mine), Ok(there)) => identity(mine) == identity(there),
            _ => false,
        }
    }
}

/// Where files are made.
pub trait Storage: Send {
    /// Creates a file, or empties the one that is there.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Target>>;

    /// Standard output.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn stdout(&mut self) -> io::Result<Box<dyn Target>>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Storage for Disk {
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Target>> {
        Ok(Box::new(File::create(path)?))
    }

    fn stdout(&mut self) -> io::Result<Box<dyn Target>> {
        // Not through the standard library's line buffer: lines come in large pieces already.
        let stdout = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Box::new(File::from(stdout)))
    }
}

/// Writes all of `bytes`, or says how many were written before the failure.
///
/// Waits where a terminal or pipe that somebody made non-blocking cannot take more.
pub(super) fn write_all(target: &mut dyn Target, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match target.write(rest) {
            Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}
