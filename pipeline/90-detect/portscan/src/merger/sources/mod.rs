//! Everybody who asks, and what is known of each.
//!
//! ```text
//!  attempt ─► first of its source: a line ─► second: a place ─► worth it: judged ─► scans
//!                                               caps: who is forgotten        episodes: told
//! ```

mod caps;
mod episodes;
mod period;

pub(in crate::merger) use period::Period;

use caps::take_spare;
use episodes::SCANS_MAX;

use crate::caps::ScanCaps;
use crate::event::Probe;
use crate::hash::Map;
use crate::merger::amid::LastUsed;
use crate::merger::firsts::{First, Firsts};
use crate::merger::scan::Asked;
use crate::merger::targets::{EXACT_MAX, Meaning, SPARE_TARGETS_MAX, Targets};
use crate::merger::used::Recent;
use crate::merger::verdict::Against;
use crate::merger::{Host, Now, intervals, verdict};
use crate::options::ScanOptions;
use crate::summary::{Attempt, Interval};
use flowpin_counters::{Loss, Losses};
use flowpin_record::RecordSink;
use std::collections::BTreeSet;

/// A source that asks in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::merger) struct Asker {
    pub(in crate::merger) probe: Probe,
    pub(in crate::merger) host: Host,
}

impl Asker {
    /// Who made an attempt.
    pub(in crate::merger) const fn of(attempt: &Attempt) -> Self {
        Self {
            probe: attempt.probe,
            host: Host {
                ipv6: attempt.ipv6,
                address: attempt.source,
            },
        }
    }
}

impl std::hash::Hash for Asker {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        // Few ask in more than one way: the probe is compared.
        self.host.hash(hasher);
    }
}

/// All sources. Sums over them are free of order; where order matters, keys are sorted.
#[derive(Debug, Default)]
pub(in crate::merger) struct Sources {
    map: Map<Asker, Source>,
    /// Those that have asked one thing, and are not in the map.
    firsts: Firsts,
    /// Those that scan, by key.
    scans: BTreeSet<Asker>,
    /// Targets that are kept one by one, over all.
    targets: usize,
    period: Period,
    /// What forgotten sources leave.
    // PERF: a flood brings new sources by the million: without this a third of their cost was
    // the allocator's.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    spare: Vec<Box<Asked>>,
    /// So many at most: no more come in an interval.
    spare_max: usize,
    /// How many attempts of a source were probably not logged of which one was in this interval
    /// and none before: by whether that one was late, and its shard over its cap.
    missed: [[u32; 2]; 2],
    /// What was used last, of all who do not scan.
    last_used: LastUsed,
}

#[derive(Debug, Default)]
pub(in crate::merger) struct Source {
    /// Connections that were used, in the window and in the long one.
    used: Recent,
    used_long: Recent,
    last: u64,
    pub(in crate::merger) asked: Option<Box<Asked>>,
    /// Targets that are kept one by one, and whether it scans.
    // PERF: as `asked` has it, but here, so that who is forgotten is chosen without a look there.
    exact: u32,
    is_scanning: bool,
    /// Its targets were many once.
    is_large: bool,
}

/// How many attempts ahead a source's place is asked for.
const AHEAD: usize = 8;

/// Over the long window a success undoes so many failures: an ordinary host's few failures add up.
const SLOW_EACH: u64 = 8;

impl Sources {
    pub(in crate::merger) fn new(caps: &ScanCaps) -> Self {
        Self {
            spare_max: caps.spare(),
            ..Self::default()
        }
    }

    pub(in crate::merger) fn len(&self) -> usize {
        self.map.len() + self.firsts.len()
    }

    pub(in crate::merger) const fn targets(&self) -> usize {
        self.targets + self.firsts.len()
    }

    pub(in crate::merger) fn has_scans(&self) -> bool {
        !self.scans.is_empty()
    }

    /// Whether somebody scans, as far as it is known.
    pub(in crate::merger) fn scans(&self, asker: &Asker) -> bool {
        !self.scans.is_empty() && self.scans.contains(asker)
    }

    /// Takes the attempts of an interval and decides.
    pub(in crate::merger) fn interval(
        &mut self,
        now: Now,
        all: &Interval,
        options: &ScanOptions,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        self.period.add(now.index, all);
        self.missed = [0, 1].map(|late| {
            [0, 1].map(|hit| {
                let missed = self.period.missed(1, late, hit);
                u32::try_from(missed).unwrap_or(u32::MAX)
            })
        });
        let mut changed = Vec::new();
        let mut ahead = all.attempts.iter().skip(AHEAD);
        for attempt in &all.attempts {
            // PERF: in a flood nearly all are looked for in one large table.
            if let Some(coming) = ahead.next() {
                self.firsts.prefetch(&Asker::of(coming));
            }
            self.attempt(now, attempt, options, (&mut changed, losses));
            if self.len() > options.caps.sources_amid() {
                self.keep_within_caps(now, options, losses);
            }
        }
        let mut begun = Vec::new();
        for asker in &changed {
            let is_scan = self.judge(now, asker, options, losses);
            if is_scan {
                begun.push(*asker);
            }
        }
        self.begin(now, begun, options, losses, sink);
        self.go_on(now, options, sink);
        self.keep_within_caps(now, options, losses);
    }

    /// Ends all scans: the input has ended.
    pub(in crate::merger) fn end(
        &mut self,
        now: Now,
        options: &ScanOptions,
        sink: &mut impl RecordSink,
    ) {
        self.go_on(now, options, sink);
    }

    fn attempt(
        &mut self,
        now: Now,
        attempt: &Attempt,
        options: &ScanOptions,
        (changed, losses): (&mut Vec<Asker>, &mut Losses),
    ) {
        let meaning = Meaning::of(attempt);
        let is_used = matches!(meaning, Meaning::Used);
        let meaning = meaning.counted(attempt.probe, options);
        if matches!(meaning, Meaning::Nothing) {
            return;
        }
        let host = |address| Host {
            ipv6: attempt.ipv6,
            address,
        };
        let asker = Asker::of(attempt);
        let is_allowed = asker.host.is_in(&options.allow_sources)
            || host(attempt.target).is_in(&options.allow_targets);
        if is_allowed {
            return;
        }
        if !self.map.contains_key(&asker) {
            let targets_min = verdict::targets_min(options);
            let first = match meaning {
                Meaning::Question(outcome) if targets_min > 1 => {
                    let is_full = self.period.shards().has(attempt.shard);
                    let [all, late] = self.missed;
                    let [apart, hit] = if attempt.late { late } else { all };
                    let missed = if is_full { hit } else { apart };
                    let first = First::new(*attempt, now.index, outcome, missed);
                    match self.firsts.add_or_take(first) {
                        Some(first) => Some(first),
                        None => return,
                    }
                }
                _ => self.firsts.take(&asker),
            };
            self.enter(asker, first, options);
        }
        let Some(source) = self.map.get_mut(&asker) else {
            return;
        };
        source.age(now.index, options);
        source.last = now.index;
        if is_used {
            source.used.add(attempt.port);
            source.used_long.add(attempt.port);
        }
        let Meaning::Question(outcome) = meaning else {
            match source.asked.as_mut().filter(|_| source.is_scanning) {
                Some(asked) => asked.note_used(attempt, now.index, losses),
                None => self.last_used.add(attempt, now.index),
            }
            return;
        };
        let spare = &mut self.spare;
        let asked = source.asked.get_or_insert_with(|| take_spare(spare));
        asked.add(attempt, outcome, now.index);
        // PERF: here, where its lines are at hand; a source that asked too little to be judged is
        // not looked up again.
        asked.guess_missed(&self.period);
        if asked.is_worth(verdict::targets_min(options)) && asked.note_judged(now.index) {
            changed.push(asker);
        }
        source.count_exact(&mut self.targets);
    }

    /// A source that is worth more than a line, with what it had asked before.
    fn enter(&mut self, asker: Asker, first: Option<First>, options: &ScanOptions) {
        let mut source = Source::default();
        if let Some(first) = first {
            source.age(first.interval, options);
            source.last = first.interval;
            let mut asked = take_spare(&mut self.spare);
            asked.add_first(&first);
            source.asked = Some(asked);
            source.count_exact(&mut self.targets);
        }
        self.map.insert(asker, source);
    }

    /// Whether a source that asked something in this interval has begun to scan with it.
    fn judge(
        &mut self,
        now: Now,
        asker: &Asker,
        options: &ScanOptions,
        losses: &mut Losses,
    ) -> bool {
        let Some(source) = self.map.get_mut(asker) else {
            return false;
        };
        let Some(asked) = &mut source.asked else {
            return false;
        };
        if !asked.is_due_to_be_judged() && asked.targets.exact_len() <= EXACT_MAX {
            return false;
        }
        let is_scan = asked.scan.is_none() && {
            let span = |nanos| now.index.saturating_sub(intervals(nanos));
            let since = span(options.window_ns);
            asked.targets.forget_before(span(options.long_window_ns));
            let weigh = |targets: &Targets, since, used, each| {
                let is_long = each > 1;
                let against = Against {
                    used,
                    each,
                    is_long,
                };
                verdict::is_scan(asker.probe, targets.since(since), against, options)
            };
            let is_scan = weigh(&asked.targets, since, &source.used, 1);
            if is_scan || asked.targets.exact_len() > EXACT_MAX {
                asked.targets.forget_before(since);
            }
            is_scan
                || weigh(&asked.targets, 0, &source.used_long, SLOW_EACH)
                || verdict::is_enough(asker.probe, &asked.targets, options)
        };
        if is_scan {
            // Where it is not followed it is cut again and again.
            let is_followed = self.scans.len() < SCANS_MAX;
            let used = if is_followed {
                source.used_long.count()
            } else {
                0
            };
            asked.cut(&self.last_used.of(asker, used));
        }
        asked.take_used(false);
        if asked.targets.exact_len() > EXACT_MAX {
            if is_scan || asked.scan.is_some() {
                asked.remember();
                asked.targets.condense();
            } else {
                // So many targets, and no line through them: it begins anew.
                losses.count(Loss::ScanTargetsForgotten, asked.targets.exact_len() as u64);
                asked.targets = Targets::default();
            }
        }
        source.count_exact(&mut self.targets);
        is_scan
    }

    fn asked(&mut self, asker: &Asker) -> Option<&mut Asked> {
        self.map.get_mut(asker)?.asked.as_deref_mut()
    }
}

impl Source {
    /// Used connections count for between a window and one and a half.
    fn age(&mut self, index: u64, options: &ScanOptions) {
        let half = |nanos: u64| index / intervals(nanos / 2);
        self.used.age(half(options.window_ns));
        self.used_long.age(half(options.long_window_ns));
    }

    /// Notes how many targets are kept one by one, and adds the difference to the sum over all.
    fn count_exact(&mut self, sum: &mut usize) {
        let asked = self.asked.as_ref();
        let exact = asked.map_or(0, |asked| asked.targets.exact_len());
        *sum = *sum + exact - self.exact as usize;
        self.exact = u32::try_from(exact).unwrap_or(u32::MAX);
        self.is_large |= exact > SPARE_TARGETS_MAX;
    }
}
