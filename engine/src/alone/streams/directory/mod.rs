//! A folder of files, one for each stream that has bytes, named as tcpflow names them.
//!
//! Guarantees: a file holds its stream's bytes in order; no more files are open, made or written
//! to than the options allow, and what a limit costs is counted by name. Which stream gets which
//! name depends on the input only.

mod files;
mod name;

use super::gaps::{GAP_FILL_MAX, Gaps, gap_note};
use super::{StreamEnd, StreamPlace, StreamSink};
use crate::RunError;
use files::Files;
use flowpin_counters::{Loss, Losses};
use flowpin_disk::{Existing, Reads, earlier};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How streams are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryOptions {
    /// The folder; made if it is not there.
    pub path: PathBuf,
    /// Whether it may hold something already; files of the same names are then written over.
    pub force: bool,
    /// What is written where the capture has no bytes.
    pub gaps: Gaps,
    /// Only streams to the server, or only those to the client.
    pub only: Option<bool>,
    /// The most that all files together hold.
    pub bytes_max: u64,
    /// The most files.
    pub files_max: u64,
    /// The most that are open at a time; at least one is.
    pub open_max: usize,
}

impl Default for DirectoryOptions {
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

/// Writes streams into a folder.
#[derive(Debug)]
pub struct StreamDirectory {
    options: DirectoryOptions,
    /// How many streams had a name before.
    names: HashMap<Box<str>, u32>,
    /// By handle and direction: those that go on and of which something was told.
    streams: HashMap<Key, Stream>,
    files: Files,
    made: u64,
    written: u64,
    losses: Losses,
}

type Key = (u32, bool);

/// A stream that goes on.
#[derive(Debug, Default)]
struct Stream {
    place: Place,
    /// Bytes that are missing before the next one.
    gap: u64,
}

/// Where a stream is written.
#[derive(Clone, Debug, Default)]
enum Place {
    /// It has no bytes yet.
    #[default]
    Nowhere,
    /// Its file's name.
    File(Box<str>),
    /// A limit forbids its file.
    Refused,
}

impl StreamDirectory {
    /// Writes nothing yet.
    pub fn new(options: DirectoryOptions) -> Self {
        Self {
            files: Files::new(&options.path, options.open_max, options.force),
            options,
            names: HashMap::new(),
            streams: HashMap::new(),
            made: 0,
            written: 0,
            losses: Losses::default(),
        }
    }

    /// How many files were made.
    pub const fn files(&self) -> u64 {
        self.made
    }

    /// How many bytes they hold, zeros and notes for gaps included.
    pub const fn bytes(&self) -> u64 {
        self.written
    }

    /// What the limits cost.
    pub const fn losses(&self) -> Losses {
        self.losses
    }

    fn is_wanted(&self, at: &StreamPlace<'_>) -> bool {
        self.options.only.is_none_or(|only| only == at.to_server)
    }

    /// The file of a stream that has bytes, filled up to them; none if a limit forbids it.
    fn file_of(&mut self, at: &StreamPlace<'_>) -> Result<Option<Box<str>>, RunError> {
        let key = (at.handle, at.to_server);
        let stream = self.streams.entry(key).or_default();
        let gap = core::mem::take(&mut stream.gap);
        let place = stream.place.clone();
        let name = match place {
            Place::File(name) => name,
            Place::Refused => return Ok(None),
            Place::Nowhere => {
                let made = self.make(at)?;
                let place = made.clone().map_or(Place::Refused, Place::File);
                self.streams.insert(key, Stream { place, gap: 0 });
                let Some(name) = made else {
                    return Ok(None);
                };
                name
            }
        };
        if gap > 0 {
            self.fill(&name, gap)?;
        }
        Ok(Some(name))
    }

    /// Makes a stream's file, unless a limit forbids it.
    fn make(&mut self, at: &StreamPlace<'_>) -> Result<Option<Box<str>>, RunError> {
        if self.made >= self.options.files_max || self.written >= self.options.bytes_max {
            self.losses.count(Loss::StreamFilesOverLimit, 1);
            return Ok(None);
        }
        let (from, to) = at.conversation.ends(at.to_server);
        let name = name::of(from, to);
        let before = self.names.entry(name.clone().into()).or_insert(0);
        let name: Box<str> = name::counted(name, *before).into();
        *before += 1;
        self.made += 1;
        self.files.make(&name)?;
        Ok(Some(name))
    }

    /// Writes as many bytes as the limit allows.
    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), RunError> {
        let room = self.options.bytes_max.saturating_sub(self.written);
        let len = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (bytes, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        let over = rest.len() as u64;
        self.losses.count(Loss::StreamBytesOverLimit, over);
        self.written += len as u64;
        self.files.write(name, bytes)
    }

    /// Writes what stands for a gap.
    fn fill(&mut self, name: &str, len: u64) -> Result<(), RunError> {
        match self.options.gaps {
            Gaps::Skip => Ok(()),
            Gaps::Note => self.write(name, gap_note(len).as_bytes()),
            Gaps::Zero => {
                let room = self.options.bytes_max.saturating_sub(self.written);
                let zeros = len.min(GAP_FILL_MAX);
                let fits = zeros.min(room);
                self.losses.count(Loss::StreamGapsShortened, len - zeros);
                self.losses.count(Loss::StreamBytesOverLimit, zeros - fits);
                self.written += fits;
                self.files.skip(name, fits)
            }
        }
    }
}

impl StreamSink for StreamDirectory {
    fn begin(&mut self, reads: &Reads) -> Result<(), RunError> {
        let path = &self.options.path;
        // What is in the way is told before anything is written.
        earlier(path, Existing::Replace, reads, name::is_one)?;
        self.files.spare(reads);
        let made = fs::create_dir_all(path).and_then(|()| fs::read_dir(path));
        let mut entries = made.map_err(|source| failed(path, source))?;
        if entries.next().is_some() && !self.options.force {
            return Err(RunError::StreamFolder { path: path.clone() });
        }
        Ok(())
    }

    fn data(&mut self, at: &StreamPlace<'_>, bytes: &[u8]) -> Result<(), RunError> {
        if !self.is_wanted(at) || bytes.is_empty() {
            return Ok(());
        }
        match self.file_of(at)? {
            Some(name) => self.write(&name, bytes),
            None => Ok(()),
        }
    }

    fn gap(&mut self, at: &StreamPlace<'_>, len: u64) -> Result<(), RunError> {
        if !self.is_wanted(at) {
            return Ok(());
        }
        let stream = self.streams.entry((at.handle, at.to_server)).or_default();
        stream.gap = stream.gap.saturating_add(len);
        Ok(())
    }

    fn closed(&mut self, at: &StreamPlace<'_>, _: StreamEnd) -> Result<(), RunError> {
        let Some(stream) = self.streams.remove(&(at.handle, at.to_server)) else {
            return Ok(());
        };
        let Place::File(name) = stream.place else {
            return Ok(());
        };
        if stream.gap > 0 {
            self.fill(&name, stream.gap)?;
        }
        self.files.close(&name)
    }
}

fn failed(path: &Path, source: io::Error) -> RunError {
    let path = path.to_owned();
    RunError::StreamWrite { path, source }
}

#[cfg(test)]
mod tests;
