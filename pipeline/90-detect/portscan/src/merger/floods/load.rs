//! Packets to each victim in an interval.

use super::super::Host;
use super::super::targets::{Meaning, Outcome};
use super::{SECOND_NS, Victim};
use crate::INTERVAL_NS;
use crate::event::Steps;
use crate::hash::Map;
use crate::options::ScanOptions;
use crate::summary::{Attempt, Interval};
use flowpin_record::FloodKind;

/// Packets to one victim in an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// Logged, and part of a flood if there is one.
    pub(super) packets: u64,
    /// Logged at all: attempts, not runs.
    pub(super) attempts: u64,
    /// Of them, those that are part.
    pub(super) parts: u64,
}

/// Whether an interval has enough of any kind; most intervals of most captures do not.
pub(super) fn may_flood(all: &Interval, options: &ScanOptions) -> bool {
    let summed = all.unlogged.as_ref().map_or(0, |sums| sums.attempts);
    let mut parts = [summed; FloodKind::COUNT];
    for attempt in &all.attempts {
        if let Some(kind) = attempt.probe.flood()
            && is_part(kind, attempt)
            && let Some(count) = parts.get_mut(kind as usize)
        {
            *count += 1;
        }
    }
    for (key, runs) in &all.runs {
        if let Some(count) = parts.get_mut(key.kind as usize) {
            *count += runs.packets;
        }
    }
    let pairs = FloodKind::ALL.iter().zip(parts);
    pairs
        .into_iter()
        .any(|(&kind, count)| count >= threshold(kind, options) / 2)
}

/// The fewest packets of an interval that are a flood.
pub(super) fn threshold(kind: FloodKind, options: &ScanOptions) -> u64 {
    let rate = match kind {
        FloodKind::Syn => options.syn_rate,
        FloodKind::Icmp => options.icmp_rate,
        FloodKind::Udp => options.udp_rate,
        FloodKind::Ack => options.ack_rate,
        FloodKind::Rst => options.rst_rate,
    };
    (u64::from(rate).max(1) * INTERVAL_NS / SECOND_NS).max(2)
}

/// Whether an attempt may be part of a flood.
pub(super) fn is_part(kind: FloodKind, attempt: &Attempt) -> bool {
    match (kind, Meaning::of(attempt)) {
        (FloodKind::Icmp, _) => true,
        // A connection that began before the capture goes on, unless the server has sent nothing
        // but a RST: then its ports were reused.
        (FloodKind::Ack | FloodKind::Rst, _) => {
            let has = |steps| attempt.steps.has_any(steps);
            !has(Steps::GOES_ON) || has(Steps::REFUSED) && !has(Steps::ANSWERED)
        }
        (FloodKind::Syn, Meaning::Question(outcome)) => outcome != Outcome::Idle,
        (FloodKind::Udp, Meaning::Question(_) | Meaning::Nothing) => true,
        _ => false,
    }
}

pub(super) fn victim_of(attempt: &Attempt) -> Option<Victim> {
    let host = Host {
        ipv6: attempt.ipv6,
        address: attempt.target,
    };
    Some((attempt.probe.flood()?, host))
}

/// Packets to each victim.
pub(super) fn loads(all: &Interval, options: &ScanOptions) -> Map<Victim, Load> {
    let mut loads: Map<Victim, Load> = Map::default();
    for attempt in &all.attempts {
        let Some(victim) = victim_of(attempt) else {
            continue;
        };
        let load = loads.entry(victim).or_default();
        load.attempts += 1;
        if is_part(victim.0, attempt) {
            load.packets += 1;
            load.parts += 1;
        }
    }
    for (key, runs) in &all.runs {
        let host = Host {
            ipv6: key.ipv6,
            address: key.target,
        };
        loads.entry((key.kind, host)).or_default().packets += runs.packets;
    }
    loads.retain(|(_, host), _| !host.is_in(&options.allow_targets));
    loads
}

/// All packets to a victim, and whether that is an estimate: of the packets that were not logged,
/// the same share is part of the flood.
pub(super) fn total((kind, host): &Victim, load: &Load, all: &Interval) -> (u64, bool) {
    let summed = all
        .unlogged
        .as_ref()
        .map_or(0, |sums| sums.packets_to(*kind, &host.address));
    let part = summed * load.parts.max(u64::from(load.attempts == 0)) / load.attempts.max(1);
    (load.packets + part, part > 0)
}
