//! Scans, from the moment that they are recognised: told, joined with those of other sources, over.

use super::{Asker, Sources};
use crate::merger::amid::UsedOne;
use crate::merger::scan::Scan;
use crate::merger::{Now, intervals};
use crate::options::ScanOptions;
use flowpin_counters::{Loss, Losses};
use flowpin_record::{EpisodeState, RecordSink};

/// Scans at once.
pub(super) const SCANS_MAX: usize = 512;

impl Sources {
    /// Begins scans, in the order of their first packets, so that the first of several sources
    /// that ask the same is the one that leads.
    pub(super) fn begin(
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
            let (used, forgotten) = self.used_by(&asker);
            let Some(asked) = self.asked(&asker) else {
                continue;
            };
            asked.begin(Scan::new(now.index, leader), used, losses);
            if forgotten > 0 {
                losses.count(Loss::ScanUsedForgotten, forgotten);
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

    /// What a source used last, and how much more of it is forgotten, if some of that since its
    /// scan began.
    fn used_by(&self, asker: &Asker) -> (Vec<UsedOne>, u64) {
        let Some(source) = self.map.get(asker) else {
            return (Vec::new(), 0);
        };
        let count = source.used_long.count();
        let used = self.last_used.of(asker, count);
        let since = source.asked.as_ref().map_or(0, |asked| asked.first.0);
        let forgotten = if count > 0 && self.last_used.is_short(since) {
            count.saturating_sub(used.len() as u64)
        } else {
            0
        };
        (used, forgotten)
    }

    fn join(&mut self, leader: &Asker, asker: &Asker) {
        if let Some(scan) = self.asked(leader).and_then(|asked| asked.scan.as_mut()) {
            scan.join(asker.host);
        }
    }

    /// Writes what scans came to, and ends those that are quiet.
    pub(super) fn go_on(&mut self, now: Now, options: &ScanOptions, sink: &mut impl RecordSink) {
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
}
