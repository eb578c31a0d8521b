//! How many hosts, ports and pairs of both a source has asked.

use super::super::Host;
use super::{Outcome, Seen, Targets};
use crate::hash::Map;

/// Different hosts, ports, and pairs of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::merger) struct Counts {
    pub(in crate::merger) hosts: u64,
    pub(in crate::merger) ports: u64,
    pub(in crate::merger) targets: u64,
    pub(in crate::merger) open: u64,
    pub(in crate::merger) closed: u64,
    pub(in crate::merger) filtered: u64,
    /// Of the targets, the hosts and the ports: those that were asked once.
    pub(in crate::merger) once: [u64; 3],
    /// Targets of the host that has most.
    pub(in crate::merger) host_most: u64,
    /// Targets of the port that has most.
    pub(in crate::merger) port_most: u64,
    /// Hosts that were asked for several ports, and their targets.
    pub(in crate::merger) deep: u64,
    pub(in crate::merger) deep_targets: u64,
}

/// The targets of a source by host and by port, and how many there are of each.
#[derive(Debug, Default)]
pub(in crate::merger) struct ByLine {
    pub(in crate::merger) hosts: Map<Host, Line>,
    pub(in crate::merger) ports: Map<u16, Line>,
    pub(in crate::merger) counts: Counts,
}

/// Sums of one host or port.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::merger) struct Line {
    targets: u64,
    attempts: u64,
    /// Targets that refused, or said nothing.
    pub(in crate::merger) failed: u64,
}

/// Room for this many lines is made at once.
const LINES_EXPECTED: usize = 128;

impl Targets {
    pub(in crate::merger) fn counts(&self) -> Counts {
        self.by_line().counts
    }

    // PERF: one entry of each table a target: the tables are nearly all that a scan costs here.
    pub(in crate::merger) fn by_line(&self) -> ByLine {
        let mut lines = ByLine::default();
        if let Self::Sketch(sketch) = self {
            lines.counts = sketch.counts();
            return lines;
        }
        let ByLine {
            hosts,
            ports,
            counts,
        } = &mut lines;
        // PERF: one of both has nearly as many; grown step by step it is hashed five times anew.
        hosts.reserve(self.exact_len().min(LINES_EXPECTED));
        ports.reserve(self.exact_len().min(LINES_EXPECTED));
        for (target, seen) in self.iter() {
            counts.targets += 1;
            counts.once[0] += u64::from(seen.attempts == 1);
            match seen.outcome {
                Outcome::Filtered => counts.filtered += 1,
                Outcome::Closed => counts.closed += 1,
                Outcome::HalfOpen | Outcome::Idle | Outcome::Used => counts.open += 1,
            }
            hosts.entry(target.host).or_default().add(seen);
            ports.entry(target.port).or_default().add(seen);
        }
        (counts.hosts, counts.ports) = (hosts.len() as u64, ports.len() as u64);
        for line in hosts.values() {
            counts.host_most = counts.host_most.max(line.targets);
            counts.once[1] += u64::from(line.attempts == 1);
            if line.targets > 1 {
                counts.deep += 1;
                counts.deep_targets += line.targets;
            }
        }
        for line in ports.values() {
            counts.port_most = counts.port_most.max(line.targets);
            counts.once[2] += u64::from(line.attempts == 1);
        }
        lines
    }
}

impl Line {
    fn add(&mut self, seen: &Seen) {
        self.targets += 1;
        self.attempts += u64::from(seen.attempts);
        self.failed += u64::from(seen.outcome < Outcome::Idle);
    }
}
