//! The rules: when many attempts are a scan, and of which kind.
//!
//! What a scanner cannot avoid is to fail: it does not know who is there (Jung, Paxson, Berger and
//! Balakrishnan, 2004: hosts that behave reach four of five that they ask, scanners one of five).
//! So refused and unanswered attempts are weighed against used connections, and mere numbers
//! count for nothing. A scan also has a line: one host or one port that has a good share of the
//! failures. A peer-to-peer client fails as often as a scanner, but everywhere at another port.

use super::targets::{Counts, Outcome, Target, Targets};
use crate::event::Probe;
use crate::hash::Map;
use crate::options::ScanOptions;
use flowpin_record::ScanKind;
use std::hash::Hash;

/// Weight of a failure: it can be halved and quartered.
const FAILURE: u64 = 4;

/// How much one target says for a scan.
fn weight(probe: Probe, outcome: Outcome) -> u64 {
    match outcome {
        // Silence is common over UDP: syslog, games, peers behind a firewall.
        Outcome::Filtered if probe == Probe::Udp => FAILURE / 2,
        Outcome::Filtered | Outcome::Closed => FAILURE,
        // Health checks of load balancers do this too, always to the same few.
        Outcome::HalfOpen => FAILURE / 4,
        Outcome::Idle if probe == Probe::IpProtocol => FAILURE,
        Outcome::Idle => 0,
    }
}

/// Targets below which no rule can hold: need not be looked at.
pub(super) fn targets_min(options: &ScanOptions) -> usize {
    let least = options.hosts_min.min(options.ports_min);
    least.min(options.protocols_min) as usize
}

/// Whether these targets, against so many used connections, are a scan.
pub(super) fn is_scan(probe: Probe, targets: &Targets, used: u64, options: &ScanOptions) -> bool {
    let mut hosts = Map::default();
    let mut ports = Map::default();
    let (mut sum, mut failed) = (0, 0_u64);
    for (Target { host, port }, seen) in targets.iter() {
        let weight = weight(probe, seen.outcome);
        if weight == 0 {
            continue;
        }
        sum += weight;
        failed += 1;
        add(&mut hosts, *host, weight);
        add(&mut ports, *port, weight);
    }
    // The random walk of Jung et al.: with 4:1 for and against, a success undoes a failure, and
    // four failures more than successes are enough to be sure to 99 %.
    if sum < FAILURE * (used + 4) {
        return false;
    }
    // A bare ACK or FIN-ACK is also what is left of a connection whose beginning nobody saw.
    let doubt = if matches!(probe, Probe::Ack | Probe::Maimon) {
        2
    } else {
        1
    };
    let share = if probe == Probe::Udp { 3 } else { 5 };
    let is_line =
        |most: u64, least: u32| most >= FAILURE * doubt * u64::from(least) && most * share >= sum;
    let ports_min = match probe {
        Probe::IpProtocol => options.protocols_min,
        _ => options.ports_min,
    };
    let is_block = sum >= FAILURE * doubt * u64::from(options.hosts_min + options.ports_min)
        && failed >= 4 * hosts.len() as u64
        && failed >= 4 * ports.len() as u64;
    if probe == Probe::IpProtocol {
        // One protocol on many hosts is what a router speaks with its neighbours.
        return is_line(most(&hosts), ports_min);
    }
    is_line(most(&hosts), ports_min) || is_line(most(&ports), options.hosts_min) || is_block
}

/// Over what a scan spreads: one line has four of five targets, or a few lines have all.
pub(super) fn kind(counts: &Counts) -> ScanKind {
    let Counts { hosts, ports, .. } = *counts;
    let is_one = |most: u64| most * 5 >= counts.targets * 4;
    let vertical = is_one(counts.host_most) || hosts <= FEW && ports >= 4 * hosts;
    let horizontal = is_one(counts.port_most) || ports <= FEW && hosts >= 4 * ports;
    if vertical && ports >= hosts {
        ScanKind::Vertical
    } else if horizontal {
        ScanKind::Horizontal
    } else {
        ScanKind::Block
    }
}

/// A scan of more hosts than these by more ports is a block.
const FEW: u64 = 4;

fn add<K: Hash + Eq>(lines: &mut Map<K, u64>, line: K, weight: u64) {
    *lines.entry(line).or_insert(0) += weight;
}

fn most<K>(lines: &Map<K, u64>) -> u64 {
    lines.values().copied().max().unwrap_or(0)
}
