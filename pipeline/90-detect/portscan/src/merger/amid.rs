//! Used connections that belong to a scan: what accepts and talks is one of its targets, too, as
//! where banners are read.
//!
//! ```text
//!  used ─► source does not scan: the last of all sources ─it begins to─┐
//!       └► source scans ───────────────────────────────────────────────┴─► on its lines, between
//!                                                                          its probes: a target
//! ```

use super::Host;
use super::sources::Asker;
use super::targets::{Line, Target, Targets};
use super::verdict;
use crate::hash::{Map, Set};
use crate::summary::Attempt;
use flowpin_record::ScanKind;
use std::collections::VecDeque;

/// A connection that was used, and its interval.
pub(super) type UsedOne = (Attempt, u64);

/// Used connections of all that do not scan: the last ones.
#[derive(Debug, Default)]
pub(super) struct LastUsed {
    ring: VecDeque<UsedOne>,
    /// The number of the last packet that began one that is forgotten.
    forgotten: Option<u64>,
}

/// So many: 2 MB.
const LAST_MAX: usize = 1 << 15;

/// Of one scan, those that wait for its next probe.
pub(super) const WAITING_MAX: usize = 1024;

impl LastUsed {
    pub(super) fn add(&mut self, attempt: &Attempt, interval: u64) {
        if self.ring.len() >= LAST_MAX {
            self.forgotten = self.ring.pop_front().map(|(attempt, _)| attempt.number);
        }
        self.ring.push_back((*attempt, interval));
    }

    /// Those of one source that used so many, in order.
    pub(super) fn of(&self, asker: &Asker, count: u64) -> Vec<UsedOne> {
        // PERF: most scanners use none.
        if count == 0 {
            return Vec::new();
        }
        let all = self.ring.iter();
        all.filter(|(attempt, _)| Asker::of(attempt) == *asker)
            .copied()
            .collect()
    }

    /// Whether some from a packet on are forgotten.
    pub(super) fn is_short(&self, since: u64) -> bool {
        self.forgotten.is_some_and(|forgotten| forgotten >= since)
    }
}

/// The hosts and the ports along which a scan goes.
#[derive(Debug)]
pub(super) struct Lines {
    hosts: Set<Host>,
    ports: Set<u16>,
    /// Whether every port of these hosts is on it, and whether these ports of every host are.
    is_deep: bool,
    is_wide: bool,
}

/// Targets of a host or port that make it one of a scan's.
const LINE_MIN: u64 = 3;

/// Of a block, so many times as many hosts as ports go along the ports; likewise turned round.
const LONG: u64 = 4;

impl Lines {
    /// The lines on which what failed lies; none if it lies on none.
    pub(super) fn of(targets: &Targets) -> Option<Self> {
        let lines = targets.by_line();
        let (wide, deep) = (failed(&lines.hosts, 1), failed(&lines.ports, 1));
        let (wide, deep) = (wide.count() as u64, deep.count() as u64);
        let (is_deep, is_wide) = match verdict::kind(&lines.counts) {
            ScanKind::Vertical => (true, false),
            ScanKind::Horizontal => (false, true),
            ScanKind::Block => (deep >= LONG * wide, wide >= LONG * deep),
            ScanKind::Sparse | ScanKind::Distributed => return None,
        };
        let [least_of_host, least_of_port] = if is_deep {
            [LINE_MIN, 1]
        } else {
            [1, LINE_MIN]
        };
        Some(Self {
            hosts: failed(&lines.hosts, least_of_host).collect(),
            ports: failed(&lines.ports, least_of_port).collect(),
            is_deep,
            is_wide,
        })
    }

    /// Whether a target is on them.
    pub(super) fn have(&self, target: &Target) -> bool {
        (self.is_wide || self.hosts.contains(&target.host))
            && (self.is_deep || self.ports.contains(&target.port))
    }
}

/// The hosts or ports of which that many targets failed.
fn failed<K: Copy>(lines: &Map<K, Line>, least: u64) -> impl Iterator<Item = K> {
    let failed = lines.iter().filter(move |(_, line)| line.failed >= least);
    failed.map(|(line, _)| *line)
}
