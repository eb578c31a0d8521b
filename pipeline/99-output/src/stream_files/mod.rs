//! A folder of files, one for each stream that has bytes, named as tcpflow names them.
//!
//! Guarantees: a file holds its stream's bytes in order; no more files are open, created or written
//! to than the options allow, and each limit that is reached is counted by name. Which stream gets
//! which name depends on the input only.

mod gaps;
mod name;

pub use gaps::{GAP_FILL_MAX, Gaps, gap_note};

use crate::appender::Appender;
use crate::error::{FileError, StreamFilesError};
use core::net::SocketAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_disk::{Existing, Reads, earlier};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

/// How streams are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFilesOptions {
    /// The folder; created if it does not exist.
    pub path: PathBuf,
    /// Whether the folder may have entries; files of the same names are then replaced.
    pub force: bool,
    /// What is written for gaps.
    pub gaps: Gaps,
    /// Only streams to the server, or only those to the client.
    pub only: Option<bool>,
    /// The most bytes in all files together.
    pub bytes_max: u64,
    /// The most files.
    pub files_max: u64,
    /// The most files that are open at a time; at least one is.
    pub open_max: usize,
}

impl Default for StreamFilesOptions {
    fn default() -> Self {
        Self {
            path: PathBuf::from("."),
            force: false,
            gaps: Gaps::Zero,
            only: None,
            bytes_max: u64::MAX,
            files_max: 1_000_000,
            open_max: 256,
        }
    }
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamId {
    /// The connection's number: unique among open connections, reused after its end.
    pub handle: u32,
    /// Whether the stream goes from the client to the server.
    pub to_server: bool,
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
}

/// Writes streams to the files of a folder.
#[derive(Debug)]
pub struct StreamFiles {
    options: StreamFilesOptions,
    /// By name without a number: the files that have it.
    names: HashMap<Box<str>, u32>,
    /// Open streams that had bytes or a gap, by handle and direction.
    streams: HashMap<(u32, bool), Stream>,
    appender: Appender,
    created: u64,
    written: u64,
    losses: Losses,
}

/// An open stream.
#[derive(Debug, Default)]
struct Stream {
    file: StreamFile,
    /// Missing bytes before the next one.
    gap: u64,
}

/// The file of a stream.
#[derive(Clone, Debug, Default)]
enum StreamFile {
    /// The stream has no bytes yet.
    #[default]
    None,
    /// Its name.
    Named(Box<str>),
    /// A limit forbids it.
    Refused,
}

impl StreamFiles {
    /// Writes nothing yet.
    pub fn new(options: StreamFilesOptions) -> Self {
        let existing = if options.force {
            Existing::Replace
        } else {
            Existing::Refuse
        };
        Self {
            appender: Appender::new(&options.path, options.open_max, existing),
            options,
            names: HashMap::new(),
            streams: HashMap::new(),
            created: 0,
            written: 0,
            losses: Losses::default(),
        }
    }

    /// The number of files created.
    pub const fn files(&self) -> u64 {
        self.created
    }

    /// The number of bytes in them, zeros and notes for gaps included.
    pub const fn bytes(&self) -> u64 {
        self.written
    }

    /// The streams and bytes that a limit left out.
    pub const fn losses(&self) -> Losses {
        self.losses
    }

    /// Creates the folder. `reads`: files that must not be replaced.
    ///
    /// # Errors
    /// The folder has entries and `force` is off, a file in it must not be replaced, or it cannot
    /// be created.
    pub fn begin(&mut self, reads: &Reads) -> Result<(), StreamFilesError> {
        let path = &self.options.path;
        // Obstacles are reported before anything is written.
        earlier(path, Existing::Replace, reads, name::is_stream_name)?;
        self.appender.protect(reads);
        let created = fs::create_dir_all(path).and_then(|()| fs::read_dir(path));
        let mut entries = created.map_err(|error| FileError::new(path.clone(), &error))?;
        if entries.next().is_some() && !self.options.force {
            return Err(StreamFilesError::NotEmpty(path.clone()));
        }
        Ok(())
    }

    /// Appends the next bytes of a stream.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn data(&mut self, stream: &StreamId, bytes: &[u8]) -> Result<(), FileError> {
        if !self.is_wanted(stream) || bytes.is_empty() {
            return Ok(());
        }
        match self.file_of(stream)? {
            Some(name) => self.append(&name, bytes),
            None => Ok(()),
        }
    }

    /// The next `len` bytes of a stream are missing.
    pub fn gap(&mut self, stream: &StreamId, len: u64) {
        if self.is_wanted(stream) {
            let key = (stream.handle, stream.to_server);
            let stream = self.streams.entry(key).or_default();
            stream.gap = stream.gap.saturating_add(len);
        }
    }

    /// Completes the file of a stream.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn close(&mut self, stream: &StreamId) -> Result<(), FileError> {
        let Some(stream) = self.streams.remove(&(stream.handle, stream.to_server)) else {
            return Ok(());
        };
        let StreamFile::Named(name) = stream.file else {
            return Ok(());
        };
        self.append_gap(&name, stream.gap)?;
        self.appender.close(&name)
    }

    fn is_wanted(&self, stream: &StreamId) -> bool {
        self.options
            .only
            .is_none_or(|only| only == stream.to_server)
    }

    /// The file of a stream that has bytes, with the gap before them; none if a limit forbids it.
    fn file_of(&mut self, id: &StreamId) -> Result<Option<Box<str>>, FileError> {
        let key = (id.handle, id.to_server);
        let stream = self.streams.entry(key).or_default();
        let gap = core::mem::take(&mut stream.gap);
        let name = match stream.file.clone() {
            StreamFile::Named(name) => name,
            StreamFile::Refused => return Ok(None),
            StreamFile::None => {
                let created = self.create(id)?;
                let file = created
                    .clone()
                    .map_or(StreamFile::Refused, StreamFile::Named);
                self.streams.insert(key, Stream { file, gap: 0 });
                let Some(name) = created else {
                    return Ok(None);
                };
                name
            }
        };
        self.append_gap(&name, gap)?;
        Ok(Some(name))
    }

    /// Creates a stream's file, unless a limit forbids it.
    fn create(&mut self, stream: &StreamId) -> Result<Option<Box<str>>, FileError> {
        if self.created >= self.options.files_max || self.written >= self.options.bytes_max {
            self.losses.count(Loss::StreamFilesOverLimit, 1);
            return Ok(None);
        }
        let name = name::of(stream.from, stream.to);
        let before = self.names.entry(name.clone().into()).or_insert(0);
        let name: Box<str> = name::numbered(name, *before).into();
        *before += 1;
        self.created += 1;
        self.appender.create(&name)?;
        Ok(Some(name))
    }

    /// Appends as many bytes as the limit allows.
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let room = self.options.bytes_max.saturating_sub(self.written);
        let len = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (bytes, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        let over = rest.len() as u64;
        self.losses.count(Loss::StreamBytesOverLimit, over);
        self.written += len as u64;
        self.appender.append(name, bytes)
    }

    /// Appends what is written for a gap.
    fn append_gap(&mut self, name: &str, len: u64) -> Result<(), FileError> {
        match self.options.gaps {
            _ if len == 0 => Ok(()),
            Gaps::Skip => Ok(()),
            Gaps::Note => self.append(name, gap_note(len).as_bytes()),
            Gaps::Zero => {
                let room = self.options.bytes_max.saturating_sub(self.written);
                let zeros = len.min(GAP_FILL_MAX);
                let fits = zeros.min(room);
                self.losses.count(Loss::StreamGapsShortened, len - zeros);
                self.losses.count(Loss::StreamBytesOverLimit, zeros - fits);
                self.written += fits;
                self.appender.append_hole(name, fits)
            }
        }
    }
}

#[cfg(test)]
mod tests;
