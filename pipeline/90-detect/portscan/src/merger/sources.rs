//! Everybody who asks, and what is known of each.

use super::amid::{LastUsed, UsedOne};
use super::firsts::{First, Firsts};
use super::scan::{Asked, Scan};
use super::targets::{EXACT_MAX, Meaning, SPARE_TARGETS_MAX, Targets};
use super::used::Recent;
use super::verdict::Against;
use super::{Host, Now, intervals, verdict};
use crate::event::Probe;
use crate::filter::Shards;
use crate::hash::Map;
use crate::observer::PERIOD;
use crate::options::ScanOptions;
use crate::sketch::unseen;
use crate::summary::{Attempt, Interval};
use flowpin_counters::{Loss, Losses};
use flowpin_record::{EpisodeState, RecordSink};
use std::collections::BTreeSet;

/// A source that asks in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asker {
    pub(super) probe: Probe,
    pub(super) host: Host,
}

impl Asker {
    /// Who made an attempt.
    pub(super) const fn of(attempt: &Attempt) -> Self {
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
pub(super) struct Sources {
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
    /// How many attempts of a source were probably not logged of which one was in this interval
    /// and none before: by whether that one was late, and its shard over its cap.
    missed: [[u32; 2]; 2],
    /// What was used last, of all who do not scan.
    last_used: LastUsed,
}

/// What was logged and what was not, in a period of the workers' filters.
#[derive(Debug, Default)]
pub(super) struct Period {
    index: u64,
    shards: Shards,
    logged: u64,
    unlogged: u64,
}

impl Period {
    fn add(&mut self, interval: u64, all: &Interval) {
        if self.index != interval / PERIOD {
            *self = Self::default();
            self.index = interval / PERIOD;
        }
        self.logged += all.attempts.len() as u64;
        if let Some(sums) = &all.unlogged {
            self.shards.join(sums.shards);
            self.unlogged += sums.attempts;
        }
    }

    /// How many attempts of a source were probably not logged of which `logged` were, in shards
    /// of which so many were over their cap. `firsts_lost` are known to be among them.
    pub(super) fn missed(&self, logged: u64, firsts_lost: u64, full_hit: u32) -> u64 {
        let full = self.shards.count();
        if full == 0 {
            return firsts_lost;
        }
        let empty = full.saturating_sub(full_hit);
        firsts_lost + unseen(logged + firsts_lost, full, empty, self.lost())
    }

    /// Shards that were over their cap.
    pub(super) const fn shards(&self) -> Shards {
        self.shards
    }

    /// The share of first attempts that was not logged.
    fn lost(&self) -> f64 {
        self.unlogged as f64 / (self.logged + self.unlogged).max(1) as f64
    }
}

#[derive(Debug, Default)]
pub(super) struct Source {
    /// Connections that were used, in the window and in the long one.
    used: Recent,
    used_long: Recent,
    last: u64,
    pub(super) asked: Option<Box<Asked>>,
    /// Targets that are kept one by one, and whether it scans.
    // PERF: as `asked` has it, but here, so that who is forgotten is chosen without a look there.
    exact: u32,
    is_scanning: bool,
    /// Its targets were many once.
    is_large: bool,
}

/// Sources beyond which those that asked least are forgotten.
const SOURCES_MAX: usize = 1 << 16;

/// Targets kept one by one, over all sources, likewise.
const TARGETS_MAX: usize = 1 << 20;

/// What forgotten sources leave is kept for so many: an interval has no more new ones.
const SPARE_MAX: usize = 1 << 17;

/// How many attempts ahead a source's place is asked for.
const AHEAD: usize = 8;

/// Over the long window a success undoes so many failures: an ordinary host's few failures add up.
const SLOW_EACH: u64 = 8;

/// Scans at once.
const SCANS_MAX: usize = 512;

impl Sources {
    pub(super) fn len(&self) -> usize {
        self.map.len() + self.firsts.len()
    }

    pub(super) const fn targets(&self) -> usize {
        self.targets + self.firsts.len()
    }

    pub(super) fn has_scans(&self) -> bool {
        !self.scans.is_empty()
    }

    /// Whether somebody scans, as far as it is known.
    pub(super) fn scans(&self, asker: &Asker) -> bool {
        !self.scans.is_empty() && self.scans.contains(asker)
    }

    /// Takes the attempts of an interval and decides.
    pub(super) fn interval(
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
            self.attempt(now, attempt, options, &mut changed);
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
    pub(super) fn end(&mut self, now: Now, options: &ScanOptions, sink: &mut impl RecordSink) {
        self.go_on(now, options, sink);
    }

    fn attempt(
        &mut self,
        now: Now,
        attempt: &Attempt,
        options: &ScanOptions,
        changed: &mut Vec<Asker>,
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
                Some(asked) => asked.note_used(attempt, now.index),
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

    /// Begins scans, in the order of their first packets, so that the first of several sources
    /// that ask the same is the one that leads.
    fn begin(
        &mut self,
        now: Now,
        mut begun: Vec<Asker>,
        options: &ScanOptions,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        begun.sort_unstable_by_key(|asker| {
            let asked = self.map.get(asker).and_then(|source| source.asked.as_ref());
            (asked.map(|asked| asked.first), *asker)
        });
        let mut leaders = Vec::new();
        for asker in begun {
            if self.scans.len() >= SCANS_MAX {
                losses.count(Loss::ScansUntracked, 1);
                continue;
            }
            let leader = self.leader_of(&asker);
            if let Some(leader) = leader {
                self.join(&leader, &asker);
            } else {
                leaders.push(asker);
            }
            let (used, is_short) = self.used_by(&asker);
            let Some(asked) = self.asked(&asker) else {
                continue;
            };
            asked.begin(Scan::new(now.index, leader), used);
            if is_short {
                asked.note_short();
            }
            if let Some(source) = self.map.get_mut(&asker) {
                source.is_scanning = true;
            }
            self.scans.insert(asker);
        }
        for asker in leaders {
            if let Some(asked) = self.asked(&asker) {
                asked.write(&asker, EpisodeState::Begun, now, options, sink);
            }
        }
    }

    /// Who already asks the same.
    fn leader_of(&self, asker: &Asker) -> Option<Asker> {
        let asked = self.map.get(asker)?.asked.as_ref()?;
        let signature = asked.signature();
        self.scans.iter().copied().find(|other| {
            let theirs = self.map.get(other).and_then(|source| source.asked.as_ref());
            other.probe == asker.probe
                && other.host.ipv6 == asker.host.ipv6
                && theirs
                    .is_some_and(|theirs| theirs.is_leader() && theirs.is_like(asked, &signature))
        })
    }

    /// What a source used last, and whether more of it, since its scan began, is forgotten.
    fn used_by(&self, asker: &Asker) -> (Vec<UsedOne>, bool) {
        let Some(source) = self.map.get(asker) else {
            return (Vec::new(), false);
        };
        let used = self.last_used.of(asker, source.used_long.count());
        let since = source.asked.as_ref().map_or(0, |asked| asked.first.0);
        let is_short = source.has_used() && self.last_used.is_short(since);
        (used, is_short)
    }

    fn join(&mut self, leader: &Asker, asker: &Asker) {
        if let Some(scan) = self.asked(leader).and_then(|asked| asked.scan.as_mut()) {
            scan.join(asker.host);
        }
    }

    fn asked(&mut self, asker: &Asker) -> Option<&mut Asked> {
        self.map.get_mut(asker)?.asked.as_deref_mut()
    }

    /// Writes what scans came to, and ends those that are quiet.
    fn go_on(&mut self, now: Now, options: &ScanOptions, sink: &mut impl RecordSink) {
        let window = intervals(options.window_ns);
        let quiet = (window / 4).max(2);
        let long = intervals(options.long_window_ns);
        let askers: Vec<_> = self.scans.iter().copied().collect();
        for asker in askers {
            let Some(asked) = self.asked(&asker) else {
                continue;
            };
            let quiet = asked.pause().min(long).max(quiet);
            let over = now.is_last || now.index >= asked.last_interval + quiet;
            let leads = asked.is_leader();
            if over {
                asked.take_used(true);
                if leads {
                    asked.write(&asker, EpisodeState::Over, now, options, sink);
                }
                self.forget(&asker);
                self.scans.remove(&asker);
            } else if leads && asked.is_due(now.index, window) {
                asked.write(&asker, EpisodeState::Ongoing, now, options, sink);
            }
        }
    }

    /// Forgets sources that have not asked for a window; if that is not enough, those that asked
    /// least, longest ago.
    fn keep_within_caps(&mut self, now: Now, options: &ScanOptions, losses: &mut Losses) {
        if self.len() <= SOURCES_MAX && self.targets() <= TARGETS_MAX {
            return;
        }
        for (nanos, loss) in [
            (options.long_window_ns, None),
            (options.window_ns, Some(Loss::ScanSlowForgotten)),
        ] {
            let since = now.index.saturating_sub(intervals(nanos));
            let held = self.len();
            self.retain(|_, source| source.is_scanning || source.last >= since);
            self.firsts.retain(|first| first.interval >= since);
            if let Some(loss) = loss {
                losses.count(loss, (held - self.len()) as u64);
            }
            if self.len() <= SOURCES_MAX && self.targets() <= TARGETS_MAX {
                return;
            }
        }
        let mut ranks: Vec<_> = self
            .map
            .iter()
            .filter(|(_, source)| !source.is_scanning)
            .map(|(asker, source)| source.rank(asker))
            .chain(self.firsts.iter().map(rank_of_first))
            .collect();
        // Down to three quarters of the cap, so that this is not the work of every interval; and
        // half of the rest, where it is the targets that are too many.
        let excess = self.len().saturating_sub(SOURCES_MAX / 4 * 3);
        let excess = if self.targets() > TARGETS_MAX {
            excess.max(ranks.len() / 2)
        } else {
            excess
        };
        let excess = excess.min(ranks.len());
        if excess == 0 {
            return;
        }
        let (_, &mut last, _) = ranks.select_nth_unstable(excess - 1);
        losses.count(Loss::ScanSourcesForgotten, excess as u64);
        // PERF: once through the map, not to one place after the other.
        self.retain(|asker, source| source.is_scanning || source.rank(asker) > last);
        self.firsts.retain(|first| rank_of_first(first) > last);
    }

    fn forget(&mut self, asker: &Asker) {
        if let Some(source) = self.map.remove(asker) {
            self.targets -= source.exact as usize;
            keep_spare(&mut self.spare, source.asked, source.is_large);
        }
    }

    fn retain(&mut self, keep: impl Fn(&Asker, &Source) -> bool) {
        let (mut freed, spare) = (0, &mut self.spare);
        self.map.retain(|asker, source| {
            let keep = keep(asker, source);
            if !keep {
                freed += source.exact as usize;
                keep_spare(spare, source.asked.take(), source.is_large);
            }
            keep
        });
        self.targets -= freed;
    }
}

/// Keeps what a source leaves, as far as sources may come. What many targets took is freed now.
#[expect(clippy::vec_box, reason = "the boxes are what is kept")]
fn keep_spare(spare: &mut Vec<Box<Asked>>, asked: Option<Box<Asked>>, is_large: bool) {
    if let Some(mut asked) = asked
        && spare.len() < SPARE_MAX
    {
        if is_large {
            asked.clear();
        }
        spare.push(asked);
    }
}

// PERF: cleared when it is used again, and so touched once, not twice.
#[expect(clippy::vec_box, reason = "the boxes are what is kept")]
fn take_spare(spare: &mut Vec<Box<Asked>>) -> Box<Asked> {
    let mut asked = spare.pop().unwrap_or_default();
    asked.clear();
    asked
}

impl Source {
    /// Whether it used any connection in the long window.
    fn has_used(&self) -> bool {
        self.used_long.count() > 0
    }

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

    fn rank(&self, asker: &Asker) -> Rank {
        rank(self.exact, self.last, asker)
    }
}

/// What speaks for keeping a source: how much it asked, when last, then who it is; no two are
/// equal.
// PERF: as numbers: addresses that are compared byte by byte were a quarter of a flood's cost.
type Rank = (u128, u128);

fn rank(exact: u32, last: u64, asker: &Asker) -> Rank {
    let who = u128::from(asker.probe as u8) << 8 | u128::from(asker.host.ipv6);
    let what = u128::from(exact) << 80 | u128::from(last) << 16 | who;
    (what, u128::from_be_bytes(asker.host.address))
}

fn rank_of_first(first: &First) -> Rank {
    rank(1, first.interval, &first.asker())
}
