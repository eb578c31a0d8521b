//! Files that are whole and wait for the bucket, in order.

use super::Place;
use crate::StreamHooks;
use crate::files::FileInfo;
use flowpin_config::OutputPlan;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A file that is to be put.
#[derive(Clone)]
pub(super) struct Job {
    pub(super) file: PathBuf,
    pub(super) place: Place,
    bytes: u64,
    /// Records in it; of an earlier run's nothing is known.
    records: u64,
    /// The folder of an earlier run, which goes when it is empty.
    pub(super) folder: Option<Arc<Path>>,
}

impl Job {
    pub(super) fn new(file: &FileInfo, place: &Place) -> Self {
        Self {
            file: file.path.clone(),
            place: place.clone(),
            bytes: file.bytes,
            records: file.records,
            folder: None,
        }
    }

    pub(super) fn left(file: PathBuf, folder: &Arc<Path>, place: &Place) -> Self {
        Self {
            bytes: file.metadata().map_or(0, |meta| meta.len()),
            file,
            place: place.clone(),
            records: 0,
            folder: Some(Arc::clone(folder)),
        }
    }
}

pub(super) struct Queue {
    state: Mutex<State>,
    /// There are files, or the end.
    more: Condvar,
    /// A file has gone.
    room: Condvar,
    bytes_max: u64,
    may_wait: bool,
    is_spooled: bool,
    hooks: StreamHooks,
    address: String,
}

#[derive(Default)]
struct State {
    /// The first stays until it is put.
    jobs: VecDeque<Job>,
    bytes: u64,
    is_ended: bool,
    lost: u64,
    /// Why the bucket is away, if it is.
    away: Option<String>,
}

/// How long a run that is over waits for a bucket that is away.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_SPOOLED: Duration = Duration::from_secs(3);
/// How long the run waits before the user is told, and how often.
const TOLD_AFTER: Duration = Duration::from_secs(5);

impl Queue {
    pub(super) fn new(plan: &OutputPlan, hooks: StreamHooks, address: &str) -> Self {
        Self {
            state: Mutex::default(),
            more: Condvar::new(),
            room: Condvar::new(),
            bytes_max: plan.spool_bytes_max,
            may_wait: plan.may_wait,
            is_spooled: plan.spool.is_some(),
            hooks,
            address: address.to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Files of earlier runs, however much they are.
    pub(super) fn push_left(&self, jobs: impl Iterator<Item = Job>) {
        let mut state = self.lock();
        for job in jobs {
            state.bytes += job.bytes;
            state.jobs.push_back(job);
        }
    }

    /// A file that is whole. If too much waits, the run waits; a live run loses the file.
    pub(super) fn push(&self, job: Job) {
        let mut told = Instant::now();
        let mut state = self.lock();
        // A single file may be longer than all that may wait.
        while state.bytes > 0 && state.bytes + job.bytes > self.bytes_max {
            if self.is_stopped() {
                // It is the last: the end waits for it, and keeps it.
                break;
            }
            if !self.may_wait {
                state.lost += job.records;
                drop(state);
                let _ = fs::remove_file(&job.file);
                return;
            }
            if told.elapsed() >= TOLD_AFTER {
                told = Instant::now();
                let why = state.away.as_deref().unwrap_or("it is slow");
                self.tell(&format!("waiting for {}: {why}", self.address));
            }
            let waited = self.room.wait_timeout(state, Duration::from_millis(200));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.bytes += job.bytes;
        state.jobs.push_back(job);
        drop(state);
        self.more.notify_one();
    }

    /// The oldest file; waits for one. None when all are put and no more come.
    pub(super) fn first(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.front() {
                return Some(job.clone());
            }
            if state.is_ended {
                return None;
            }
            let waited = self.more.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The oldest file is in the bucket, or `lost`.
    pub(super) fn done(&self, is_lost: bool) {
        let mut state = self.lock();
        if let Some(job) = state.jobs.pop_front() {
            state.bytes -= job.bytes;
            state.lost += if is_lost { job.records } else { 0 };
        }
        drop(state);
        self.room.notify_all();
    }

    /// Waits; the end cuts it short.
    pub(super) fn pause(&self, most: Duration) {
        let state = self.lock();
        let waits = |state: &mut State| !state.is_ended;
        let _ = self.more.wait_timeout_while(state, most, waits);
    }

    /// The bucket is away.
    pub(super) fn away(&self, why: &str) {
        let mut state = self.lock();
        let is_new = state.away.is_none();
        state.away = Some(why.to_owned());
        drop(state);
        if is_new {
            self.tell(&format!("{} is away: {why}; files wait", self.address));
        }
    }

    /// It is back.
    pub(super) fn back(&self) {
        if self.lock().away.take().is_some() {
            self.tell(&format!("{} is back", self.address));
        }
    }

    pub(super) fn tell(&self, text: &str) {
        if let Some(tell) = &self.hooks.tell {
            tell(text);
        }
    }

    /// No more files come.
    pub(super) fn end(&self) {
        self.lock().is_ended = true;
        self.more.notify_all();
    }

    pub(super) fn is_ended(&self) -> bool {
        self.lock().is_ended
    }

    fn is_stopped(&self) -> bool {
        self.hooks.stop.load(Ordering::Relaxed)
    }

    /// How long a run waits in its end without anything being put.
    pub(super) fn patience(&self) -> Duration {
        match self.is_spooled {
            true => PATIENCE_SPOOLED,
            false => PATIENCE,
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.lock().lost
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.lock().bytes
    }
}
