//! Lines that wait on disk: a directory of segments, each with whole lines, in the order of their
//! names. What a run leaves is sent by the next one.

use super::queue::records;
use crate::OutputError;
use flowpin_disk::{Existing, Reads, check_folder, create};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(super) struct Spool {
    dir: PathBuf,
    reads: Reads,
    bytes: u64,
    bytes_max: u64,
    segments: VecDeque<Segment>,
    /// The last segment, if it still grows.
    open: Option<File>,
    next: u64,
    /// Held while the spool is used: two runs would mix.
    _lock: File,
}

/// One file.
#[derive(Clone)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    number: u64,
    bytes: u64,
    /// Records in it; of an earlier run's nothing is known.
    pub(super) records: u64,
}

/// How long a segment may become: it is read as a whole.
const SEGMENT_BYTES: u64 = 8 << 20;
/// The longest that is read: what a run had in one piece may be a little longer.
const SEGMENT_BYTES_MAX: u64 = 16 << 20;
/// Numbers left free for lines that are put between two segments: more than there are parts in what
/// a sender and the memory hold.
const GAP: u64 = 64;
/// Where numbers begin: there are some below for what goes in front.
const FIRST: u64 = 1 << 32;

impl Spool {
    /// Uses a directory, with what an earlier run has left there.
    pub(super) fn open(dir: &Path, bytes_max: u64, reads: &Reads) -> Result<Self, OutputError> {
        check_folder(dir)?;
        let failed = |source| OutputError::Directory {
            path: dir.to_owned(),
            source,
        };
        fs::create_dir_all(dir).map_err(failed)?;
        let lock = File::open(dir).map_err(failed)?;
        let mode = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        rustix::fs::flock(&lock, mode).map_err(|error| match error {
            rustix::io::Errno::WOULDBLOCK => failed(io::Error::other("another run uses it")),
            error => failed(error.into()),
        })?;
        let (segments, next) = earlier(dir).map_err(failed)?;
        Ok(Self {
            dir: dir.to_owned(),
            reads: reads.clone(),
            bytes: segments.iter().map(|segment| segment.bytes).sum(),
            bytes_max,
            next,
            segments,
            open: None,
            _lock: lock,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds lines behind all others.
    ///
    /// # Errors
    /// The spool or the disk is full, or something is in the way: nothing was added.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let len = lines.len() as u64;
        if self.bytes + len > self.bytes_max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let last = self.segments.back();
        if last.is_none_or(|last| last.bytes + len > SEGMENT_BYTES) {
            self.open = None;
        }
        let file = match &mut self.open {
            Some(file) => file,
            none => {
                // Lines that go through memory meanwhile may have to be put between the two.
                self.next += if self.segments.is_empty() { GAP } else { 0 };
                let number = self.next;
                self.next += 1;
                let segment = Segment::new(&self.dir, number);
                let file = create(&segment.path, Existing::Refuse, &self.reads)?;
                self.segments.push_back(segment);
                none.insert(file)
            }
        };
        let Some(last) = self.segments.back_mut() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        if let Err(error) = file.write_all(lines) {
            // Whole lines only; the next segment begins where there is room.
            let _ = file.set_len(last.bytes);
            self.open = None;
            if last.bytes == 0 {
                let _ = fs::remove_file(&last.path);
                self.segments.pop_back();
            }
            return Err(error);
        }
        last.bytes += len;
        last.records += records(lines);
        self.bytes += len;
        Ok(())
    }

    /// Adds lines in front of all others: those that a run could not send in the end. They are
    /// kept although they may pass the spool's size.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn put_first(&mut self, lines: &[u8]) -> io::Result<()> {
        let parts = parts(lines);
        let first = match self.segments.front() {
            Some(first) => first.number,
            // Files of segments that are being sent may be there still.
            None => {
                self.next += GAP;
                self.next
            }
        };
        let numbers = first.saturating_sub(parts.len() as u64)..first;
        let mut made = Vec::new();
        let done = numbers.zip(&parts).try_for_each(|(number, part)| {
            let mut segment = Segment::new(&self.dir, number);
            let mut file = create(&segment.path, Existing::Refuse, &self.reads)?;
            segment.bytes = part.len() as u64;
            segment.records = records(part);
            made.push(segment);
            file.write_all(part)
        });
        if done.is_err() {
            for segment in &made {
                let _ = fs::remove_file(&segment.path);
            }
            return done;
        }
        self.bytes += lines.len() as u64;
        for segment in made.into_iter().rev() {
            self.segments.push_front(segment);
        }
        Ok(())
    }

    /// The oldest segment, to be sent. Its file stays until it is [removed](Self::remove).
    pub(super) fn pop(&mut self) -> Option<Segment> {
        let segment = self.segments.pop_front()?;
        if self.segments.is_empty() {
            self.open = None;
        }
        Some(segment)
    }

    /// Takes back the segment that was taken last, and whose file is there still.
    pub(super) fn push_front(&mut self, segment: Segment) {
        self.segments.push_front(segment);
    }

    pub(super) fn remove(&mut self, segment: &Segment) {
        self.bytes -= segment.bytes.min(self.bytes);
        // Without its file the next run sends its lines once less.
        let _ = fs::remove_file(&segment.path);
    }
}

impl Segment {
    fn new(dir: &Path, number: u64) -> Self {
        Self {
            path: dir.join(format!("{PREFIX}{number:016x}{SUFFIX}")),
            number,
            bytes: 0,
            records: 0,
        }
    }

    /// Its lines, without half a line at the end that a killed run left.
    pub(super) fn lines(&self) -> io::Result<Vec<u8>> {
        let mut lines = flowpin_disk::read(&self.path, SEGMENT_BYTES_MAX)?;
        let whole = memchr::memrchr(b'\n', &lines).map_or(0, |end| end + 1);
        lines.truncate(whole);
        Ok(lines)
    }
}

/// Lines in parts as long as segments, each with whole lines.
fn parts(mut lines: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while !lines.is_empty() {
        let head = lines.get(..SEGMENT_BYTES as usize).unwrap_or(lines);
        let whole = memchr::memrchr(b'\n', head).map_or(lines.len(), |end| end + 1);
        let (part, rest) = lines.split_at(whole);
        parts.push(part);
        lines = rest;
    }
    parts
}

const PREFIX: &str = "spool-";
const SUFFIX: &str = ".json";

/// Segments of an earlier run, in order; and the first number that nothing there has.
fn earlier(dir: &Path) -> io::Result<(VecDeque<Segment>, u64)> {
    let mut found = Vec::new();
    let mut next = FIRST;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let digits = (name.to_str())
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|name| name.strip_suffix(SUFFIX))
            .filter(|digits| digits.len() == 16);
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        // No run counts that far.
        let Some(number) = number.filter(|number| *number < u64::MAX / 2) else {
            continue;
        };
        next = next.max(number + 1);
        let meta = entry.metadata()?;
        // What is no file was put there by another.
        if meta.is_file() {
            found.push(Segment {
                bytes: meta.len(),
                ..Segment::new(dir, number)
            });
        }
    }
    found.sort_by_key(|segment| segment.number);
    Ok((found.into(), next))
}
