//! A summary as bytes, for a merger in another process.

use crate::event::{Probe, Steps};
use crate::filter::Unlogged;
use crate::summary::{Attempt, Interval, RunKey, Runs, Summary};
use flowpin_aggregate::travel::{put, put_bytes, take, take_bytes, take_some};
use flowpin_packet::Timestamp;
use flowpin_record::FloodKind;

impl Summary {
    /// Every interval below this one is closed.
    pub const fn upto(&self) -> u64 {
        self.upto
    }

    /// As it travels.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.upto);
        put(&mut out, self.intervals.len() as u64);
        for interval in &self.intervals {
            put(&mut out, interval.index);
            put(&mut out, interval.attempts.len() as u64);
            interval
                .attempts
                .iter()
                .for_each(|one| put_attempt(&mut out, one));
            put(&mut out, interval.runs.len() as u64);
            for (key, runs) in &interval.runs {
                put_runs(&mut out, key, runs);
            }
            put(&mut out, u64::from(interval.unlogged.is_some()));
            if let Some(unlogged) = &interval.unlogged {
                put_unlogged(&mut out, unlogged);
            }
        }
        out
    }

    /// What [`Summary::to_bytes`] has made; none of other bytes.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let from = &mut rest;
        let mut summary = Self {
            upto: take(from)?,
            intervals: Vec::new(),
        };
        for _ in 0..take(from)? {
            let mut interval = Interval {
                index: take(from)?,
                ..Interval::default()
            };
            for _ in 0..take(from)? {
                interval.attempts.push(take_attempt(from)?);
            }
            for _ in 0..take(from)? {
                let (key, runs) = take_runs(from)?;
                interval.runs.insert(key, runs);
            }
            if take(from)? != 0 {
                interval.unlogged = Some(Box::new(take_unlogged(from)?));
            }
            summary.intervals.push(interval);
        }
        rest.is_empty().then_some(summary)
    }
}

fn put_attempt(out: &mut Vec<u8>, one: &Attempt) {
    out.extend_from_slice(&one.source);
    out.extend_from_slice(&one.target);
    put(out, one.time.0);
    put(out, one.number);
    put(out, u64::from(one.handle) << 32 | u64::from(one.before));
    out.extend_from_slice(&one.port.to_le_bytes());
    out.extend_from_slice(&one.steps.0.to_le_bytes());
    let flags = [u8::from(one.ipv6), u8::from(one.late)];
    out.extend_from_slice(&[one.probe as u8, one.shard]);
    out.extend_from_slice(&flags);
}

fn take_attempt(from: &mut &[u8]) -> Option<Attempt> {
    let (source, target) = (take_some(from)?, take_some(from)?);
    let (time, number, places) = (take(from)?, take(from)?, take(from)?);
    let (port, steps) = (take_some(from)?, take_some(from)?);
    let [probe, shard, ipv6, late] = take_some(from)?;
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let (handle, before) = ((places >> 32) as u32, places as u32);
    Some(Attempt {
        source,
        target,
        time: Timestamp(time),
        number,
        handle,
        before,
        port: u16::from_le_bytes(port),
        steps: Steps(u16::from_le_bytes(steps)),
        probe: *PROBES.get(usize::from(probe))?,
        ipv6: ipv6 != 0,
        shard,
        late: late != 0,
    })
}

fn put_runs(out: &mut Vec<u8>, key: &RunKey, runs: &Runs) {
    out.extend_from_slice(&[key.kind as u8, u8::from(key.ipv6), key.shard]);
    out.extend_from_slice(&key.target);
    out.extend_from_slice(&key.source);
    out.extend_from_slice(&key.port.to_le_bytes());
    let (first, number) = runs.first;
    for word in [runs.packets, first.0, number, runs.last.0] {
        put(out, word);
    }
}

fn take_runs(from: &mut &[u8]) -> Option<(RunKey, Runs)> {
    let [kind, ipv6, shard] = take_some(from)?;
    let (target, source) = (take_some(from)?, take_some(from)?);
    let port = take_some(from)?;
    let key = RunKey {
        kind: *FLOODS.get(usize::from(kind))?,
        ipv6: ipv6 != 0,
        target,
        source,
        port: u16::from_le_bytes(port),
        shard,
    };
    let packets = take(from)?;
    let first = (Timestamp(take(from)?), take(from)?);
    let last = Timestamp(take(from)?);
    let runs = Runs {
        packets,
        first,
        last,
    };
    Some((key, runs))
}

fn put_unlogged(out: &mut Vec<u8>, unlogged: &Unlogged) {
    let (shards, counts, sources) = unlogged.parts();
    shards.iter().for_each(|&word| put(out, word));
    put(out, unlogged.attempts);
    put(out, counts.len() as u64);
    for count in counts {
        out.extend_from_slice(&count.to_le_bytes());
    }
    put_bytes(out, sources);
}

fn take_unlogged(from: &mut &[u8]) -> Option<Unlogged> {
    let mut shards = [0; 4];
    for word in &mut shards {
        *word = take(from)?;
    }
    let attempts = take(from)?;
    let mut counts = Vec::new();
    for _ in 0..take(from)? {
        counts.push(u32::from_le_bytes(take_some(from)?));
    }
    let sources = take_bytes(from)?.to_vec();
    Unlogged::of_parts(shards, attempts, counts, sources)
}

/// By their numbers.
const PROBES: [Probe; 14] = [
    Probe::Syn,
    Probe::Fin,
    Probe::Null,
    Probe::Xmas,
    Probe::Maimon,
    Probe::Ack,
    Probe::Udp,
    Probe::SctpInit,
    Probe::SctpCookieEcho,
    Probe::IpProtocol,
    Probe::Echo,
    Probe::Stray,
    Probe::Reset,
    Probe::Other,
];

/// Likewise.
const FLOODS: [FloodKind; FloodKind::COUNT] = [
    FloodKind::Syn,
    FloodKind::Icmp,
    FloodKind::Udp,
    FloodKind::Ack,
    FloodKind::Rst,
];

#[cfg(test)]
mod tests {
    use super::{FLOODS, PROBES};
    use crate::event::Steps;
    use crate::filter::Unlogged;
    use crate::summary::{Attempt, Interval, RunKey, Runs, Summary};
    use flowpin_packet::Timestamp;
    use proptest::prelude::*;

    fn summary(numbers: &[[u64; 4]], is_over: bool) -> Summary {
        let mut interval = Interval {
            index: numbers.len() as u64,
            ..Interval::default()
        };
        for (nth, &[a, b, c, d]) in numbers.iter().enumerate() {
            let address = |word: u64| (u128::from(word) << 40 | u128::from(c)).to_le_bytes();
            let probe = PROBES[nth % PROBES.len()];
            let kind = FLOODS[nth % FLOODS.len()];
            let [shard, late, ..] = d.to_le_bytes();
            interval.attempts.push(Attempt {
                source: address(a),
                target: address(b),
                time: Timestamp(c),
                number: d,
                handle: a as u32,
                before: b as u32,
                port: c as u16,
                steps: Steps(d as u16),
                probe,
                ipv6: late > 9,
                shard,
                late: late > 99,
            });
            let key = RunKey {
                kind,
                ipv6: late > 50,
                target: address(b),
                source: address(a),
                port: d as u16,
                shard,
            };
            let runs = Runs {
                packets: c,
                first: (Timestamp(a), b),
                last: Timestamp(d),
            };
            interval.runs.insert(key, runs);
        }
        if is_over {
            let mut unlogged = Unlogged::new();
            unlogged.attempts = 77;
            unlogged.shards.insert(3);
            unlogged.count(FLOODS[0], &[1; 16], &[2; 16], 5);
            interval.unlogged = Some(Box::new(unlogged));
        }
        Summary {
            upto: u64::MAX,
            intervals: vec![Interval::default(), interval],
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// What is written is read; what is cut off is not.
        #[test]
        fn summaries_travel(
            numbers in prop::collection::vec(any::<[u64; 4]>(), 0..20),
            is_over in any::<bool>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let one = summary(&numbers, is_over);
            let bytes = one.to_bytes();
            let read = Summary::of_bytes(&bytes).unwrap();
            prop_assert_eq!(format!("{one:?}"), format!("{read:?}"));
            prop_assert!(Summary::of_bytes(&bytes[..cut.index(bytes.len())]).is_none());
        }
    }

    /// The tables are in the order of the numbers.
    #[test]
    fn numbers_are_places() {
        assert!(
            PROBES
                .iter()
                .enumerate()
                .all(|(nth, &one)| one as usize == nth)
        );
        assert!(
            FLOODS
                .iter()
                .enumerate()
                .all(|(nth, &one)| one as usize == nth)
        );
    }
}
