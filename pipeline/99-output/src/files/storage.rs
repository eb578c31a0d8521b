//! Where bytes go: files on disk, standard output, or a test's faulty medium.

use super::earlier::Earlier;
use crate::format::MessageSchemas;
use crate::{OutputError, StreamHooks};
use flowpin_config::OutputPlan;
use flowpin_disk::{Existing, Reads, create, is_gone, remake, remove, stdout};
use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom, Write};
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

    /// How long the file is. Without knowing, or if it is none: nothing.
    fn length(&self) -> Option<u64> {
        None
    }

    /// Whether what was written is lost, because the file has no name any more. Without knowing:
    /// no.
    fn is_gone(&self) -> bool {
        false
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

    fn length(&self) -> Option<u64> {
        let meta = self.metadata().ok()?;
        meta.is_file().then_some(meta.len())
    }

    fn is_gone(&self) -> bool {
        is_gone(self)
    }
}

/// Where files are made.
pub trait Storage: Send {
    /// Makes way for the files of a plan: removes those of an earlier run, if they are to be
    /// replaced.
    ///
    /// # Errors
    ///
    /// They are not to be replaced, or are none to be replaced.
    fn clear(&mut self, plan: &OutputPlan) -> Result<Earlier, OutputError> {
        let _ = plan;
        Ok(Earlier::default())
    }

    /// Creates a file that is not there.
    ///
    /// # Errors
    ///
    /// There is something; what the system says.
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Target>>;

    /// Creates a file again that was moved away.
    ///
    /// # Errors
    ///
    /// As [`Storage::create`].
    fn remake(&mut self, path: &Path) -> io::Result<Box<dyn Target>> {
        self.create(path)
    }

    /// Standard output.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn stdout(&mut self) -> io::Result<Box<dyn Target>>;

    /// What a stream to another program needs: the files that must not be written, and who hears
    /// of it.
    fn for_streams(&self) -> (Reads, StreamHooks) {
        Default::default()
    }
}

/// The file system.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// Names of logs of messages.
    stems: Vec<String>,
    reads: Reads,
    hooks: StreamHooks,
}

impl Disk {
    /// A disk with files that must not be written. `known`: all kinds of messages of which an
    /// earlier run may have left logs.
    pub fn new(known: &MessageSchemas, reads: Reads) -> Self {
        let stems = known.iter().map(|ready| ready.schema.file_stem.clone());
        Self {
            stems: stems.map(|stem| stem.into_owned()).collect(),
            reads,
            hooks: StreamHooks::default(),
        }
    }

    /// With what streams share with the run.
    #[must_use]
    pub fn with_hooks(self, hooks: StreamHooks) -> Self {
        Self { hooks, ..self }
    }

    /// Whether the files of a plan may be written, and what would be replaced. Changes nothing.
    ///
    /// # Errors
    ///
    /// Files of an earlier run are not to be replaced, or are none to be replaced.
    pub fn check(&self, plan: &OutputPlan) -> Result<Earlier, OutputError> {
        Earlier::find(plan, &self.stems, &self.reads)
    }
}

impl Storage for Disk {
    fn clear(&mut self, plan: &OutputPlan) -> Result<Earlier, OutputError> {
        let earlier = self.check(plan)?;
        let removed = remove(&earlier.replaced);
        removed.map_err(|(path, source)| OutputError::Create { path, source })?;
        Ok(earlier)
    }

    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Target>> {
        // What was to be replaced is gone by now: what is there has come since.
        Ok(Box::new(create(path, Existing::Refuse, &self.reads)?))
    }

    fn remake(&mut self, path: &Path) -> io::Result<Box<dyn Target>> {
        Ok(Box::new(remake(path, &self.reads)?))
    }

    fn stdout(&mut self) -> io::Result<Box<dyn Target>> {
        Ok(Box::new(Stdout(stdout()?)))
    }

    fn for_streams(&self) -> (Reads, StreamHooks) {
        (self.reads.clone(), self.hooks.clone())
    }
}

/// Standard output. Whether it has a name is nobody's business: who gave it may read it without.
struct Stdout(File);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Stdout {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl Target for Stdout {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.0.cut(len)
    }
}

/// Writes all of `bytes`, or says how many were written before the failure.
///
/// Waits where a terminal or pipe that somebody made non-blocking cannot take more.
pub(super) fn write_all(target: &mut dyn Target, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    // Whole lines, also if another thread ends the process for want of memory.
    flowpin_memory::whole(|| write_rest(target, bytes))
}

fn write_rest(target: &mut dyn Target, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
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
