//! Which file it is, whatever its name.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// A file by device and inode: the same for all its names, links included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of what the system says of a file.
    pub fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
        }
    }

    /// Of an open file, if it is a regular one: only those can be destroyed by writing.
    pub fn of_open(file: &File) -> Option<Self> {
        let meta = file.metadata().ok()?;
        meta.is_file().then(|| Self::of(&meta))
    }

    /// Of what is written through an open file, unless writing twice does no harm: to a device.
    pub fn of_written(file: &File) -> Option<Self> {
        let meta = file.metadata().ok()?;
        (!meta.file_type().is_char_device()).then(|| Self::of(&meta))
    }

    /// Of the regular file that a path leads to, through links.
    pub fn at(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok()?;
        meta.is_file().then(|| Self::of(&meta))
    }
}
