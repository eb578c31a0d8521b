//! From a key to its shard and its place in the table: two keyed multiply-and-fold hashes.
//!
//! ```text
//!  31    24 23                    0
//!  │ shard │ place               │
//!   id_seed  dispatch secret
//! ```
//!
//! The shard must not depend on the secret, or the evictions of a full shard would. The place must,
//! or a crafted capture could make connections collide. So each has its own hash over the whole
//! tuple: both would inherit the collisions of a shared first step, which a known seed makes easy
//! to compute.

use flowpin_packet::FlowKey;

/// The keys of both hashes.
#[derive(Clone, Debug)]
pub(crate) struct Hasher {
    shard: [u64; 2],
    place: [u64; 5],
}

impl Hasher {
    pub(crate) fn new(id_seed: u64, secret: u64) -> Self {
        // Different starts, so that equal seeds do not make equal keys.
        let mut seeds = SplitMix(id_seed ^ 0x5348_4152_4400_0000);
        let shard = [(); 2].map(|()| seeds.next());
        let mut seeds = SplitMix(secret ^ 0x504c_4143_4500_0000);
        let place = [(); 5].map(|()| seeds.next());
        Self { shard, place }
    }

    /// For an IPv4 key, which holds the whole tuple.
    #[inline]
    pub(crate) fn ipv4(&self, key: FlowKey) -> u32 {
        let place = fold(key.low ^ self.place[0], key.high ^ self.place[1]);
        self.join(key, place)
    }

    /// For an IPv6 key. `low` and `high` are the addresses in key order: a digest without a
    /// secret is not enough to keep chosen addresses from colliding.
    // PERF: inlined into the fast path, so that addresses stay in registers.
    #[inline(always)]
    pub(crate) fn ipv6(&self, key: FlowKey, low: u128, high: u128) -> u32 {
        let [low_top, low_bottom] = halves(low);
        let [high_top, high_bottom] = halves(high);
        let low = fold(low_top ^ self.place[0], low_bottom ^ self.place[1]);
        let high = fold(high_top ^ self.place[2], high_bottom ^ self.place[3]);
        // The addresses' hashes are secret, so the ports may come in by addition.
        let place = fold(low ^ key.low, high.rotate_left(32) ^ self.place[4]);
        self.join(key, place)
    }

    #[inline]
    fn join(&self, key: FlowKey, place: u64) -> u32 {
        let shard = fold(key.low ^ self.shard[0], key.high ^ self.shard[1]);
        // Bits 32 to 39 and 40 to 63: of a product's lower half those depend on most bits of both
        // factors. A double shift joins them.
        (((shard >> 32) << 24) | (place >> 40)) as u32
    }
}

/// A digest of two addresses in key order, without a secret: the key's second word.
#[inline]
pub(crate) fn address_digest(low: u128, high: u128) -> u64 {
    let [low_top, low_bottom] = halves(low);
    let [high_top, high_bottom] = halves(high);
    let crossed = fold(low_top ^ DIGEST[0], high_bottom ^ DIGEST[1]);
    crossed ^ fold(high_top ^ DIGEST[2], low_bottom ^ DIGEST[3]).rotate_left(23)
}

/// Mixes a sequence of words under `seed`: for identifiers, off the hot path.
pub(crate) fn mix_words(seed: u64, words: impl IntoIterator<Item = u64>) -> u64 {
    let mut state = SplitMix(seed).next();
    for word in words {
        state = fold(state ^ word, MULTIPLIER) ^ state.rotate_left(29);
    }
    SplitMix(state).next()
}

/// The two halves of a 128-bit product, folded.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
const fn halves(address: u128) -> [u64; 2] {
    [(address >> 64) as u64, address as u64]
}

/// Steele, Lea and Flood's generator: spreads a seed over several keys.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(MULTIPLIER);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The golden ratio in 64 bits.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Arbitrary odd words (digits of π).
const DIGEST: [u64; 4] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7345,
    0xa409_3822_299f_31d1,
    0x082e_fa98_ec4e_6c89,
];

#[cfg(test)]
mod tests {
    use super::Hasher;
    use crate::pin::key::{ipv4_key, ipv6_key};
    use flowpin_packet::Shard;
    use std::collections::HashSet;

    /// Neighbouring addresses and ports are the common case and must not fill few shards.
    #[test]
    fn neighbouring_connections_spread_over_all_shards() {
        let hasher = Hasher::new(0, 1);
        let mut counts = [0u32; 256];
        for address in 0..64u32 {
            for port in 0..1024u16 {
                let (key, _) =
                    ipv4_key(0x0a00_0000 + address, 0xc0a8_0001, 40_000 + port, 443, 6, 0);
                counts[usize::from(Shard::of_hash(hasher.ipv4(key)).0)] += 1;
            }
        }
        // 65,536 keys: 256 a shard, standard deviation 16.
        assert!(
            counts.iter().all(|&count| (160..=352).contains(&count)),
            "{counts:?}"
        );
    }

    /// As above for the place in the table: as many distinct values as chance would give.
    #[test]
    fn neighbouring_connections_have_distinct_places() {
        for secret in 0..8 {
            let hasher = Hasher::new(0, secret);
            let mut places = HashSet::new();
            for address in 0..64u32 {
                for port in 0..1024u16 {
                    let (key, _) =
                        ipv4_key(0x0a00_0000 + address, 0xc0a8_0001, 40_000 + port, 443, 6, 0);
                    places.insert(hasher.ipv4(key) & 0x00ff_ffff);
                    let (key, _, low, high) =
                        ipv6_key(1 << 64 | u128::from(address), 7, 40_000 + port, 443, 6, 0);
                    places.insert(hasher.ipv6(key, low, high) & 0x00ff_ffff);
                }
            }
            // 131,072 draws from 2²⁴: about 510 collide by chance; twice that is good enough.
            assert!(places.len() > 131_072 - 1200, "{}", places.len());
        }
    }

    /// What a full shard evicts must be the same for every secret.
    #[test]
    fn the_shard_does_not_depend_on_the_secret() {
        let (one, two) = (Hasher::new(7, 1), Hasher::new(7, 2));
        let mut places_differ = false;
        for port in 0..500 {
            let (key, _) = ipv4_key(1, 2, port, 80, 17, 0);
            assert_eq!(Shard::of_hash(one.ipv4(key)), Shard::of_hash(two.ipv4(key)));
            places_differ |= one.ipv4(key) != two.ipv4(key);
            let (key, _, low, high) = ipv6_key(1, 2, port, 80, 17, 0);
            assert_eq!(
                Shard::of_hash(one.ipv6(key, low, high)),
                Shard::of_hash(two.ipv6(key, low, high))
            );
        }
        assert!(places_differ);
    }
}
