//! The sums of a tally, below its cap and above it, for any division and order.

use super::{HostPair, Key, Ranking, Sums, Tally};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_aggregate::Traffic;
use proptest::prelude::*;
use std::collections::HashMap;

/// A connection: key, random number, packets, bytes.
type Connection<K> = (K, u64, u64, u64);

/// What workers come to that each count a part of the connections.
fn ranking<K: Key>(keys_max: usize, parts: &[Vec<Connection<K>>]) -> Ranking<K> {
    let mut tallies = parts.iter().zip(1..).map(|(part, secret)| {
        let mut tally = Tally::new(keys_max, secret).unwrap();
        for &(key, random, packets, bytes) in part {
            let sums = Sums::one(random, packets, bytes);
            tally.count(key, sums, &mut |_, _| {});
        }
        tally.flush(&mut |_, _| {});
        tally
    });
    let mut sum = tallies.next().unwrap();
    tallies.for_each(|tally| sum.add(&tally, &mut |_, _| {}));
    sum.ranking(100)
}

/// Deals connections out to workers.
fn deal<K: Copy>(all: &[Connection<K>], workers: usize) -> Vec<Vec<Connection<K>>> {
    let mut parts = vec![Vec::new(); workers];
    for (nth, one) in all.iter().enumerate() {
        parts[nth.wrapping_mul(2_654_435_761) / 7 % workers].push(*one);
    }
    parts
}

fn plain<K: Key + core::hash::Hash>(all: &[Connection<K>]) -> HashMap<K, Traffic> {
    let mut sums = HashMap::<K, Traffic>::new();
    for &(key, _, packets, bytes) in all {
        let one = Traffic {
            connections: 1,
            packets,
            bytes,
        };
        sums.entry(key).or_default().add(&one);
    }
    sums
}

fn address(number: u32) -> IpAddr {
    match number % 3 {
        0 => IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number))),
        _ => IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number)),
    }
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Connections of many light addresses, and of ten that are heavy: five by one connection, five by
/// many.
fn flood(count: u32) -> Vec<Connection<IpAddr>> {
    let light = (0..count).map(|nth| (address(nth), 300 + u64::from(nth % 400)));
    let single = (0..5).map(|nth| (address(count + nth), 50_000_000 + u64::from(nth)));
    let many = (0..5000).map(|nth| (address(count + 5 + nth % 5), 9000 + u64::from(nth)));
    let all = light.chain(single).chain(many).zip(1..);
    all.map(|((key, bytes), nth)| (key, mixed(nth), 3, bytes))
        .collect()
}

/// Above the cap, neither division nor order show, whatever the secret; rows without a mark are
/// exact, and the heavy ones are there.
#[test]
fn above_the_cap_the_ranking_is_the_same_for_any_division() {
    let mut all = flood(500_000);
    let whole = ranking(1 << 17, &deal(&all, 1));
    assert!(whole.rest.connections > 0 && whole.rows.iter().any(|row| row.is_estimate));
    for workers in [2, 3, 7] {
        assert_eq!(ranking(1 << 17, &deal(&all, workers)), whole, "{workers}");
    }
    all.reverse();
    assert_eq!(ranking(1 << 17, &deal(&all, 3)), whole, "reversed");
    let sums = plain(&all);
    assert!(whole.keys.abs_diff(sums.len() as u64) < sums.len() as u64 / 50);
    let mut heavy: Vec<_> = sums
        .iter()
        .filter(|(_, sums)| sums.bytes > 1 << 20)
        .collect();
    heavy.sort_by_key(|(key, _)| *key);
    let mut listed: Vec<_> = whole.rows.iter().take(10).map(|row| &row.key).collect();
    listed.sort();
    assert_eq!(
        listed,
        heavy.iter().map(|(key, _)| *key).collect::<Vec<_>>()
    );
    for row in &whole.rows {
        let exact = sums[&row.key];
        if row.is_estimate {
            assert!(
                row.traffic.bytes.abs_diff(exact.bytes) < exact.bytes / 100,
                "{row:?}"
            );
        } else {
            assert_eq!(row.traffic, exact);
        }
    }
}

/// Many light addresses in shared rows do not look like one heavy address.
#[test]
fn light_addresses_are_no_estimates() {
    for count in [200_000, 400_000, 1_000_000] {
        let all: Vec<_> = flood(count).into_iter().take(count as usize).collect();
        let ranking = ranking(1 << 17, &deal(&all, 2));
        assert!(ranking.rest.connections > 0 && ranking.rows.len() == 100);
        assert!(ranking.rows.iter().all(|row| !row.is_estimate), "{count}");
    }
}

/// Keys come back as they went in.
#[test]
fn keys_survive_their_words() {
    for number in [0, 1, 2, 3, 0x00ff_ffff] {
        let (client, server) = (address(number), address(number + 3));
        assert_eq!(IpAddr::of(client.words()), client);
        let pair = HostPair { client, server };
        assert_eq!(HostPair::of(pair.words()), pair);
    }
}

proptest! {
    /// Up to the cap the sums are those of a plain map; beyond, exact rows are; and any division
    /// and order gives the same.
    #[test]
    fn any_division_gives_the_same(
        numbers in prop::collection::vec((0_u32..900, any::<u64>(), 0_u64..2000), 0..3000),
        workers in 1_usize..5,
        keys_max in prop_oneof![Just(16_usize), Just(256), Just(1024)],
    ) {
        let connection = |&(number, random, bytes): &(u32, u64, u64)| {
            let pair = HostPair { client: address(number), server: address(number + 999) };
            (pair, random, bytes % 7, bytes)
        };
        let mut all: Vec<_> = numbers.iter().map(connection).collect();
        let whole = ranking(keys_max, &deal(&all, 1));
        all.reverse();
        prop_assert_eq!(&ranking(keys_max, &deal(&all, workers)), &whole);
        let sums = plain(&all);
        for row in &whole.rows {
            prop_assert!(row.is_estimate || sums[&row.key] == row.traffic);
        }
        if keys_max == 1024 {
            prop_assert_eq!(whole.keys, sums.len() as u64);
            prop_assert_eq!(whole.rows.len(), sums.len().min(100));
            prop_assert_eq!(whole.rest, Traffic::default());
        }
    }
}
