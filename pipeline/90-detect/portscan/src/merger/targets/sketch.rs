//! The targets of a source that has asked too many to keep each.

use super::{Counts, Outcome, Target};
use crate::sketch::{Distinct, hash_target};

/// Some 30 KB.
#[derive(Debug)]
pub(in crate::merger) struct Sketch {
    hosts: Distinct<4096>,
    targets: Distinct<4096>,
    outcomes: [Distinct<4096>; 4],
    ports: Vec<u64>,
}

impl Sketch {
    pub(super) fn new() -> Self {
        Self {
            hosts: Distinct::new(),
            targets: Distinct::new(),
            outcomes: [(); 4].map(|()| Distinct::new()),
            ports: vec![0; 1 << 10],
        }
    }

    pub(super) fn add(&mut self, target: &Target, outcome: Outcome) {
        let hash = hash_target(&target.host.address, target.port);
        self.hosts.add(hash_target(&target.host.address, 0));
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
        // Where targets are hardly more than ports, one host has nearly all of them.
        let most = |lines: u64, others: u64| {
            if others == 1 || targets <= lines + lines / 4 && lines > others {
                targets
            } else {
                targets / others.max(1)
            }
        };
        Counts {
            hosts,
            ports,
            targets,
            open,
            closed,
            filtered,
            once: [targets, hosts, ports],
            host_most: most(ports, hosts),
            port_most: most(hosts, ports),
        }
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
