//! A medium to write to that runs full.

use flowpin_output::{Storage, Target};
use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A medium in memory that is full at some point.
#[derive(Clone, Default)]
pub(crate) struct FullAt {
    pub(crate) files: Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>,
    /// Bytes that all files together may have: a file system's blocks, in bytes.
    pub(crate) space: u64,
    pub(crate) error: Option<io::ErrorKind>,
}

struct MemoryFile {
    medium: FullAt,
    path: PathBuf,
    position: usize,
}

impl FullAt {
    pub(crate) fn bytes(space: u64) -> Self {
        let error = Some(io::ErrorKind::StorageFull);
        Self {
            space,
            error,
            ..Self::default()
        }
    }

    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.files.lock().unwrap().clone()
    }
}

impl Storage for FullAt {
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Target>> {
        self.files
            .lock()
            .unwrap()
            .insert(path.to_owned(), Vec::new());
        let (medium, path) = (self.clone(), path.to_owned());
        Ok(Box::new(MemoryFile {
            medium,
            path,
            position: 0,
        }))
    }

    fn stdout(&mut self) -> io::Result<Box<dyn Target>> {
        self.create(Path::new("-"))
    }
}

impl Write for MemoryFile {
    /// Overwriting needs no space; what does not fit is written in part first, as a disk does.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.medium.files.lock().unwrap();
        let used: usize = files.values().map(Vec::len).sum();
        let free = (self.medium.space as usize).saturating_sub(used);
        let file = files.get_mut(&self.path).unwrap();
        let count = bytes.len().min(file.len() - self.position + free).min(1000);
        if count == 0 && !bytes.is_empty() {
            return Err(self.medium.error.unwrap().into());
        }
        let end = self.position + count;
        if file.len() < end {
            file.resize(end, 0);
        }
        file[self.position..end].copy_from_slice(&bytes[..count]);
        self.position = end;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for MemoryFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(to) = to else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        self.position = to as usize;
        Ok(to)
    }
}

impl Target for MemoryFile {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        let mut files = self.medium.files.lock().unwrap();
        files.get_mut(&self.path).unwrap().truncate(len as usize);
        self.position = len as usize;
        Ok(())
    }
}
