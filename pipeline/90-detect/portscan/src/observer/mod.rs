//! The worker's side: logs attempts, marks what became of them, closes intervals.
//!
//! ```text
//!  interval   i−1 (previous)      i (current)
//!             │ attempt … │       │ attempt … │     an attempt can still be answered until the
//!             └─ slots: handle → attempt ──┘        interval after its own has ended
//! ```

mod beyond;
mod log;
mod question;

use crate::INTERVAL_SHIFT;
use crate::caps::ScanCaps;
use crate::event::{Begin, Run, Steps};
use crate::filter::{Filter, Shards};
use crate::summary::{Attempt, Interval, RunKey, Runs, Summary};
use beyond::unlogged;
use flowpin_counters::Losses;
use flowpin_packet::{SHARD_COUNT, Timestamp};
use log::{Counts, Log};
use question::{is_group, is_question};

/// Observes the connections of one worker.
///
/// Calls must come in the order of stream time. All caps are by shard and depend on the shard's
/// own events only, so that it does not matter which worker has which shards.
#[derive(Debug)]
pub struct Observer {
    caps: ScanCaps,
    /// From when on the next interval counts.
    end: u64,
    current: Log,
    previous: Log,
    /// By handle: the position of its attempt, counted from the first log on, wrapping.
    slots: Vec<u32>,
    counts: Box<[Counts; SHARD_COUNT]>,
    filter: Filter,
    /// Shards that were over their cap in this period, whose filters hold every attempt.
    stressed: Shards,
    ready: Vec<Interval>,
    /// Every interval below is handed over.
    handed_over: u64,
    spare: Vec<Vec<Attempt>>,
    losses: Losses,
}

/// Intervals over which filters remember, so that slower scans are known too.
pub(crate) const PERIOD: u64 = 16;

/// A position that no log has: logs are far shorter.
const FORGOTTEN: u32 = 1 << 31;

/// Logs kept for reuse.
const SPARE_MAX: usize = 4;

impl Default for Observer {
    fn default() -> Self {
        Self::new(ScanCaps::default())
    }
}

impl Observer {
    /// An observer that has seen nothing.
    pub fn new(caps: ScanCaps) -> Self {
        Self {
            caps,
            end: 0,
            current: Log::default(),
            previous: Log::default(),
            slots: Vec::new(),
            counts: Box::new([Counts::default(); SHARD_COUNT]),
            filter: Filter::new(caps.filter_words),
            stressed: Shards::default(),
            ready: Vec::new(),
            handed_over: 0,
            spare: Vec::new(),
            losses: Losses::default(),
        }
    }

    /// A connection began.
    #[inline]
    pub fn began(&mut self, first: &Begin) {
        if first.stream_time.0 >= self.end {
            self.roll(first.stream_time);
        }
        let counts = &mut self.counts[usize::from(first.shard)];
        let mut late = false;
        if !is_question(first) {
            return self.forget(first.handle);
        }
        if counts.attempts < self.caps.attempts {
            counts.attempts += 1;
            if !self.stressed.is_empty() {
                self.remember(*first);
            }
        } else if self.is_late(*first) {
            late = true;
        } else {
            return self.forget(first.handle);
        }
        let attempts = &mut self.current.interval.attempts;
        #[expect(clippy::cast_possible_truncation, reason = "capped by shard")]
        let place = attempts.len() as u32;
        let counts = &mut self.counts[usize::from(first.shard)];
        let before = core::mem::replace(&mut counts.last, place + 1);
        attempts.push(Attempt {
            source: first.source,
            target: first.target,
            time: first.time,
            number: first.number,
            handle: first.handle,
            before,
            port: first.port,
            steps: Steps::NONE,
            probe: first.probe,
            ipv6: first.ipv6,
            shard: first.shard,
            late,
        });
        self.point(first.handle, self.current.base.wrapping_add(place));
    }

    /// Notes steps of a connection. Noting them twice does no harm.
    #[inline]
    pub fn saw(&mut self, handle: u32, stream_time: Timestamp, steps: Steps) {
        if stream_time.0 >= self.end {
            self.roll(stream_time);
        }
        let Some(slot) = self.slots.get_mut(handle as usize) else {
            return;
        };
        let position = *slot;
        let found = match self.current.find(position, handle) {
            None => self.previous.find(position, handle),
            found => found,
        };
        let settled = found.is_none_or(|attempt| {
            attempt.steps = attempt.steps.with(steps);
            attempt.is_settled()
        });
        if settled {
            // PERF: what comes later on the connection need not look for the attempt.
            *slot = self.current.base.wrapping_add(FORGOTTEN);
        }
    }

    /// Whether [`Observer::saw`] has nothing to note of a connection any more.
    // PERF: most have more packets after that than before.
    #[inline]
    pub fn is_settled(&self, handle: u32) -> bool {
        self.slots.get(handle as usize).is_none_or(|&position| {
            !self.current.may_have(position) && !self.previous.may_have(position)
        })
    }

    /// Prefetches what [`Observer::saw`] will read first. Any handle is fine.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        flowpin_cpu::prefetch::read_at(&self.slots, handle as usize);
    }

    /// One direction of a connection has had another [`Run::PACKETS`] packets: ICMP requests; UDP
    /// of which less than an eighth was answered; SYNs alone.
    pub fn packets(&mut self, run: &Run) {
        if run.stream_time.0 >= self.end {
            self.roll(run.stream_time);
        }
        if is_group(&run.target, run.ipv6) {
            return;
        }
        let key = RunKey {
            kind: run.kind,
            ipv6: run.ipv6,
            target: run.target,
            source: run.source,
            port: run.port,
            shard: run.shard,
        };
        let interval = &mut self.current.interval;
        if let Some(runs) = interval.runs.get_mut(&key) {
            runs.packets += u64::from(Run::PACKETS);
            runs.last = runs.last.max(run.time);
            return;
        }
        let counts = &mut self.counts[usize::from(run.shard)];
        if counts.runs < self.caps.runs {
            counts.runs += 1;
            let runs = Runs {
                packets: u64::from(Run::PACKETS),
                first: (run.time, run.number),
                last: run.time,
            };
            interval.runs.insert(key, runs);
        } else {
            unlogged(interval).count(run.kind, &run.target, &run.source, Run::PACKETS);
        }
    }

    /// The stream's time is now `now`: hands over the intervals that this closes, if any. The
    /// resulting records have times after the beginning of `now`'s interval.
    pub fn tick(&mut self, now: Timestamp) -> Option<Summary> {
        if now.0 >= self.end {
            self.roll(now);
        }
        let upto = self.current.interval.index.saturating_sub(1);
        if upto <= self.handed_over {
            return None;
        }
        self.handed_over = upto;
        let intervals = core::mem::take(&mut self.ready);
        Some(Summary { upto, intervals })
    }

    /// Hands over what is left: the input has ended.
    pub fn finish(&mut self) -> Summary {
        for log in [&mut self.previous, &mut self.current] {
            let interval = core::mem::take(&mut log.interval);
            if !interval.is_empty() {
                self.ready.push(interval);
            }
        }
        let intervals = core::mem::take(&mut self.ready);
        let upto = u64::MAX;
        Summary { upto, intervals }
    }

    /// What did not fit.
    pub const fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Attempts that are held.
    pub fn held(&self) -> usize {
        let waiting: usize = self.ready.iter().map(|log| log.attempts.len()).sum();
        waiting + self.current.interval.attempts.len() + self.previous.interval.attempts.len()
    }

    /// Begins the interval of `now`.
    #[cold]
    #[inline(never)]
    fn roll(&mut self, now: Timestamp) {
        let index = now.0 >> INTERVAL_SHIFT;
        let behind_next = index > self.current.interval.index + 1;
        #[expect(clippy::cast_possible_truncation, reason = "capped by shard")]
        let logged = self.current.interval.attempts.len() as u32;
        let mut next = Log {
            interval: Interval {
                index,
                attempts: self.spare.pop().unwrap_or_else(|| {
                    // PERF: a flood goes on: growing step by step would copy the log twice.
                    Vec::with_capacity(logged as usize)
                }),
                ..Interval::default()
            },
            base: self.current.base.wrapping_add(logged),
        };
        core::mem::swap(&mut self.current, &mut next);
        core::mem::swap(&mut self.previous, &mut next);
        self.put_by(next);
        if behind_next {
            let old = Log {
                interval: Interval {
                    index: index - 1,
                    ..Interval::default()
                },
                base: self.current.base,
            };
            let old = core::mem::replace(&mut self.previous, old);
            self.put_by(old);
        }
        self.counts.fill(Counts::default());
        if index / PERIOD != self.previous.interval.index / PERIOD || behind_next {
            self.filter.clear();
            self.stressed = Shards::default();
        }
        self.end = (index + 1).saturating_mul(crate::INTERVAL_NS);
    }

    fn put_by(&mut self, log: Log) {
        if !log.interval.is_empty() {
            self.ready.push(log.interval);
        } else if self.spare.len() < SPARE_MAX {
            self.spare.push(log.interval.attempts);
        }
    }

    #[inline]
    fn forget(&mut self, handle: u32) {
        let nowhere = self.current.base.wrapping_add(FORGOTTEN);
        self.point(handle, nowhere);
    }

    #[inline]
    fn point(&mut self, handle: u32, position: u32) {
        match self.slots.get_mut(handle as usize) {
            Some(slot) => *slot = position,
            None => self.grow(handle, position),
        }
    }

    #[cold]
    fn grow(&mut self, handle: u32, position: u32) {
        let len = (handle as usize + 1).next_power_of_two();
        self.slots.resize(len, position.wrapping_add(FORGOTTEN));
        if let Some(slot) = self.slots.get_mut(handle as usize) {
            *slot = position;
        }
    }
}
