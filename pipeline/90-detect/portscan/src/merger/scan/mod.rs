//! The attempts of one source with one kind of probe, and the scan that they are, if they are one.

mod amid;
mod record;

use super::amid::{Lines, UsedOne, WAITING_MAX};
use super::firsts::First;
use super::sources::{Asker, Period};
use super::targets::{Outcome, Targets};
use super::{Host, intervals};
use crate::filter::Shards;
use crate::observer::PERIOD;
use crate::summary::Attempt;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::Samples;

/// The attempts of one source with one kind of probe.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) targets: Targets,
    /// Packet number and time of the first attempt.
    pub(super) first: (u64, Timestamp),
    last: Timestamp,
    pub(super) last_interval: u64,
    /// The interval after the one in which it was last judged.
    judged: u64,
    /// Number of attempts at which it is worth judging again.
    judge_at: u64,
    attempts: u64,
    /// Accepted attempts: reset at once, and with a handshake.
    accepted: [u64; 2],
    /// The present period of the workers' filters.
    period: InPeriod,
    /// How many attempts were probably not logged: in earlier periods, and in this.
    missed: [u64; 2],
    pub(super) scan: Option<Scan>,
    /// Kept from before the targets became too many.
    remembered: Option<Box<Remembered>>,
}

/// Attempts in a period of the workers' filters.
#[derive(Debug, Default)]
struct InPeriod {
    index: u64,
    logged: u64,
    /// Shards with a logged attempt.
    shards: Shards,
    /// Shards whose first logged attempt was late: before it there was one more.
    firsts_lost: u64,
}

#[derive(Debug)]
struct Remembered {
    signature: [u64; 16],
    hosts: Samples<Host, 4>,
    ports: Samples<u16, 8>,
    lines: Option<Lines>,
}

/// A scan that goes on.
#[derive(Debug)]
pub(super) struct Scan {
    /// Interval of the last record, and attempts up to it.
    reported: u64,
    reported_attempts: u64,
    /// Another source that asks the same and was first.
    leader: Option<Asker>,
    /// Others that ask the same, and the first of them.
    others: u64,
    some: Vec<Host>,
    /// The number of its last probe, and what was used since.
    last_probe: u64,
    waiting: Vec<UsedOne>,
    /// Whether some of what was used is not known.
    is_short: bool,
}

impl Scan {
    pub(super) const fn new(reported: u64, leader: Option<Asker>) -> Self {
        Self {
            reported,
            reported_attempts: 0,
            leader,
            others: 0,
            some: Vec::new(),
            last_probe: 0,
            waiting: Vec::new(),
            is_short: false,
        }
    }

    pub(super) fn join(&mut self, host: Host) {
        self.others += 1;
        if self.some.len() < 3 {
            self.some.push(host);
        }
    }
}

/// Equal parts, of 16, of the signatures of two sources that ask nearly the same.
const LIKE_MIN: usize = 12;

/// Pauses, in multiples of its usual one, after which a scan is over.
const PAUSES: u64 = 8;

/// Up to this many targets are judged at each attempt: a small scan may end with it.
const CHEAP_MAX: u64 = 64;

/// They must have begun within this time.
const TOGETHER_NS_MAX: u64 = 10_000_000_000;

impl Asked {
    /// As new, but for the memory of a few targets.
    pub(super) fn clear(&mut self) {
        let targets = core::mem::take(&mut self.targets);
        *self = Self {
            targets: targets.cleared(),
            ..Self::default()
        };
    }

    /// Adds an attempt.
    pub(super) fn add(&mut self, attempt: &Attempt, outcome: Outcome, interval: u64) {
        if self.attempts == 0 || self.targets.exact_len() == 0 && self.scan.is_none() {
            self.first = (attempt.number, attempt.time);
            self.last = attempt.time;
            self.attempts = 0;
        }
        self.last = self.last.max(attempt.time);
        self.last_interval = interval;
        self.attempts += 1;
        let index = interval / PERIOD;
        if self.period.index != index {
            self.period = InPeriod {
                index,
                ..InPeriod::default()
            };
            let [before, now] = self.missed;
            self.missed = [before + now, 0];
        }
        self.period.logged += 1;
        let is_first = self.period.shards.insert(attempt.shard);
        self.period.firsts_lost += u64::from(is_first && attempt.late);
        match outcome {
            Outcome::HalfOpen => self.accepted[0] += 1,
            Outcome::Idle | Outcome::Used => self.accepted[1] += 1,
            _ => {}
        }
        if let Some(scan) = &mut self.scan {
            scan.last_probe = attempt.number;
        }
        self.targets.add(attempt, outcome, interval);
    }

    /// Adds what it asked when it was new.
    pub(super) fn add_first(&mut self, first: &First) {
        self.add(&first.attempt, first.outcome, first.interval);
        self.missed[1] = u64::from(first.missed);
    }

    /// Whether it scans, or has asked so much that it may.
    pub(super) fn is_worth(&self, targets_min: usize) -> bool {
        self.scan.is_some() || self.targets.exact_len() >= targets_min
    }

    /// Notes that it will be judged with this interval; false if that is known.
    pub(super) fn note_judged(&mut self, interval: u64) -> bool {
        let mark = interval.saturating_add(1);
        core::mem::replace(&mut self.judged, mark) != mark
    }

    /// Whether so much was asked since it was last judged that another verdict may come of it.
    // PERF: a peer that fails at a thousand others asks some of them in every interval.
    pub(super) fn is_due_to_be_judged(&mut self) -> bool {
        let due = self.scan.is_some() || self.attempts >= self.judge_at;
        if due {
            let targets = self.targets.exact_len() as u64;
            let is_cheap = targets <= CHEAP_MAX;
            self.judge_at = self.attempts + if is_cheap { 0 } else { targets / 16 };
        }
        due
    }

    /// How long a scan may be quiet and not be over, in intervals: some of its own pauses.
    pub(super) fn pause(&self) -> u64 {
        let span = self.last.0.saturating_sub(self.first.1.0);
        PAUSES * intervals(span / self.attempts.max(1))
    }

    /// Guesses how many attempts of this period were not logged.
    pub(super) fn guess_missed(&mut self, period: &Period) {
        let mine = &self.period;
        let full_hit = period.shards().common(mine.shards).count();
        self.missed[1] = period.missed(mine.logged, mine.firsts_lost, full_hit);
    }

    /// How many attempts were probably not logged.
    fn missed(&self) -> u64 {
        let [before, now] = self.missed;
        before + now
    }

    /// Some of what was used is not known: counts are estimates.
    pub(super) const fn note_short(&mut self) {
        if let Some(scan) = &mut self.scan {
            scan.is_short = true;
        }
    }

    /// From now on it is a scan, and of `used` what followed its last probe may be.
    pub(super) fn begin(&mut self, scan: Scan, mut used: Vec<UsedOne>, losses: &mut Losses) {
        let last_probe = if self.targets.is_sketch() {
            u64::MAX
        } else {
            self.last_probe()
        };
        used.retain(|(attempt, _)| attempt.number > last_probe);
        let more = used.len().saturating_sub(WAITING_MAX);
        losses.count(Loss::ScanUsedForgotten, more as u64);
        used.truncate(WAITING_MAX);
        self.scan = Some(Scan {
            last_probe,
            waiting: used,
            is_short: more > 0,
            ..scan
        });
    }

    pub(super) fn signature(&self) -> [u64; 16] {
        match &self.remembered {
            Some(remembered) => remembered.signature,
            None => self.targets.signature(),
        }
    }

    /// Whether another asks the same as this.
    pub(super) fn is_like(&self, other: &Self, signature: &[u64; 16]) -> bool {
        let (first, second) = (self.first.1.0, other.first.1.0);
        if first.abs_diff(second) > TOGETHER_NS_MAX {
            return false;
        }
        let mine = self.signature();
        let same = mine.iter().zip(signature).filter(|(a, b)| a == b);
        same.count() >= LIKE_MIN
    }

    /// Whether no other source leads it.
    pub(super) fn is_leader(&self) -> bool {
        let scan = self.scan.as_ref();
        scan.is_some_and(|scan| scan.leader.is_none())
    }

    /// Whether a record is due: a window after the last, if anything was asked since.
    pub(super) fn is_due(&self, index: u64, window: u64) -> bool {
        let scan = self.scan.as_ref();
        scan.is_some_and(|scan| {
            index >= scan.reported + window && self.attempts > scan.reported_attempts
        })
    }

    /// Keeps what the sketch that follows does not.
    pub(super) fn remember(&mut self) {
        if self.remembered.is_none() && !self.targets.is_sketch() {
            let (hosts, ports) = self.samples();
            let signature = self.targets.signature();
            self.remembered = Some(Box::new(Remembered {
                signature,
                hosts,
                ports,
                lines: Lines::of(&self.targets),
            }));
        }
    }
}
