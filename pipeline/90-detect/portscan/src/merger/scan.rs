//! What one source asked in one way, and the scan that it is, if it is one.

use super::amid::{Lines, UsedOne, WAITING_MAX};
use super::firsts::First;
use super::sources::{Asker, Period};
use super::targets::{Outcome, Seen, Target, Targets};
use super::{DISTRIBUTED_ORDINAL, Host, Now, SCAN_ORDINAL, beginning, intervals, uid, verdict};
use crate::filter::Shards;
use crate::observer::PERIOD;
use crate::options::ScanOptions;
use crate::summary::Attempt;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::{EpisodeState, RecordKey, RecordSink, Samples, ScanKind, ScanRecord};

/// What one source asked in one way.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) targets: Targets,
    /// Packet number and time of the first attempt.
    pub(super) first: (u64, Timestamp),
    last: Timestamp,
    pub(super) last_interval: u64,
    /// The interval behind the one in which it was last judged.
    judged: u64,
    /// Attempts from which on it is worth to judge it again.
    judge_at: u64,
    attempts: u64,
    /// Accepted attempts: reset at once, and with a handshake.
    accepted: [u64; 2],
    /// The present period of the workers' filters.
    period: InPeriod,
    /// How many attempts were probably not logged: in earlier periods, and in this.
    missed: [u64; 2],
    pub(super) scan: Option<Scan>,
    /// What was known when the targets became too many.
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
    told: u64,
    told_attempts: u64,
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
    pub(super) const fn new(told: u64, leader: Option<Asker>) -> Self {
        Self {
            told,
            told_attempts: 0,
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

/// Of 16 parts of two sources' signatures, so many must be equal: they ask nearly the same.
const LIKE_MIN: usize = 12;

/// What an identifier of a distributed scan is made with: more than any probe.
const DISTRIBUTED: u64 = 128;

/// Of its pauses, those after which a scan is over.
const PAUSES: u64 = 8;

/// So many targets are judged whenever one is asked: a small scan may end with it.
const CHEAP_MAX: u64 = 64;

/// And they must have begun together.
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

    /// It is a scan: what was forgotten, and what was asked before it began, is none of it; what
    /// was `used` amid it is.
    pub(super) fn cut(&mut self, used: &[UsedOne]) {
        let last = self.last_probe();
        let used = used.iter().filter(|(attempt, _)| attempt.number < last);
        for (attempt, interval) in self.on_lines(used.copied()) {
            self.targets.add(&attempt, Outcome::Used, interval);
        }
        let seen: Vec<_> = self.targets.iter().map(|(_, seen)| *seen).collect();
        if let Some(number) = beginning::of(seen) {
            self.targets.forget_begun_before(number);
        }
        (self.attempts, self.accepted) = (0, [0; 2]);
        let mut first = None;
        for (_, seen) in self.targets.iter() {
            self.attempts += u64::from(seen.attempts);
            first = Some(first.map_or(seen.first, |known| seen.first.min(known)));
            match seen.outcome {
                Outcome::HalfOpen => self.accepted[0] += 1,
                Outcome::Idle | Outcome::Used => self.accepted[1] += 1,
                _ => {}
            }
        }
        self.first = first.unwrap_or(self.first);
    }

    /// The number of the last target's first probe.
    fn last_probe(&self) -> u64 {
        let numbers = self.targets.iter().map(|(_, seen)| seen.first.0);
        numbers.max().unwrap_or(0)
    }

    /// Of used connections those along the lines of what failed, but for targets that were asked
    /// without being used.
    fn on_lines(&self, used: impl Iterator<Item = UsedOne>) -> Vec<UsedOne> {
        let mut used = used.peekable();
        if used.peek().is_none() {
            return Vec::new();
        }
        let fresh = match &self.remembered {
            Some(_) => None,
            None => Lines::of(&self.targets),
        };
        let known = self
            .remembered
            .as_ref()
            .and_then(|known| known.lines.as_ref());
        let Some(lines) = fresh.as_ref().or(known) else {
            return Vec::new();
        };
        used.filter(|(attempt, _)| {
            let target = Target::of(attempt);
            lines.have(&target)
                && self
                    .targets
                    .get(&target)
                    .is_none_or(|seen| seen.outcome == Outcome::Used)
        })
        .collect()
    }

    /// Notes a connection that was used while the scan goes on.
    pub(super) fn note_used(&mut self, attempt: &Attempt, interval: u64, losses: &mut Losses) {
        if let Some(scan) = &mut self.scan {
            if scan.waiting.len() < WAITING_MAX {
                scan.waiting.push((*attempt, interval));
            } else {
                losses.count(Loss::ScanUsedForgotten, 1);
                scan.is_short = true;
            }
        }
    }

    /// Adds what was used before the last probe; at the end, also what followed it at once.
    pub(super) fn take_used(&mut self, is_end: bool) {
        let Some(scan) = &mut self.scan else {
            return;
        };
        let (mut waiting, probe) = (core::mem::take(&mut scan.waiting), scan.last_probe);
        let at = waiting.partition_point(|(attempt, _)| attempt.number < probe);
        let after = waiting.split_off(at);
        for one in self.on_lines(waiting.into_iter()) {
            self.add_used(&one);
        }
        if !is_end {
            if let Some(scan) = &mut self.scan {
                scan.waiting = after;
            }
            return;
        }
        let span = self.last.0.saturating_sub(self.first.1.0);
        let limit = beginning::limit_idle(span / self.attempts.max(1));
        for one in self.on_lines(after.into_iter()) {
            if one.0.time.0.saturating_sub(self.last.0) > limit {
                break;
            }
            self.add_used(&one);
        }
    }

    fn add_used(&mut self, (attempt, interval): &UsedOne) {
        self.attempts += 1;
        self.last = self.last.max(attempt.time);
        let is_new = self.targets.add(attempt, Outcome::Used, *interval);
        self.accepted[1] += u64::from(is_new);
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

    /// Whether nobody else leads it.
    pub(super) fn is_leader(&self) -> bool {
        let scan = self.scan.as_ref();
        scan.is_some_and(|scan| scan.leader.is_none())
    }

    /// Whether a record is due: a window after the last, if anything was asked since.
    pub(super) fn is_due(&self, index: u64, window: u64) -> bool {
        let scan = self.scan.as_ref();
        scan.is_some_and(|scan| index >= scan.told + window && self.attempts > scan.told_attempts)
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

    /// The hosts and the ports asked first.
    fn samples(&self) -> (Samples<Host, 4>, Samples<u16, 8>) {
        let nobody = Host {
            ipv6: false,
            address: [0; 16],
        };
        if let Some(remembered) = &self.remembered {
            return (remembered.hosts, remembered.ports);
        }
        let hosts = firsts::<_, 4>(self.targets.iter(), |target| target.host);
        let ports = firsts::<_, 8>(self.targets.iter(), |target| target.port);
        (Samples::first(nobody, hosts), Samples::first(0, ports))
    }

    /// Writes a record of the scan as it stands.
    pub(super) fn write(
        &mut self,
        asker: &Asker,
        state: EpisodeState,
        now: Now,
        options: &ScanOptions,
        sink: &mut impl RecordSink,
    ) {
        let record = self.record(asker, state, options);
        let ordinal = SCAN_ORDINAL + asker.probe as u32 * 4 + state as u32;
        self.tell(now, ordinal, &record, sink);
    }

    /// Likewise where it is known of a host by whom it was asked: a distributed scan.
    pub(super) fn write_turned(
        &mut self,
        victim: &Asker,
        state: EpisodeState,
        now: Now,
        options: &ScanOptions,
        sink: &mut impl RecordSink,
    ) {
        let of_pairs = self.record(victim, state, options);
        let sources = of_pairs.host_samples;
        let first = sources.as_slice().first().copied();
        let target = of_pairs.source;
        let scaled = |part: u64| part * of_pairs.ports / of_pairs.targets.max(1);
        let (open, closed) = (scaled(of_pairs.open), scaled(of_pairs.closed));
        let record = ScanRecord {
            uid: uid(options, victim.host, self.first.0, DISTRIBUTED),
            kind: ScanKind::Distributed,
            source: first.unwrap_or(target),
            source_count: of_pairs.hosts,
            sources,
            hosts: 1,
            targets: of_pairs.ports,
            open,
            closed,
            filtered: of_pairs.ports - open - closed,
            host_samples: Samples::first(target, [target]),
            ..of_pairs
        };
        self.tell(now, DISTRIBUTED_ORDINAL + state as u32, &record, sink);
    }

    fn tell(&mut self, now: Now, ordinal: u32, record: &ScanRecord, sink: &mut impl RecordSink) {
        let Some(scan) = &mut self.scan else {
            return;
        };
        scan.told = now.index;
        scan.told_attempts = self.attempts;
        let key = RecordKey {
            time: now.time,
            number: self.first.0,
            ordinal,
        };
        sink.scan(key, record);
    }

    fn record(&self, asker: &Asker, state: EpisodeState, options: &ScanOptions) -> ScanRecord {
        let counts = self.targets.counts();
        let (hosts, ports) = self.samples();
        // Of what was asked once, as much again may have been missed as of all attempts.
        let logged = self.attempts.max(1);
        let [targets_once, hosts_once, ports_once] = counts.once;
        let more = |once: u64| once * self.missed() / logged;
        let attempts = self.attempts + self.missed();
        // Nobody asks for more than he tries, whatever a sketch guesses.
        let targets = (counts.targets + more(targets_once)).min(attempts);
        let scaled = |part: u64| part * targets / counts.targets.max(1);
        let (others, some) = self
            .scan
            .as_ref()
            .map_or((0, &[][..]), |scan| (scan.others, scan.some.as_slice()));
        let is_short = self.scan.as_ref().is_some_and(|scan| scan.is_short);
        let source = asker.host.ip();
        let sources = core::iter::once(source).chain(some.iter().map(|host| host.ip()));
        let connects = self.accepted[1] > self.accepted[0];
        ScanRecord {
            uid: uid(options, asker.host, self.first.0, asker.probe as u64),
            state,
            kind: verdict::kind(&counts),
            method: asker.probe.method(connects),
            source,
            source_count: others + 1,
            sources: Samples::first(source, sources),
            first: self.first.1,
            last: self.last,
            first_packet: self.first.0,
            attempts,
            hosts: (counts.hosts + more(hosts_once)).min(targets),
            ports: (counts.ports + more(ports_once)).min(targets),
            targets,
            open: scaled(counts.open),
            closed: scaled(counts.closed),
            filtered: scaled(counts.filtered),
            estimated: self.missed() > 0 || self.targets.is_sketch() || is_short,
            host_samples: Samples::first(source, hosts.as_slice().iter().map(|host| host.ip())),
            port_samples: ports,
        }
    }
}

/// The `N` different values that came first.
fn firsts<'a, T: Copy + Ord, const N: usize>(
    targets: impl Iterator<Item = (&'a Target, &'a Seen)>,
    value: impl Fn(&Target) -> T,
) -> impl Iterator<Item = T> {
    let mut first = std::collections::BTreeMap::new();
    for (target, seen) in targets {
        let number = first.entry(value(target)).or_insert(seen.first.0);
        *number = seen.first.0.min(*number);
    }
    let mut order: Vec<_> = first
        .into_iter()
        .map(|(value, number)| (number, value))
        .collect();
    order.sort_unstable();
    order.into_iter().take(N).map(|(_, value)| value)
}
