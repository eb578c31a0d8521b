//! Hosts that many sources ask for many ports, each for a few: distributed scans.
//!
//! The view of [`super::sources`] turned round: here a host has a set of those who asked it in
//! vain, by source and port. A service that is down has many sources and one port, a flood's
//! target many more packets than ports, and a source that scans alone is told alone: all these are
//! left out. TCP SYNs alone: over UDP late answers come to as many ports.

use super::scan::{Asked, Scan};
use super::sources::{Asker, Sources};
use super::targets::{EXACT_MAX, Meaning, Outcome, Targets};
use super::used::Recent;
use super::{Floods, Host, Now, intervals, verdict};
use crate::caps::ScanCaps;
use crate::event::Probe;
use crate::hash::Map;
use crate::options::ScanOptions;
use crate::summary::{Attempt, Interval};
use flowpin_counters::{Loss, Losses};
use flowpin_record::{EpisodeState, FloodKind, RecordSink};
use std::collections::BTreeSet;

/// Distributed scans at once.
const SCANS_MAX: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Victims {
    map: Map<Host, Victim>,
    /// Those that are scanned.
    scans: BTreeSet<Host>,
    pairs: usize,
}

#[derive(Debug, Default)]
struct Victim {
    used: Recent,
    asked: Asked,
    /// Pairs that are kept one by one.
    exact: usize,
}

impl Victims {
    pub(super) fn has_scans(&self) -> bool {
        !self.scans.is_empty()
    }

    /// Takes the attempts of an interval, after sources and floods have, and decides.
    pub(super) fn interval(
        &mut self,
        now: Now,
        all: &Interval,
        (sources, floods): (&Sources, &Floods),
        options: &ScanOptions,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        let mut changed = Vec::new();
        for attempt in &all.attempts {
            if attempt.probe == Probe::Syn {
                self.attempt(now, attempt, sources, options, &mut changed);
            }
        }
        let mut begun = Vec::new();
        for host in changed {
            let is_flooded = floods.has((FloodKind::Syn, host));
            if self.judge(now, host, is_flooded, options, losses) {
                begun.push(host);
            }
        }
        begun.sort_unstable_by_key(|host| (self.map.get(host).map(|v| v.asked.first), *host));
        for host in begun {
            self.begin(now, host, options, losses, sink);
        }
        self.go_on(now, options, sink);
        self.keep_within_caps(&options.caps, losses);
    }

    /// Ends all scans: the input has ended.
    pub(super) fn end(&mut self, now: Now, options: &ScanOptions, sink: &mut impl RecordSink) {
        self.go_on(now, options, sink);
    }

    fn attempt(
        &mut self,
        now: Now,
        attempt: &Attempt,
        sources: &Sources,
        options: &ScanOptions,
        changed: &mut Vec<Host>,
    ) {
        let host = |address| Host {
            ipv6: attempt.ipv6,
            address,
        };
        let target = host(attempt.target);
        let outcome = match Meaning::of(attempt) {
            Meaning::Question(outcome) if outcome < Outcome::HalfOpen => outcome,
            Meaning::Used => {
                if let Some(victim) = self.map.get_mut(&target) {
                    victim.used.age(half(now.index, options));
                    victim.used.add(attempt.port);
                }
                return;
            }
            _ => return,
        };
        let is_allowed = host(attempt.source).is_in(&options.allow_sources)
            || target.is_in(&options.allow_targets);
        if is_allowed || sources.scans(&Asker::of(attempt)) {
            return;
        }
        let victim = self.map.entry(target).or_default();
        victim.used.age(half(now.index, options));
        let turned = Attempt {
            source: attempt.target,
            target: attempt.source,
            ..*attempt
        };
        victim.asked.add(&turned, outcome, now.index);
        victim.count(&mut self.pairs);
        let is_worth = victim.asked.is_worth(options.ports_min as usize);
        if is_worth && victim.asked.note_judged(now.index) {
            changed.push(target);
        }
    }

    /// Whether a host's scan has begun with this interval.
    fn judge(
        &mut self,
        now: Now,
        host: Host,
        is_flooded: bool,
        options: &ScanOptions,
        losses: &mut Losses,
    ) -> bool {
        let Some(victim) = self.map.get_mut(&host) else {
            return false;
        };
        let asked = &mut victim.asked;
        let is_new = asked.scan.is_none();
        let is_full = asked.targets.exact_len() > EXACT_MAX;
        let mut is_scan = false;
        if is_new && (asked.is_due_to_be_judged() || is_full) {
            let since = now.index.saturating_sub(intervals(options.window_ns));
            asked.targets.forget_before(since);
            is_scan = !is_flooded && verdict::is_distributed(&asked.targets, &victim.used, options);
        }
        if is_scan {
            asked.cut(&[]);
        }
        if asked.targets.exact_len() > EXACT_MAX {
            if is_scan || !is_new {
                asked.remember();
                asked.targets.condense();
            } else {
                losses.count(Loss::ScanTargetsForgotten, asked.targets.exact_len() as u64);
                asked.targets = Targets::default();
            }
        }
        victim.count(&mut self.pairs);
        is_scan
    }

    fn begin(
        &mut self,
        now: Now,
        host: Host,
        options: &ScanOptions,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        if self.scans.len() >= SCANS_MAX {
            losses.count(Loss::ScansUntracked, 1);
            return;
        }
        if let Some(victim) = self.map.get_mut(&host) {
            victim
                .asked
                .begin(Scan::new(now.index, None), Vec::new(), losses);
            self.scans.insert(host);
            victim.write(host, EpisodeState::Begun, now, options, sink);
        }
    }

    fn go_on(&mut self, now: Now, options: &ScanOptions, sink: &mut impl RecordSink) {
        let window = intervals(options.window_ns);
        let hosts: Vec<_> = self.scans.iter().copied().collect();
        for host in hosts {
            let Some(victim) = self.map.get_mut(&host) else {
                continue;
            };
            let quiet = victim.asked.pause().min(window).max(window / 4).max(2);
            if now.is_last || now.index >= victim.asked.last_interval + quiet {
                victim.write(host, EpisodeState::Over, now, options, sink);
                self.pairs -= victim.exact;
                self.map.remove(&host);
                self.scans.remove(&host);
            } else if victim.asked.is_due(now.index, window) {
                victim.write(host, EpisodeState::Ongoing, now, options, sink);
            }
        }
    }

    /// Forgets those that were asked least, longest ago, down to three quarters of the cap.
    fn keep_within_caps(&mut self, caps: &ScanCaps, losses: &mut Losses) {
        if self.map.len() <= caps.victims && self.pairs <= caps.pairs {
            return;
        }
        let quiet = self.map.iter();
        let quiet = quiet.filter(|(_, victim)| victim.asked.scan.is_none());
        let mut ranks: Vec<_> = quiet.map(|(host, victim)| victim.rank(*host)).collect();
        ranks.sort_unstable();
        let (mut held, mut pairs) = (self.map.len(), self.pairs);
        for (exact, _, host) in ranks {
            if held <= caps.victims / 4 * 3 && pairs <= caps.pairs / 4 * 3 {
                break;
            }
            self.map.remove(&host);
            held -= 1;
            pairs -= exact;
            losses.count(Loss::ScanVictimsForgotten, 1);
        }
        self.pairs = pairs;
    }
}

impl Victim {
    /// Notes how many pairs are kept, and adds the difference to the sum over all.
    fn count(&mut self, sum: &mut usize) {
        let exact = self.asked.targets.exact_len();
        *sum = *sum + exact - self.exact;
        self.exact = exact;
    }

    const fn rank(&self, host: Host) -> (usize, u64, Host) {
        (self.exact, self.asked.last_interval, host)
    }

    fn write(
        &mut self,
        host: Host,
        state: EpisodeState,
        now: Now,
        options: &ScanOptions,
        sink: &mut impl RecordSink,
    ) {
        let victim = Asker {
            probe: Probe::Syn,
            host,
        };
        self.asked.write_turned(&victim, state, now, options, sink);
    }
}

fn half(index: u64, options: &ScanOptions) -> u64 {
    index / intervals(options.window_ns / 2)
}
