//! How pieces of whole lines get into a file: at once, or by a thread of the file's own.
//!
//! ```text
//!  lines ─► buffer ─ full ─► Place::Here    written before the next line comes
//!                        └─► Place::There   handed to a thread; its buffer comes back empty
//! ```
//!
//! A failure is told with the next piece, or when the file ends; what was handed over since is
//! lost, and counted.

use super::storage::{Target, write_all};
use super::text_log::is_short;
use crate::OutputError;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// An open file.
pub(super) struct OpenTarget {
    path: PathBuf,
    pub(super) target: Box<dyn Target>,
    /// Bytes that were written.
    bytes: u64,
    /// Whether the file was shorter once than what had been written.
    was_short: bool,
}

/// A piece could not be written.
pub(super) struct Failed {
    pub(super) error: OutputError,
    /// Bytes that are in the file: whole lines.
    pub(super) bytes: u64,
    /// Records that are not.
    pub(super) records_lost: u64,
}

impl OpenTarget {
    fn new(path: PathBuf, target: Box<dyn Target>) -> Self {
        Self {
            path,
            target,
            bytes: 0,
            was_short: false,
        }
    }

    /// Whether it is, or was at some time, shorter than what was written.
    pub(super) fn is_short(&self) -> bool {
        self.was_short || is_short(self.target.as_ref(), self.bytes)
    }

    /// Writes whole lines, of which so many are records.
    fn put(&mut self, lines: &[u8], records: u64) -> Result<(), Failed> {
        // Before what follows makes it long again.
        self.was_short = self.is_short();
        match write_all(self.target.as_mut(), lines) {
            Ok(()) => {
                self.bytes += lines.len() as u64;
                Ok(())
            }
            Err((count, source)) => Err(self.cut_back(lines, count, records, source)),
        }
    }

    /// After a failure `count` bytes into `lines`: leaves whole lines in the file.
    fn cut_back(&mut self, lines: &[u8], count: usize, records: u64, source: io::Error) -> Failed {
        let written = lines.get(..count).unwrap_or_default();
        let whole = memchr::memrchr(b'\n', written).map_or(0, |end| end + 1);
        let lost = lines.get(whole..).unwrap_or_default();
        let lost_lines = memchr::memchr_iter(b'\n', lost).count() as u64;
        self.bytes += whole as u64;
        if whole < count {
            // A pipe cannot be cut; its reader sees the end of the line missing.
            let _ = self.target.cut(self.bytes);
        }
        Failed {
            error: OutputError::Write {
                path: self.path.clone(),
                kept_bytes: self.bytes,
                source,
            },
            bytes: self.bytes,
            // Lines of a header count as lines only.
            records_lost: lost_lines.min(records),
        }
    }
}

/// Where a file is written.
pub(super) enum Place {
    Here(OpenTarget),
    There(Arc<Shared>, Hand),
}

impl Place {
    pub(super) fn new(path: PathBuf, target: Box<dyn Target>, hand: Option<&Hand>) -> Self {
        let target = OpenTarget::new(path, target);
        match hand {
            None => Self::Here(target),
            Some(hand) => Self::There(Arc::new(Shared::new(target)), hand.clone()),
        }
    }

    /// Takes the lines of a buffer, which is empty afterwards.
    pub(super) fn put(&mut self, buffer: &mut Vec<u8>, records: u64) -> Result<(), Failed> {
        match self {
            Self::Here(target) => {
                let written = target.put(buffer, records);
                buffer.clear();
                written
            }
            Self::There(file, hand) => {
                let piece = std::mem::replace(buffer, hand.spare(buffer.capacity()));
                hand.give(file, piece, records);
                match file.has_failed() {
                    true => self.settle(),
                    false => Ok(()),
                }
            }
        }
    }

    /// Waits until everything is written.
    pub(super) fn settle(&mut self) -> Result<(), Failed> {
        match self {
            Self::Here(_) => Ok(()),
            Self::There(file, hand) => {
                hand.wait();
                file.take_failure().map_or(Ok(()), Err)
            }
        }
    }

    /// What is asked of the file itself, after all that was put before.
    pub(super) fn with<R>(&mut self, ask: impl FnOnce(&mut OpenTarget) -> R) -> R {
        match self {
            Self::Here(target) => ask(target),
            Self::There(file, hand) => {
                hand.wait();
                ask(&mut locked(&file.target))
            }
        }
    }
}

/// A file that a thread writes.
pub(super) struct Shared {
    target: Mutex<OpenTarget>,
    /// Set after `failure`, read before it.
    has_failed: AtomicBool,
    failure: Mutex<Option<Failed>>,
}

impl Shared {
    const fn new(target: OpenTarget) -> Self {
        Self {
            target: Mutex::new(target),
            has_failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    fn has_failed(&self) -> bool {
        // Acquire, paired with `put`: the failure is there.
        self.has_failed.load(Ordering::Acquire)
    }

    fn take_failure(&self) -> Option<Failed> {
        locked(&self.failure).take()
    }

    /// Writes a piece. After a failure none is written any more.
    fn put(&self, piece: &[u8], records: u64) {
        if self.has_failed() {
            if let Some(failed) = &mut *locked(&self.failure) {
                failed.records_lost += records;
            }
            return;
        }
        if let Err(failed) = locked(&self.target).put(piece, records) {
            *locked(&self.failure) = Some(failed);
            // Release, paired with `has_failed`.
            self.has_failed.store(true, Ordering::Release);
        }
    }
}

/// The threads that write files.
#[derive(Default)]
pub(super) struct Hands(Vec<Hand>);

impl Hands {
    /// So many threads, or as many as the system gives: a file without one is written by who has
    /// its lines.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map_while(Hand::new).collect())
    }

    /// The thread of the files with this number.
    pub(super) fn of(&self, number: usize) -> Option<Hand> {
        self.0.get(number).cloned()
    }
}

/// A thread that writes files.
#[derive(Clone)]
pub(super) struct Hand {
    jobs: SyncSender<Job>,
    /// Empty buffers.
    spares: Arc<Mutex<Vec<Vec<u8>>>>,
}

enum Job {
    Put(Arc<Shared>, Vec<u8>, u64),
    /// Everything before it is done when its other end is gone.
    Tell(SyncSender<()>),
}

/// Pieces that may wait for a thread: then who has lines waits.
const PIECES_MAX: usize = 4;

impl Hand {
    fn new(number: usize) -> Option<Self> {
        let (jobs, received) = sync_channel(PIECES_MAX);
        let spares = Arc::default();
        let emptied = Arc::clone(&spares);
        let thread = thread::Builder::new().name(format!("file {}", number + 1));
        thread.spawn(move || work(&received, &emptied)).ok()?;
        Some(Self { jobs, spares })
    }

    fn spare(&self, capacity: usize) -> Vec<u8> {
        let spare = locked(&self.spares).pop();
        spare.unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    fn give(&self, file: &Arc<Shared>, piece: Vec<u8>, records: u64) {
        let job = Job::Put(Arc::clone(file), piece, records);
        // Its thread lasts as long as there is somebody to give it work.
        if let Err(SendError(Job::Put(file, piece, records))) = self.jobs.send(job) {
            file.put(&piece, records);
        }
    }

    /// Waits until all is done that was given.
    fn wait(&self) {
        let (done, is_done) = sync_channel(0);
        if self.jobs.send(Job::Tell(done)).is_ok() {
            // That the other end is gone is the answer.
            let _ = is_done.recv();
        }
    }
}

fn work(jobs: &Receiver<Job>, spares: &Mutex<Vec<Vec<u8>>>) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Put(file, mut piece, records) => {
                file.put(&piece, records);
                piece.clear();
                let mut spares = locked(spares);
                if spares.len() < PIECES_MAX {
                    spares.push(piece);
                }
            }
            Job::Tell(done) => drop(done),
        }
    }
}

/// No holder leaves data half changed.
fn locked<T>(data: &Mutex<T>) -> MutexGuard<'_, T> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}
