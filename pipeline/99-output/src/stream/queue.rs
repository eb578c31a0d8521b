//! What waits to be sent: in memory first, then in the spool.
//!
//! Lines in memory are older than those in the spool: while the spool has any, new lines go there.

use super::StreamHooks;
use super::spool::{Segment, Spool};
use flowpin_config::PeerAddress;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct Queue {
    state: Mutex<State>,
    /// There are lines, or the end.
    more: Condvar,
    /// Lines were taken.
    room: Condvar,
    may_wait: bool,
    hooks: StreamHooks,
    address: String,
}

struct State {
    memory: VecDeque<Vec<u8>>,
    memory_bytes: usize,
    spool: Option<Spool>,
    /// No more lines come.
    is_ended: bool,
    /// Nobody takes lines any more.
    is_closed: bool,
    lost: u64,
    lost_at_end: u64,
    /// When lines first found no room after the run was to stop.
    stopped: Option<Instant>,
    /// Why the peer is away, if it is.
    away: Option<String>,
}

/// What the sender gets.
pub(super) enum Next {
    Lines(Vec<u8>),
    Segment(Segment),
    /// Nothing has come in time.
    Nothing,
    End,
}

/// What a sender has taken and could not send.
pub(super) enum Unsent {
    Lines(Vec<u8>),
    /// Its file is there still.
    #[cfg_attr(
        not(feature = "kafka"),
        expect(dead_code, reason = "sent lines go by lines")
    )]
    Segment(Segment),
}

/// What was left unsent.
pub(super) struct Left {
    /// Bytes in the spool.
    pub(super) bytes: u64,
    /// Records that were lost because the peer was away at the end.
    pub(super) lost_at_end: u64,
}

/// Lines that wait in memory, in bytes.
pub(super) const MEMORY_BYTES: usize = 8 << 20;
/// Without a spool, what is not sent is lost. Also how long a run that is to stop waits for room.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_SPOOLED: Duration = Duration::from_secs(3);
/// How long the run waits before it is told, and how often it is told.
const TOLD_AFTER: Duration = Duration::from_secs(5);

impl Queue {
    pub(super) fn new(
        spool: Option<Spool>,
        may_wait: bool,
        hooks: StreamHooks,
        address: &PeerAddress,
    ) -> Self {
        Self {
            state: Mutex::new(State {
                memory: VecDeque::new(),
                memory_bytes: 0,
                spool,
                is_ended: false,
                is_closed: false,
                lost: 0,
                lost_at_end: 0,
                stopped: None,
                away: None,
            }),
            more: Condvar::new(),
            room: Condvar::new(),
            may_wait,
            hooks,
            address: address.to_string(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes whole lines; waits for room only if the run may.
    pub(super) fn push(&self, lines: &[u8]) {
        if lines.is_empty() {
            return;
        }
        let mut told = Instant::now();
        let mut state = self.lock();
        while !state.hold(lines) {
            if state.is_closed || !self.waits(&mut state) {
                state.lost += records(lines);
                return;
            }
            if told.elapsed() >= TOLD_AFTER {
                told = Instant::now();
                let why = state.away.as_deref().unwrap_or("it does not read");
                self.tell(&format!("waiting for {}: {why}", self.address));
            }
            let waited = self.room.wait_timeout(state, Duration::from_millis(200));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.more.notify_one();
    }

    /// Whether lines may wait for room. A live run that is to stop captures no more, so it may wait
    /// too, but as any other not for long.
    fn waits(&self, state: &mut State) -> bool {
        if !self.is_stopped() {
            return self.may_wait;
        }
        let stopped = state.stopped.get_or_insert_with(Instant::now);
        stopped.elapsed() < PATIENCE
    }

    /// The oldest lines; waits for some, `most` at most.
    pub(super) fn take(&self, most: Duration) -> Next {
        let mut state = self.lock();
        if state.is_idle() {
            let waited = self.more.wait_timeout(state, most);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if let Some(lines) = state.memory.pop_front() {
            state.memory_bytes -= lines.len();
            self.room.notify_all();
            return Next::Lines(lines);
        }
        if let Some(segment) = state.spool.as_mut().and_then(Spool::pop) {
            return Next::Segment(segment);
        }
        match state.is_ended {
            true => Next::End,
            false => Next::Nothing,
        }
    }

    /// Waits without taking anything; the end cuts it short.
    pub(super) fn pause(&self, most: Duration) {
        let state = self.lock();
        let _ = self
            .room
            .wait_timeout_while(state, most, |state| !state.is_ended);
    }

    /// The lines of a segment were read: its file goes.
    pub(super) fn done(&self, segment: &Segment) {
        let mut state = self.lock();
        if let Some(spool) = &mut state.spool {
            spool.remove(segment);
        }
        self.room.notify_all();
    }

    /// The lines of a segment cannot be read any more.
    pub(super) fn unreadable(&self, segment: &Segment, error: &io::Error) {
        self.tell(&format!("cannot read {}: {error}", segment.path.display()));
        self.lock().lost += segment.records;
        self.done(segment);
    }

    /// The peer is away.
    pub(super) fn away(&self, error: &io::Error) {
        let mut state = self.lock();
        let is_new = state.away.is_none();
        state.away = Some(error.to_string());
        let is_ended = state.is_ended;
        drop(state);
        if is_new && !is_ended {
            self.tell(&format!("{} is away: {error}; records wait", self.address));
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

    /// No more lines come.
    pub(super) fn end(&self) {
        self.lock().is_ended = true;
        self.more.notify_all();
        self.room.notify_all();
    }

    pub(super) fn is_ended(&self) -> bool {
        self.lock().is_ended
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.hooks.stop.load(Ordering::Relaxed)
    }

    /// How long a run waits in its end without anything being sent.
    pub(super) fn patience(&self) -> Duration {
        match self.lock().spool {
            Some(_) => PATIENCE_SPOOLED,
            None => PATIENCE,
        }
    }

    /// A record is lost that nobody takes.
    #[cfg(feature = "kafka")]
    pub(super) fn lose_one(&self) {
        self.lock().lost += 1;
    }

    /// The sender gives up: `unsent`, and all that waits in memory, go to the front of the spool.
    pub(super) fn close(&self, mut unsent: Vec<Unsent>) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let memory = state.memory.drain(..);
        let memory = memory.fold(Vec::new(), |mut all, lines| {
            all.extend_from_slice(&lines);
            all
        });
        match unsent.last_mut() {
            Some(Unsent::Lines(last)) => last.extend_from_slice(&memory),
            _ => unsent.push(Unsent::Lines(memory)),
        }
        state.memory_bytes = 0;
        state.is_closed = true;
        // The newest first, so that each stands in front of the one before.
        for part in unsent.into_iter().rev() {
            state.put_back(part);
        }
        self.room.notify_all();
    }

    pub(super) fn lost(&self) -> u64 {
        self.lock().lost
    }

    pub(super) fn left(&self) -> Left {
        let state = self.lock();
        Left {
            bytes: state.spool.as_ref().map_or(0, Spool::bytes),
            lost_at_end: state.lost_at_end,
        }
    }
}

impl State {
    fn is_idle(&self) -> bool {
        let has_spooled = self.spool.as_ref().is_some_and(|spool| !spool.is_empty());
        self.memory.is_empty() && !has_spooled && !self.is_ended
    }

    fn put_back(&mut self, part: Unsent) {
        match (part, &mut self.spool) {
            (Unsent::Lines(lines), spool) if !lines.is_empty() => {
                let kept = spool.as_mut().map(|spool| spool.put_first(&lines).is_ok());
                if kept != Some(true) {
                    self.lost += records(&lines);
                    self.lost_at_end += records(&lines);
                }
            }
            (Unsent::Segment(segment), Some(spool)) => spool.push_front(segment),
            _ => {}
        }
    }

    /// Whether the lines are held now.
    fn hold(&mut self, lines: &[u8]) -> bool {
        if self.is_closed {
            return false;
        }
        let has_room = self.memory.is_empty() || self.memory_bytes + lines.len() <= MEMORY_BYTES;
        if has_room && self.spool.as_ref().is_none_or(Spool::is_empty) {
            self.memory_bytes += lines.len();
            self.memory.push_back(lines.to_vec());
            return true;
        }
        // A disk that is full is as a spool that is.
        let spool = self.spool.as_mut();
        spool.is_some_and(|spool| spool.append(lines).is_ok())
    }
}

/// How many records some lines are.
pub(super) fn records(lines: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', lines).count() as u64
}
