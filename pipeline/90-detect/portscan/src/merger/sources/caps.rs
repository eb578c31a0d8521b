//! Who is forgotten where there are too many: the quiet, then those that asked least.

use super::{Asker, Source, Sources};
use crate::merger::firsts::First;
use crate::merger::scan::Asked;
use crate::merger::{Now, intervals};
use crate::options::ScanOptions;
use flowpin_counters::{Loss, Losses};

impl Sources {
    /// Forgets sources that have not asked for a window; if that is not enough, those that asked
    /// least, longest ago.
    pub(super) fn keep_within_caps(
        &mut self,
        now: Now,
        options: &ScanOptions,
        losses: &mut Losses,
    ) {
        let caps = &options.caps;
        let is_within =
            |sources: &Self| sources.len() <= caps.sources && sources.targets() <= caps.targets;
        if is_within(self) {
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
            if is_within(self) {
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
        let excess = self.len().saturating_sub(caps.sources / 4 * 3);
        let excess = if self.targets() > caps.targets {
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

    pub(super) fn forget(&mut self, asker: &Asker) {
        if let Some(source) = self.map.remove(asker) {
            self.targets -= source.exact as usize;
            let most = self.spare_max;
            keep_spare(&mut self.spare, most, source.asked, source.is_large);
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Asker, &Source) -> bool) {
        let (mut freed, spare, most) = (0, &mut self.spare, self.spare_max);
        self.map.retain(|asker, source| {
            let keep = keep(asker, source);
            if !keep {
                freed += source.exact as usize;
                keep_spare(spare, most, source.asked.take(), source.is_large);
            }
            keep
        });
        self.targets -= freed;
    }
}

/// Keeps what a source leaves, as far as sources may come (`most`). What many targets took is freed
/// now.
#[expect(clippy::vec_box, reason = "the boxes are what is kept")]
pub(super) fn keep_spare(
    spare: &mut Vec<Box<Asked>>,
    most: usize,
    asked: Option<Box<Asked>>,
    is_large: bool,
) {
    if let Some(mut asked) = asked
        && spare.len() < most
    {
        if is_large {
            asked.clear();
        }
        spare.push(asked);
    }
}

// PERF: cleared when it is used again, and so touched once, not twice.
#[expect(clippy::vec_box, reason = "the boxes are what is kept")]
pub(super) fn take_spare(spare: &mut Vec<Box<Asked>>) -> Box<Asked> {
    let mut asked = spare.pop().unwrap_or_default();
    asked.clear();
    asked
}

impl Source {
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
