//! Floods and caps: what they push out, and what they do not.

use super::{SECOND, Whole, assert_accounted, datagram_bytes, insert, insert_held};
use crate::{DefragOptions, Defragmenter, Inserted};
use flowpin_counters::Loss;
use flowpin_packet::{FragmentRef, Timestamp};
use proptest::prelude::*;

/// A fragment of a datagram that never comes, from `source`.
fn useless(id: u32, source: u32, len: usize, ipv6: bool) -> (Vec<u8>, FragmentRef) {
    let whole = Whole::new(ipv6, id, 0, vec![1; len + 16]);
    let (mut bytes, mut fragment) = whole.fragment(8, 8 + len, 0);
    fragment.id = id;
    let source_at = 14 + if ipv6 { 8 } else { 12 };
    bytes[source_at..source_at + 4].copy_from_slice(&source.to_be_bytes());
    (bytes, fragment)
}

/// One in sixteen of: a million useless fragments a second, in the memory that fragments have by
/// default. From one source or as many as there are fragments: a datagram whose three pieces come
/// within that second completes, also if it comes from the flood's own source.
#[test]
fn under_a_flood_a_real_datagram_completes() {
    const FLOOD: u32 = 1_000_000 / 16;
    for spoofed in [false, true] {
        for ipv6 in [false, true] {
            let options = DefragOptions {
                memory_bytes: (256 << 20) / 16,
                ..DefragOptions::default()
            };
            let mut defragmenter = Defragmenter::new(options);
            let real = Whole::new(ipv6, 7, 0, vec![3; 2400]);
            let mut found = None;
            for i in 0..2 * FLOOD {
                let now = SECOND * u64::from(i) / u64::from(FLOOD);
                let source = if spoofed { i | 1 << 31 } else { 0x0a00_0001 };
                let (bytes, mut fragment) = useless(1000 + i, source, 24, false);
                fragment.stream_time = Timestamp(now);
                assert!(matches!(
                    defragmenter.insert(&bytes, &fragment, 0),
                    Inserted::Held
                ));
                for (at, from) in [(0, 0), (FLOOD / 2, 800), (FLOOD - 1, 1600)] {
                    if i == FLOOD + at {
                        let piece = real.fragment(from, from + 800, now);
                        assert!(found.is_none());
                        found = insert(&mut defragmenter, &piece);
                    }
                }
            }
            let found = found.expect("the datagram completes");
            assert_eq!(datagram_bytes(&found), real.bytes());
            assert!(defragmenter.allocated_bytes() <= (256 << 20) / 16);
            let losses = &defragmenter.stats().losses;
            let lost = losses.of(Loss::FragmentMemory) + losses.of(Loss::FragmentHostMemory);
            assert!(lost >= u64::from(FLOOD - 4000), "{lost}");
            assert_accounted(&defragmenter);
        }
    }
}

/// While memory is full, a source that holds more than its share pays for what it adds itself:
/// the datagram of another one waits as long as it may, however long the flood goes on.
#[test]
fn a_greedy_source_pushes_out_itself() {
    let options = DefragOptions {
        memory_bytes: 1 << 20,
        ..DefragOptions::default()
    };
    let mut defragmenter = Defragmenter::new(options);
    let real = Whole::new(false, 7, 0, vec![3; 1600]);
    assert!(insert(&mut defragmenter, &real.fragment(0, 800, 0)).is_none());
    for i in 0..100_000 {
        let (bytes, fragment) = useless(i, 0x0b00_0001, 1000, false);
        let _ = defragmenter.insert(&bytes, &fragment, 0);
    }
    assert!(insert(&mut defragmenter, &real.fragment(800, 1600, 0)).is_some());
    let losses = &defragmenter.stats().losses;
    assert_eq!(losses.of(Loss::FragmentMemory), 0);
    assert!(losses.of(Loss::FragmentHostMemory) > 99_000);
}

/// The cap of one source is kept exactly, and others do not notice.
#[test]
fn the_cap_of_a_source_is_its_own() {
    let options = DefragOptions {
        host_bytes: 10_000,
        ..DefragOptions::default()
    };
    let mut defragmenter = Defragmenter::new(options);
    for i in 0..1000 {
        let (bytes, fragment) = useless(i, 1, 24, false);
        let _ = defragmenter.insert(&bytes, &fragment, 0);
        let (bytes, fragment) = useless(i, 2 + i % 50, 24, false);
        let _ = defragmenter.insert(&bytes, &fragment, 0);
    }
    let stats = defragmenter.stats();
    // 39 slots of 256 bytes fit into 10,000.
    assert_eq!(stats.losses.of(Loss::FragmentHostMemory), 1000 - 39);
    assert_eq!(stats.held, 1000 + 39);
}

/// One datagram's cap: its fragments are lost, and the rest of it goes on alone.
#[test]
fn the_cap_of_a_datagram_is_its_own() {
    let options = DefragOptions {
        datagram_bytes: 10_000,
        ..DefragOptions::default()
    };
    let mut defragmenter = Defragmenter::new(options);
    let whole = Whole::new(false, 5, 0, vec![1; 40_000]);
    let mut alone = 0;
    for from in (0..40_000).step_by(2000) {
        let (bytes, fragment) = whole.fragment(from, from + 2000, 0);
        alone += u32::from(matches!(
            defragmenter.insert(&bytes, &fragment, 0),
            Inserted::Lone
        ));
    }
    let lost = defragmenter.stats().losses.of(Loss::FragmentDatagramMemory);
    assert!(lost > 0);
    assert_eq!(u64::from(alone) + lost, 20);
    assert!(defragmenter.memory_bytes() <= 10_000);
    assert_accounted(&defragmenter);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Floods of every kind, one after the other: single fragments, datagrams full of holes,
    /// many sources, many fragments of one datagram, repetitions. What is allocated stays within
    /// the cap the whole time, and all of it is free again when the time is up.
    #[test]
    fn no_sequence_of_floods_exceeds_the_cap(
        phases in prop::collection::vec((0u8..5, 1usize..1400, any::<bool>()), 1..8),
        memory_bytes in (64u64 << 10)..(1 << 20),
    ) {
        let options = DefragOptions { memory_bytes, ..DefragOptions::default() };
        let mut defragmenter = Defragmenter::new(options);
        let mut id = 0;
        for (kind, len, ipv6) in phases {
            for i in 0..1500u32 {
                id += u32::from(kind != 3 && !(kind == 1 && i % 20 > 0));
                let source = if kind == 2 { id } else { 1 };
                let (bytes, mut fragment) = useless(id, source, len.next_multiple_of(8), ipv6);
                if kind == 1 {
                    fragment.offset = (i % 20) as u16 * 3000;
                }
                if kind == 3 {
                    fragment.offset = (i * 16 % 60_000) as u16;
                }
                let _ = defragmenter.insert(&bytes, &fragment, 0);
                if kind == 4 {
                    let _ = defragmenter.insert(&bytes, &fragment, 0);
                }
                prop_assert!(defragmenter.allocated_bytes() <= memory_bytes);
                prop_assert!(defragmenter.memory_bytes() <= defragmenter.allocated_bytes());
            }
            assert_accounted(&defragmenter);
        }
        defragmenter.expire(Timestamp(1000 * SECOND));
        prop_assert_eq!(defragmenter.memory_bytes(), 0);
        prop_assert_eq!(defragmenter.stats().held, 0);
    }
}

/// Millions of useless fragments push out each other; a real datagram among them completes.
#[test]
fn a_flood_does_not_keep_real_datagrams_from_completing() {
    let memory_bytes = 1 << 20;
    let options = DefragOptions {
        memory_bytes,
        ..DefragOptions::default()
    };
    let mut defragmenter = Defragmenter::new(options);
    let junk = Whole::new(false, 0, 0, vec![1; 64]);
    let mut completed = 0;
    for i in 0..100_000u32 {
        let (bytes, mut fragment) = junk.fragment(8, 16, SECOND);
        fragment.id = i;
        assert!(matches!(
            defragmenter.insert(&bytes, &fragment, 0),
            Inserted::Held
        ));
        if i % 1000 == 0 {
            let real = Whole::new(true, i, 0, vec![3; 4000]);
            for from in (0..4000).step_by(800) {
                completed += usize::from(
                    insert(&mut defragmenter, &real.fragment(from, from + 800, SECOND)).is_some(),
                );
            }
        }
        assert!(defragmenter.memory_bytes() <= memory_bytes);
    }
    assert_eq!(completed, 100);
    let losses = defragmenter.stats().losses;
    assert!(losses.of(Loss::FragmentMemory) > 0);
    assert!(losses.of(Loss::FragmentHostMemory) > 90_000);
    assert_accounted(&defragmenter);
}

/// Over the cap of one datagram its fragments go on alone; others are not touched.
#[test]
fn a_datagram_of_too_many_fragments_goes_on_alone() {
    let options = DefragOptions {
        fragments_max: 4,
        ..DefragOptions::default()
    };
    let mut defragmenter = Defragmenter::new(options);
    let whole = Whole::new(false, 5, 0, vec![1; 80]);
    for from in [0, 8, 16, 24] {
        insert_held(&mut defragmenter, &whole.fragment(from, from + 8, 0));
    }
    for from in [32, 40] {
        let (bytes, fragment) = whole.fragment(from, from + 8, 0);
        assert!(matches!(
            defragmenter.insert(&bytes, &fragment, 0),
            Inserted::Lone
        ));
    }
    let stats = defragmenter.stats();
    assert_eq!((stats.lone, stats.losses.of(Loss::FragmentCount)), (2, 4));
    assert_accounted(&defragmenter);
}

/// A datagram that does not fit into memory by itself goes on alone.
#[test]
fn a_datagram_that_does_not_fit_goes_on_alone() {
    let options = DefragOptions {
        memory_bytes: 10_000,
        ..DefragOptions::default()
    };
    let mut defragmenter = Defragmenter::new(options);
    let whole = Whole::new(false, 5, 0, vec![1; 32_000]);
    insert_held(&mut defragmenter, &whole.fragment(0, 4000, 0));
    let (bytes, fragment) = whole.fragment(4000, 16_000, 0);
    assert!(matches!(
        defragmenter.insert(&bytes, &fragment, 0),
        Inserted::Lone
    ));
    assert_eq!(defragmenter.stats().losses.of(Loss::FragmentMemory), 1);
    assert_accounted(&defragmenter);
}
