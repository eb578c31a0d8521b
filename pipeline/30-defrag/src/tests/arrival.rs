//! Any order, any cut, any repetition; and how long a datagram is waited for.

use super::{OUTSIDE, SECOND, Whole, assert_accounted, datagram_bytes, insert, insert_held};
use crate::{DefragOptions, DefragStats, Defragmenter, Inserted};
use flowpin_counters::Loss;
use flowpin_packet::Timestamp;
use proptest::prelude::*;
use std::collections::HashSet;

/// Time-outs count from the first fragment, in stream time, exactly.
#[test]
fn incomplete_datagrams_time_out() {
    for (ipv6, timeout) in [(false, 30), (true, 60)] {
        let whole = Whole::new(ipv6, 5, 0, vec![1; 32]);
        let mut defragmenter = Defragmenter::new(DefragOptions::default());
        insert_held(&mut defragmenter, &whole.fragment(0, 8, SECOND));
        insert_held(&mut defragmenter, &whole.fragment(8, 16, 20 * SECOND));
        defragmenter.expire(Timestamp((timeout + 1) * SECOND - 1));
        assert_eq!(defragmenter.stats().held, 2);
        defragmenter.expire(Timestamp((timeout + 1) * SECOND));
        let stats = *defragmenter.stats();
        assert_eq!((stats.held, stats.losses.of(Loss::FragmentTimeout)), (0, 2));
        assert_eq!(defragmenter.memory_bytes(), 0);
    }
}

/// The counters of a fresh defragmenter add up.
#[test]
fn nothing_received_is_nothing_accounted() {
    assert_eq!(DefragStats::default().accounted(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any cut, any order, any repetition gives back what was sent, once, with all its frames.
    #[test]
    fn any_arrival_gives_back_the_datagram(
        ipv6 in any::<bool>(), options in 0usize..4, payload in any_payload(),
        at in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        order in any::<prop::sample::Index>(), seed in any::<u64>(),
        repeated in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        let whole = Whole::new(ipv6, 77, options * 8, payload);
        let ranges = cuts(whole.payload.len(), &at);
        prop_assume!(ranges.len() > 1);
        let mut sent: Vec<_> =
            ranges.iter().map(|&(from, to)| whole.fragment(from, to, SECOND)).collect();
        for again in &repeated {
            sent.push(sent[again.index(ranges.len())].clone());
        }
        shuffle(&mut sent, seed);
        let rotation = order.index(sent.len());
        sent.rotate_left(rotation);
        let options = DefragOptions { secret: seed, ..DefragOptions::default() };
        let mut defragmenter = Defragmenter::new(options);
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let (mut frames, mut wire_len) = (0u64, 0);
        for fragment in &sent {
            frames += 1;
            wire_len += fragment.1.wire_len;
            seen.insert(fragment.1.offset);
            found.extend(insert(&mut defragmenter, fragment));
            prop_assert_eq!(found.is_empty(), seen.len() < ranges.len());
            assert_accounted(&defragmenter);
            if !found.is_empty() {
                // Repetitions from here on start another datagram.
                break;
            }
        }
        prop_assert_eq!(found.len(), 1);
        let (datagram, extra) = &found[0];
        prop_assert_eq!(datagram_bytes(&found[0]), whole.bytes());
        prop_assert_eq!(&extra[..3], &[9; 3]);
        prop_assert_eq!(&extra[3..17], &OUTSIDE);
        prop_assert_eq!(datagram.wire_len, wire_len);
        prop_assert_eq!(datagram.len as usize, whole.bytes().len());
        prop_assert_eq!(datagram.captured_len, datagram.len);
        prop_assert_eq!(defragmenter.stats().absorbed, frames);
    }

    /// Results must not depend on where the table looks.
    #[test]
    fn no_result_depends_on_the_secret(
        steps in prop::collection::vec(
            (0u32..6, 0usize..6, 1usize..7, any::<bool>(), 0u64..20),
            0..120,
        ),
        secrets in any::<(u64, u64)>(),
    ) {
        let [one, two] = [secrets.0, secrets.1].map(|secret| {
            let options = DefragOptions {
                memory_bytes: 40_000,
                secret,
                ..DefragOptions::default()
            };
            let mut defragmenter = Defragmenter::new(options);
            let mut now = 0;
            let mut log = Vec::new();
            for &(id, from, len, ipv6, wait) in &steps {
                now += wait * SECOND;
                let whole = Whole::new(ipv6, id, 0, vec![id as u8; 64]);
                let to = (from + len).min(8) * 8;
                let (bytes, fragment) = whole.fragment(from * 8, to, now);
                let outcome = defragmenter.insert(&bytes, &fragment, 0);
                log.push(format!("{outcome:?}"));
                if let Inserted::Complete(ready) = outcome {
                    let mut extra = Vec::new();
                    let datagram = defragmenter.assemble(ready, &bytes, &fragment, &mut extra);
                    log.push(format!("{datagram:?} {extra:?}"));
                }
                assert_accounted(&defragmenter);
                assert!(defragmenter.memory_bytes() <= 40_000);
            }
            (log, *defragmenter.stats())
        });
        prop_assert_eq!(one, two);
    }

    /// Random descriptions of random bytes: no panic, and every fragment accounted for.
    #[test]
    fn random_fragments_do_no_harm(data in prop::collection::vec(any::<u8>(), 0..600)) {
        crate::fuzz_defrag(&data);
    }
}

/// Where to cut a payload of `len` bytes: multiples of 8.
fn cuts(len: usize, at: &[prop::sample::Index]) -> Vec<(usize, usize)> {
    let mut borders: Vec<_> = at.iter().map(|at| at.index(len.div_ceil(8)) * 8).collect();
    borders.extend([0, len]);
    borders.sort_unstable();
    borders.dedup();
    borders.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

fn any_payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 1..200),
        (1usize..65_000, any::<u8>())
            .prop_map(|(len, seed)| (0..len).map(|i| (i as u8).wrapping_mul(seed | 1)).collect()),
    ]
}

fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for i in (1..items.len()).rev() {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        items.swap(i, (seed >> 33) as usize % (i + 1));
    }
}
