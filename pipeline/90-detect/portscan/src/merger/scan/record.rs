//! The records of a scan.

use super::super::sources::Asker;
use super::super::targets::{Seen, Target};
use super::super::{DISTRIBUTED_ORDINAL, Host, Now, SCAN_ORDINAL, uid, verdict};
use super::Asked;
use crate::options::ScanOptions;
use flowpin_record::{EpisodeState, RecordKey, RecordSink, Samples, ScanKind, ScanRecord};

impl Asked {
    /// The hosts and the ports asked first.
    pub(super) fn samples(&self) -> (Samples<Host, 4>, Samples<u16, 8>) {
        let unknown = Host {
            ipv6: false,
            address: [0; 16],
        };
        if let Some(remembered) = &self.remembered {
            return (remembered.hosts, remembered.ports);
        }
        let hosts = firsts::<_, 4>(self.targets.iter(), |target| target.host);
        let ports = firsts::<_, 8>(self.targets.iter(), |target| target.port);
        (Samples::first(unknown, hosts), Samples::first(0, ports))
    }

    /// Writes a record of the scan as it stands.
    pub(in crate::merger) fn write(
        &mut self,
        asker: &Asker,
        state: EpisodeState,
        now: Now,
        options: &ScanOptions,
        sink: &mut impl RecordSink,
    ) {
        let record = self.record(asker, state, options);
        let ordinal = SCAN_ORDINAL + asker.probe as u32 * 4 + state as u32;
        self.emit(now, ordinal, &record, sink);
    }

    /// Likewise where it is known of a host by whom it was asked: a distributed scan.
    pub(in crate::merger) fn write_turned(
        &mut self,
        victim: &Asker,
        state: EpisodeState,
        now: Now,
        options: &ScanOptions,
        sink: &mut impl RecordSink,
    ) {
        let of_pairs = self.record(victim, state, options);
        let sources = of_pairs.host_samples;
        let first = sources.as_slice().first().copied();
        let target = of_pairs.source;
        let scaled = |part: u64| part * of_pairs.ports / of_pairs.targets.max(1);
        let (open, closed) = (scaled(of_pairs.open), scaled(of_pairs.closed));
        let record = ScanRecord {
            uid: uid(options, victim.host, self.first.0, DISTRIBUTED),
            kind: ScanKind::Distributed,
            source: first.unwrap_or(target),
            source_count: of_pairs.hosts,
            sources,
            hosts: 1,
            targets: of_pairs.ports,
            open,
            closed,
            filtered: of_pairs.ports - open - closed,
            host_samples: Samples::first(target, [target]),
            ..of_pairs
        };
        self.emit(now, DISTRIBUTED_ORDINAL + state as u32, &record, sink);
    }

    fn emit(&mut self, now: Now, ordinal: u32, record: &ScanRecord, sink: &mut impl RecordSink) {
        let Some(scan) = &mut self.scan else {
            return;
        };
        scan.reported = now.index;
        scan.reported_attempts = self.attempts;
        let key = RecordKey {
            time: now.time,
            number: self.first.0,
            ordinal,
        };
        sink.scan(key, record);
    }

    fn record(&self, asker: &Asker, state: EpisodeState, options: &ScanOptions) -> ScanRecord {
        let counts = self.targets.counts();
        let (hosts, ports) = self.samples();
        // Of what was asked once, as much again may have been missed as of all attempts.
        let logged = self.attempts.max(1);
        let [targets_once, hosts_once, ports_once] = counts.once;
        let more = |once: u64| once * self.missed() / logged;
        let attempts = self.attempts + self.missed();
        // There are no more targets than attempts, whatever a sketch guesses.
        let targets = (counts.targets + more(targets_once)).min(attempts);
        let scaled = |part: u64| part * targets / counts.targets.max(1);
        let (others, some) = self
            .scan
            .as_ref()
            .map_or((0, &[][..]), |scan| (scan.others, scan.some.as_slice()));
        let is_short = self.scan.as_ref().is_some_and(|scan| scan.is_short);
        let source = asker.host.ip();
        let sources = core::iter::once(source).chain(some.iter().map(|host| host.ip()));
        let connects = self.accepted[1] > self.accepted[0];
        ScanRecord {
            uid: uid(options, asker.host, self.first.0, asker.probe as u64),
            state,
            kind: verdict::kind(&counts),
            method: asker.probe.method(connects),
            source,
            source_count: others + 1,
            sources: Samples::first(source, sources),
            first: self.first.1,
            last: self.last,
            first_packet: self.first.0,
            attempts,
            hosts: (counts.hosts + more(hosts_once)).min(targets),
            ports: (counts.ports + more(ports_once)).min(targets),
            targets,
            open: scaled(counts.open),
            closed: scaled(counts.closed),
            filtered: scaled(counts.filtered),
            estimated: self.missed() > 0 || self.targets.is_sketch() || is_short,
            host_samples: Samples::first(source, hosts.as_slice().iter().map(|host| host.ip())),
            port_samples: ports,
        }
    }
}

/// What an identifier of a distributed scan is made with: more than any probe.
const DISTRIBUTED: u64 = 128;

/// The `N` different values that came first, in that order.
// PERF: most targets come later than `N` others and cost one comparison; of a map of all values,
// as before, a scan of 62 ports took 19,000 instructions for each record.
fn firsts<'a, T: Copy + Ord, const N: usize>(
    targets: impl Iterator<Item = (&'a Target, &'a Seen)>,
    value: impl Fn(&Target) -> T,
) -> impl Iterator<Item = T> {
    let mut first: [Option<(u64, T)>; N] = [None; N];
    for (target, seen) in targets {
        let one = (seen.first.0, value(target));
        if first[N - 1].is_some_and(|last| last <= one) {
            continue;
        }
        // From its value's place, or the last one, it moves to where it belongs.
        let known = first.iter().position(|known| match known {
            Some((_, known)) => *known == one.1,
            None => true,
        });
        let mut at = known.unwrap_or(N - 1);
        if first[at].is_some_and(|known| known <= one) && known.is_some() {
            continue;
        }
        while at > 0 && first[at - 1].is_some_and(|before| before > one) {
            first[at] = first[at - 1];
            at -= 1;
        }
        first[at] = Some(one);
    }
    first.into_iter().flatten().map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::firsts;
    use crate::merger::Host;
    use crate::merger::targets::{Outcome, Seen, Target};
    use flowpin_packet::Timestamp;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// As if all values were sorted by their first packet.
        #[test]
        fn the_first_values_come_in_order(
            asked in prop::collection::vec((0_u16..12, 0_u64..40), 0..60),
        ) {
            let host = Host { ipv6: false, address: [0; 16] };
            let targets: Vec<(Target, Seen)> = asked
                .iter()
                .map(|&(port, number)| {
                    let first = (number, Timestamp(0));
                    let seen = Seen { outcome: Outcome::Closed, attempts: 1, last: 0, first };
                    (Target { host, port }, seen)
                })
                .collect();
            let mut first = BTreeMap::new();
            for &(port, number) in &asked {
                let known = first.entry(port).or_insert(number);
                *known = number.min(*known);
            }
            let mut order: Vec<(u64, u16)> = first.into_iter().map(|(p, n)| (n, p)).collect();
            order.sort_unstable();
            let expected: Vec<u16> = order.into_iter().take(4).map(|(_, port)| port).collect();
            let pairs = targets.iter().map(|(target, seen)| (target, seen));
            let found: Vec<u16> = firsts::<_, 4>(pairs, |target| target.port).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
