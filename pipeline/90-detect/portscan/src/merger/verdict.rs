//! The rules: when many attempts are a scan, and of which kind.
//!
//! What a scanner cannot avoid is to fail: it does not know who is there (Jung, Paxson, Berger and
//! Balakrishnan, 2004: hosts that behave reach four of five that they ask, scanners one of five).
//! So refused and unanswered attempts are weighed against used connections, and mere numbers
//! count for nothing.
//!
//! ```text
//!            failures on …                               against used connections …
//!  line      one host (`ports`) or one port (`hosts`)    to few ports; on that port
//!  lines     several hosts or ports, three or more each  to few ports
//!  few       the same (`failures`)                       hardly any
//!  sparse    everywhere else (`targets`)                 to hardly any port
//! ```
//!
//! A peer-to-peer client fails as often as a scanner, but everywhere at another port: so what lies
//! on no line needs more failures, and nearly no port that was used. Where a crawler's or a mail
//! server's hosts are gone, others answer on the same port: that is no line.

use super::targets::{Counts, Outcome, Seen, Target, Targets};
use super::used::Recent;
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
        Outcome::Idle | Outcome::Used => 0,
    }
}

/// Targets below which no rule can hold: need not be looked at.
pub(super) fn targets_min(options: &ScanOptions) -> usize {
    let least = options.hosts_min.min(options.ports_min);
    let least = least.min(options.protocols_min).min(options.failures_min);
    least.min(options.targets_min) as usize
}

/// What speaks against a scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Against<'a> {
    pub(super) used: &'a Recent,
    /// How many failures one used connection undoes.
    pub(super) each: u64,
    /// Whether it is about a long time, in which an ordinary host's failures on one port add up:
    /// used connections count whatever their port.
    pub(super) is_long: bool,
}

impl Against<'_> {
    /// Whether failures of so much weight outweigh so many used connections. The random walk of
    /// Jung et al.: with 4:1 for and against, a success undoes a failure, and four failures more
    /// than successes are enough to be sure to 99 %.
    fn is_outweighed(&self, weight: u64, used: u64) -> bool {
        weight >= FAILURE * (self.each * used + 4)
    }

    /// Used connections, of which those to one port say no more than a few of them.
    fn spread(&self) -> u64 {
        self.used.count().min(FEW * self.used.ports())
    }

    /// Those that speak against a line of hosts.
    fn on(&self, port: Option<u16>) -> u64 {
        match port {
            Some(port) if !self.is_long => self.used.at(port),
            _ => self.used.count(),
        }
    }
}

/// What the failures on one host, or on one port, come to.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    weight: u64,
    targets: u64,
}

/// The failures of one source, by host and by port.
struct Failures {
    all: Vec<(Target, u64, Outcome)>,
    hosts: Map<super::Host, Line>,
    ports: Map<u16, Line>,
    weight: u64,
}

impl Failures {
    fn of<'a>(probe: Probe, targets: impl Iterator<Item = (&'a Target, &'a Seen)>) -> Self {
        let mut failures = Self {
            all: Vec::new(),
            hosts: Map::default(),
            ports: Map::default(),
            weight: 0,
        };
        for (target, seen) in targets {
            let weight = weight(probe, seen.outcome);
            if weight > 0 {
                failures.all.push((*target, weight, seen.outcome));
                failures.weight += weight;
                add(&mut failures.hosts, target.host, weight);
                add(&mut failures.ports, target.port, weight);
            }
        }
        failures
    }

    /// Weight of what lies on a line, of what lies on none, and of what only the web's ports are a
    /// line of. On a port that others were reached by, failures say nothing.
    fn on_lines_and_off(&self, against: Against<'_>) -> [u64; 3] {
        let [mut on, mut off, mut web] = [0; 3];
        for (Target { host, port }, weight, outcome) in &self.all {
            let of_host = self.hosts.get(host).copied().unwrap_or_default();
            let of_port = self.ports.get(port).copied().unwrap_or_default();
            let used = against.used.at(*port) * against.each;
            if of_host.targets >= LINE_MIN || of_port.targets >= LINE_MIN && of_port.targets > used
            {
                on += weight;
                let is_web = WEB.contains(port) && *outcome == Outcome::Filtered;
                if is_web && of_host.targets < LINE_MIN {
                    web += weight;
                }
            } else if used == 0 {
                off += weight;
            }
        }
        [on, off, web]
    }
}

/// Where every browser asks a dozen hosts at once: silent, they are a link that is down.
const WEB: [u16; 2] = [80, 443];

/// Fewer failures than these make no line.
const LINE_MIN: u64 = 3;

/// Failures for each port that was used, where there is no line.
const SPARSE_RATIO: u64 = 32;

/// Times the ports of a scan that are enough if each source asks for one.
const MANY: u64 = 5;

/// Failures for each used connection, where failures are few.
const FEW_RATIO: u64 = 8;

/// Whether these targets, against the source's used connections, are a scan.
pub(super) fn is_scan<'a>(
    probe: Probe,
    targets: impl Iterator<Item = (&'a Target, &'a Seen)>,
    against: Against<'_>,
    options: &ScanOptions,
) -> bool {
    let failures = Failures::of(probe, targets);
    // A bare ACK or FIN-ACK is also what is left of a connection whose beginning nobody saw.
    let doubt = if matches!(probe, Probe::Ack | Probe::Maimon) {
        2
    } else {
        1
    };
    let least = |targets: u32| FAILURE * doubt * u64::from(targets);
    let share = if probe == Probe::Udp { 3 } else { 5 };
    let is_line = |most: u64, fewest: u32| most >= least(fewest) && most * share >= failures.weight;
    let (host_most, _) = most(&failures.hosts);
    if probe == Probe::IpProtocol {
        // One protocol on many hosts is what a router speaks with its neighbours.
        return is_line(host_most, options.protocols_min)
            && against.is_outweighed(failures.weight, against.used.count());
    }
    let is_vertical =
        is_line(host_most, options.ports_min) && against.is_outweighed(host_most, against.spread());
    let (port_most, port) = most(&failures.ports);
    let is_horizontal =
        is_line(port_most, options.hosts_min) && against.is_outweighed(port_most, against.on(port));
    if is_vertical || is_horizontal {
        return true;
    }
    let [on, off, web] = failures.on_lines_and_off(against);
    let is_lines = on >= least(options.hosts_min + options.ports_min)
        && on >= off
        && against.is_outweighed(
            on,
            if against.is_long {
                against.on(None)
            } else {
                against.spread()
            },
        );
    let few = on - web;
    let is_few = few >= least(options.failures_min)
        && few >= 4 * (off + web)
        && few >= FAILURE * FEW_RATIO * against.used.count();
    let is_sparse = on + off >= least(options.targets_min)
        && on + off >= FAILURE * SPARSE_RATIO * against.each * against.used.ports();
    is_lines || is_few || is_sparse
}

/// Whether those who asked a host in vain, by source and port, are a scan by all of them: of many
/// ports, each asked by a few, and none of the sources asks most.
pub(super) fn is_distributed(asked: &Targets, used: &Recent, options: &ScanOptions) -> bool {
    let failures = Failures::of(Probe::Syn, asked.iter());
    let (ports, pairs) = (failures.ports.len() as u64, failures.all.len() as u64);
    let against = Against {
        used,
        each: 1,
        is_long: false,
    };
    // Peers ask for the few ports that they know of, each for one: only scanners share them out.
    let sources = failures.hosts.len() as u64;
    // No two ask for the same port, or hardly.
    let is_apart = pairs <= ports + ports / 4;
    // Forged sources that ask for any port are a flood, even if it has only begun.
    let times = || asked.iter().map(|(_, seen)| seen.first.1.0);
    let span = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    let is_rush = 2 * pairs * 1_000_000_000 > u64::from(options.syn_rate).saturating_mul(span);
    let is_once = is_apart && ports >= MANY * u64::from(options.ports_min);
    // Two each, shared out in any order, are one and a half each when three of four were asked.
    let is_some = is_apart && 3 * sources <= 2 * pairs;
    let is_shared = 2 * sources <= pairs || is_some || is_once && !is_rush;
    let (by_one, _) = most(&failures.hosts);
    let (to_one, _) = most(&failures.ports);
    ports >= u64::from(options.ports_min)
        && sources >= LINE_MIN
        && is_shared
        && pairs <= FEW * ports
        && 2 * by_one <= failures.weight
        && 4 * to_one <= failures.weight
        && against.is_outweighed(FAILURE * ports, against.spread())
}

/// Whether these targets are enough, whatever came of them.
pub(super) fn is_enough(probe: Probe, targets: &Targets, options: &ScanOptions) -> bool {
    options.is_enough(probe) && targets.exact_len() >= options.failures_min as usize
}

/// Over what a scan spreads: one host or one port has four of five targets; or it has no lines; or
/// hosts have one port each, or several.
pub(super) fn kind(counts: &Counts) -> ScanKind {
    let Counts { hosts, ports, .. } = *counts;
    let is_one = |most: u64| most * 5 >= counts.targets * 4;
    if is_one(counts.host_most) && ports >= hosts {
        ScanKind::Vertical
    } else if is_one(counts.port_most) {
        ScanKind::Horizontal
    } else if counts.targets < LINE_MIN * hosts && counts.targets < LINE_MIN * ports {
        ScanKind::Sparse
    } else if 2 * counts.deep_targets < counts.targets {
        ScanKind::Horizontal
    } else if counts.deep == 1 {
        ScanKind::Vertical
    } else {
        ScanKind::Block
    }
}

/// Ports that a host of many asks each source for, at most; used connections that count for each
/// of their ports.
const FEW: u64 = 4;

fn add<K: Hash + Eq>(lines: &mut Map<K, Line>, line: K, weight: u64) {
    let line = lines.entry(line).or_default();
    line.weight += weight;
    line.targets += 1;
}

/// The most weight of a line, and the least key that has it.
fn most<K: Copy + Ord>(lines: &Map<K, Line>) -> (u64, Option<K>) {
    let most = lines
        .iter()
        .max_by_key(|&(key, line)| (line.weight, core::cmp::Reverse(*key)));
    most.map_or((0, None), |(key, line)| (line.weight, Some(*key)))
}
