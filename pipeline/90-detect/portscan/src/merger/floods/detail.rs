//! The description of one victim's flood in an interval.

use super::super::Host;
use super::Victim;
use super::load::{is_part, victim_of};
use super::senders::Senders;
use crate::hash::Map;
use crate::summary::Interval;
use flowpin_packet::Timestamp;
use std::collections::{BTreeMap, HashSet};

/// The description of one victim's flood.
#[derive(Debug, Default)]
pub(super) struct Detail {
    pub(super) first: Option<(u64, Timestamp)>,
    pub(super) last: Timestamp,
    pub(super) senders: Senders,
    asked: HashSet<(Host, u16)>,
    ports: BTreeMap<u16, u64>,
    pub(super) samples: Vec<Host>,
}

pub(super) fn details(
    all: &Interval,
    victims: impl Iterator<Item = Victim>,
) -> Map<Victim, Detail> {
    let mut details: Map<_, _> = victims.map(|victim| (victim, Detail::default())).collect();
    if details.is_empty() {
        return details;
    }
    for attempt in &all.attempts {
        if let Some(victim) = victim_of(attempt)
            && is_part(victim.0, attempt)
            && let Some(detail) = details.get_mut(&victim)
        {
            let source = Host {
                ipv6: attempt.ipv6,
                address: attempt.source,
            };
            detail.add(source, attempt.port, 1, (attempt.number, attempt.time));
            detail.last = detail.last.max(attempt.time);
        }
    }
    let mut runs: Vec<_> = all.runs.iter().collect();
    runs.sort_unstable_by_key(|(key, runs)| (runs.first.1, **key));
    for (key, runs) in runs {
        let host = |address| Host {
            ipv6: key.ipv6,
            address,
        };
        let victim = (key.kind, host(key.target));
        if let Some(detail) = details.get_mut(&victim) {
            let first = (runs.first.1, runs.first.0);
            detail.add(host(key.source), key.port, runs.packets, first);
            detail.last = detail.last.max(runs.last);
        }
    }
    details
}

impl Detail {
    fn add(&mut self, source: Host, port: u16, packets: u64, first: (u64, Timestamp)) {
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
        self.senders.insert(source);
        if self.samples.len() < 4 && !self.samples.contains(&source) {
            self.samples.push(source);
        }
        if self.senders.are_few() {
            self.asked.insert((source, port));
        }
        *self.ports.entry(port).or_insert(0) += packets;
    }

    /// Whether few sources ask each port about once.
    pub(super) fn is_scan(&self, packets: u64) -> bool {
        self.senders.are_few() && packets < 4 * self.asked.len() as u64
    }

    pub(super) fn port(&self) -> Option<u16> {
        let all: u64 = self.ports.values().sum();
        let most = self
            .ports
            .iter()
            .max_by_key(|&(port, count)| (*count, core::cmp::Reverse(*port)));
        most.and_then(|(&port, &count)| (count * 2 > all && port > 0).then_some(port))
    }
}
