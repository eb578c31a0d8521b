//! The targets of a source that has asked too many to keep each.

use super::{Counts, Outcome, Target};
use crate::sketch::{Distinct, hash_target};

/// Some 40 KB.
#[derive(Debug)]
pub(in crate::merger) struct Sketch {
    hosts: Distinct<4096>,
    targets: Distinct<4096>,
    outcomes: [Distinct<4096>; 4],
    ports: Vec<u64>,
    /// The targets by host, twice, each time in 16 parts by other bits of the host's hash: the host
    /// that has most makes one part great in both.
    parts: [[Distinct<256>; PARTS]; 2],
}

const PARTS: usize = 16;

impl Sketch {
    pub(super) fn new() -> Self {
        Self {
            hosts: Distinct::new(),
            targets: Distinct::new(),
            outcomes: [(); 4].map(|()| Distinct::new()),
            ports: vec![0; 1 << 10],
            parts: [(); 2].map(|()| [(); PARTS].map(|()| Distinct::new())),
        }
    }

    pub(super) fn add(&mut self, target: &Target, outcome: Outcome) {
        let hash = hash_target(&target.host.address, target.port);
        let mut host = hash_target(&target.host.address, 0);
        self.hosts.add(host);
        for parts in &mut self.parts {
            // Not the bits that count hosts.
            host = host.rotate_left(4);
            if let Some(part) = parts.get_mut(host as usize & (PARTS - 1)) {
                part.add(hash);
            }
        }
        self.targets.add(hash);
        let outcome = outcome.min(Outcome::Idle);
        if let Some(sketch) = self.outcomes.get_mut(outcome as usize) {
            sketch.add(hash);
        }
        if let Some(word) = self.ports.get_mut(usize::from(target.port) / 64) {
            *word |= 1 << (target.port % 64);
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let [filtered, closed, half_open, idle] = &self.outcomes;
        let ports = self.ports.iter().map(|word| u64::from(word.count_ones()));
        let ports: u64 = ports.sum();
        let hosts = self.hosts.estimate().max(1);
        // As many as each line has one of, and no more than all lines have of all.
        let targets = self.targets.estimate();
        let targets = targets.max(hosts.max(ports)).min(hosts * ports);
        let outcomes = [half_open.estimate() + idle.estimate(), closed.estimate()];
        let [open, closed, filtered] = shares(targets, outcomes, filtered.estimate());
        let host_most = match hosts {
            1 => targets,
            _ => self.of_one_host().clamp(targets / hosts, targets),
        };
        // Where targets are hardly more than hosts, one port may have nearly all of them.
        let port_most = match ports {
            0 | 1 => targets,
            _ if targets <= hosts + hosts / 4 && hosts > ports => targets,
            _ => targets / ports,
        };
        let is_deep = targets >= 2 * hosts;
        Counts {
            hosts,
            ports,
            targets,
            open,
            closed,
            filtered,
            once: [targets, hosts, ports],
            host_most,
            port_most,
            deep: if is_deep { hosts } else { 0 },
            deep_targets: if is_deep { targets } else { 0 },
        }
    }

    /// About how many targets the host has that has most; a few too many where others share its
    /// parts.
    fn of_one_host(&self) -> u64 {
        let most = |parts: &[Distinct<256>; PARTS]| parts.iter().map(Distinct::estimate).max();
        self.parts.iter().filter_map(most).min().unwrap_or(0)
    }
}

/// Estimates of parts, made to be no more and no less than the whole.
fn shares(whole: u64, [first, second]: [u64; 2], third: u64) -> [u64; 3] {
    let all = (first + second + third).max(1);
    let mut parts = [first, second, third].map(|part| part * whole / all);
    let rest = whole - parts.iter().sum::<u64>();
    if let Some(most) = parts.iter_mut().max() {
        *most += rest;
    }
    parts
}
