//! A log in a text format: one file after the other, written in large pieces of whole lines.

use super::FileInfo;
use super::frames::Frame;
use super::rotation::Rotation;
use super::storage::{Storage, Target};
use super::writing::{Failed, Hand, Place};
use crate::OutputError;
use flowpin_packet::Timestamp;
use std::path::{Path, PathBuf};

/// One log.
pub(super) struct TextLog {
    frame: Frame,
    rotation: Rotation,
    /// The thread that writes its files, if one does.
    hand: Option<Hand>,
    /// How many bytes of whole lines wait until they are written.
    buffer_max: usize,
    open: Option<OpenFile>,
    closed: Vec<FileInfo>,
    /// The first thing that went wrong when files were made anew: told in the end.
    remade: Option<OutputError>,
}

struct OpenFile {
    info: FileInfo,
    place: Place,
    /// Whole lines that are not written yet.
    buffer: Vec<u8>,
    /// How long it may become.
    buffer_max: usize,
    /// How many of these lines are records.
    unwritten: u64,
    /// Time of the first and the last record, none before the first.
    times: Option<(Timestamp, Timestamp)>,
}

impl TextLog {
    pub(super) fn new(frame: Frame, rotation: Rotation) -> Self {
        Self {
            frame,
            rotation,
            hand: None,
            buffer_max: BUFFER_LEN,
            open: None,
            closed: Vec::new(),
            remade: None,
        }
    }

    /// A log whose only file is open already: standard output, or a stream.
    pub(super) fn over(
        path: PathBuf,
        target: Box<dyn Target>,
        frame: Frame,
        rotation: Rotation,
    ) -> Self {
        Self {
            open: Some(OpenFile::new(path, target, None, BUFFER_LEN)),
            ..Self::new(frame, rotation)
        }
    }

    /// The same log as one of `count` parts, whose files are written by a thread, if there is one.
    pub(super) fn divided_by(mut self, count: usize, hand: Option<Hand>) -> Self {
        self.hand = hand;
        // Together they take what one log takes.
        self.buffer_max = (BUFFER_LEN / count.max(1)).max(PART_BUFFER_MIN);
        self
    }

    /// Creates the first file now, so that what is wrong with it is said at once.
    pub(super) fn create_early(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        if self.rotation.name_is_fixed() {
            let path = self.rotation.first(Timestamp::default());
            self.open = Some(self.create(storage, path)?);
        }
        Ok(())
    }

    /// Appends a record.
    pub(super) fn write(
        &mut self,
        storage: &mut dyn Storage,
        time: Timestamp,
        text: &[u8],
    ) -> Result<(), OutputError> {
        if let Some(open) = &self.open {
            let bytes = open.info.bytes + text.len() as u64;
            // A file holds one record at least, however small the limit is.
            if open.times.is_some()
                && let Some(path) = self.rotation.next(time, bytes)
            {
                self.end_file()?;
                self.open = Some(self.create(storage, path)?);
            }
        } else {
            let path = self.rotation.first(time);
            self.open = Some(self.create(storage, path)?);
        }
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        if open.times.is_none() {
            open.put(&(self.frame.header)(time))?;
        }
        let first = open.times.map_or(time, |(first, _)| first);
        open.put(text)?;
        open.times = Some((first, time));
        open.info.records += 1;
        open.unwritten += 1;
        Ok(())
    }

    /// Hands everything to the system that waits in the buffer.
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.open.as_mut().map_or(Ok(()), OpenFile::flush)
    }

    /// Makes the present file anew if it was moved away; the records before stay in the old one. It
    /// goes on if no new one can be made: what is in its place is no reason to lose records.
    pub(super) fn reopen(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        let moved = self.open.as_mut().and_then(OpenFile::moved_from);
        let Some(path) = moved else {
            return self.flush();
        };
        match storage.remake(&path) {
            Ok(target) => {
                let ended = self.end_file();
                self.open = Some(self.opened(path, target));
                unless_removed(ended, &mut self.remade)
            }
            Err(source) => {
                let error = OutputError::NotRemade { path, source };
                self.remade.get_or_insert(error);
                self.flush()
            }
        }
    }

    /// Ends the present file, and tells what went wrong when files were made anew.
    pub(super) fn close(&mut self) -> Result<(), OutputError> {
        let done = self.end_file();
        done.and(self.remade.take().map_or(Ok(()), Err))
    }

    /// Ends the present file as its format wants it.
    fn end_file(&mut self) -> Result<(), OutputError> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        let done = open.end(&self.frame);
        self.closed.push(open.info);
        done
    }

    fn create(&self, storage: &mut dyn Storage, path: PathBuf) -> Result<OpenFile, OutputError> {
        match storage.create(&path) {
            Ok(target) => Ok(self.opened(path, target)),
            Err(source) => Err(OutputError::create(path, source)),
        }
    }

    fn opened(&self, path: PathBuf, target: Box<dyn Target>) -> OpenFile {
        OpenFile::new(path, target, self.hand.as_ref(), self.buffer_max)
    }

    /// The files, in the order in which they were begun.
    pub(super) fn files(&self) -> impl Iterator<Item = &FileInfo> {
        self.closed
            .iter()
            .chain(self.open.iter().map(|open| &open.info))
    }
}

impl OpenFile {
    fn new(path: PathBuf, target: Box<dyn Target>, hand: Option<&Hand>, buffer_max: usize) -> Self {
        Self {
            info: FileInfo {
                path: path.clone(),
                bytes: 0,
                records: 0,
            },
            place: Place::new(path, target, hand),
            buffer: Vec::with_capacity(buffer_max),
            buffer_max,
            unwritten: 0,
            times: None,
        }
    }

    fn put(&mut self, lines: &[u8]) -> Result<(), OutputError> {
        if self.buffer.len() + lines.len() > self.buffer_max {
            self.flush()?;
        }
        self.buffer.extend_from_slice(lines);
        self.info.bytes += lines.len() as u64;
        Ok(())
    }

    /// Where it was, if it has been moved away.
    fn moved_from(&mut self) -> Option<PathBuf> {
        let path = &self.info.path;
        let is_there = self.place.with(|open| open.target.is_at(path));
        (!is_there).then(|| self.info.path.clone())
    }

    fn end(&mut self, frame: &Frame) -> Result<(), OutputError> {
        // A file without a record still has its header, so that readers know its columns.
        let (_, last) = self.times.unwrap_or_default();
        if self.info.bytes == 0 {
            self.put(&(frame.header)(last))?;
        }
        self.flush()?;
        self.put(&(frame.footer)(last))?;
        self.flush()?;
        let settled = self.place.settle();
        self.or_cut(settled)?;
        let path = &self.info.path;
        self.place
            .with(|open| intact(open.target.as_ref(), path, open.is_short()))
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let put = self.place.put(&mut self.buffer, self.unwritten);
        self.unwritten = 0;
        self.or_cut(put)
    }

    /// After a failure: what the file holds now.
    fn or_cut(&mut self, done: Result<(), Failed>) -> Result<(), OutputError> {
        done.map_err(|failed| {
            self.info.bytes = failed.bytes;
            self.info.records -= failed.records_lost.min(self.info.records);
            failed.error
        })
    }
}

/// That a file was removed or cut before a new one was asked for is told in the end: the run goes
/// on.
pub(super) fn unless_removed(
    ended: Result<(), OutputError>,
    first: &mut Option<OutputError>,
) -> Result<(), OutputError> {
    match ended {
        Err(error @ (OutputError::Removed { .. } | OutputError::Shortened { .. })) => {
            first.get_or_insert(error);
            Ok(())
        }
        done => done,
    }
}

/// Whether somebody has cut a file to which `len` bytes were written.
pub(super) fn is_short(target: &dyn Target, len: u64) -> bool {
    target.length().is_some_and(|is| is < len)
}

/// An error if a file that was written has no name any more, or was cut.
pub(super) fn intact(target: &dyn Target, path: &Path, was_cut: bool) -> Result<(), OutputError> {
    let path = path.to_owned();
    if target.is_gone() {
        let source = flowpin_disk::Removed;
        return Err(OutputError::Removed { path, source });
    }
    if was_cut {
        return Err(OutputError::Shortened { path });
    }
    Ok(())
}

/// Pieces of this size cost the file system least per byte.
const BUFFER_LEN: usize = 1 << 20;

/// What each of several parts has at least.
const PART_BUFFER_MIN: usize = 64 << 10;
