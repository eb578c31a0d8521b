//! Identifiers of connections: a keyed hash of facts from the input.

use crate::entry::birth::Birth;
use flowpin_packet::{Endpoints, FlowKey, Timestamp};
use flowpin_record::Uid;

/// Makes identifiers for one `--id-seed`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    seed: u64,
}

impl Identity {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed: fold(seed ^ WORDS[0], WORDS[1]) ^ seed,
        }
    }

    /// From the key, the addresses if the key does not hold them, the capture time of the first
    /// packet, and its mark, which distinguishes connections with equal times. Depends on nothing
    /// else: not on the worker, not on the secret.
    // PERF: the products do not depend on each other.
    pub(crate) fn uid(
        self,
        key: FlowKey,
        addresses: Option<&Endpoints>,
        start: Timestamp,
        birth: Birth,
    ) -> Uid {
        let mut state = mix(self.seed ^ key.low, WORDS[0] ^ key.high.rotate_left(32));
        if let Some(addresses) = addresses {
            for (address, constant) in [(addresses.low, WORDS[1]), (addresses.high, WORDS[2])] {
                let address = u128::from_be_bytes(address);
                state = mix(state ^ (address >> 64) as u64, constant ^ address as u64);
            }
        }
        let mark = u64::from(birth.mark());
        let begun = mix(self.seed.rotate_left(32) ^ start.0, WORDS[1] ^ mark);
        Uid(mix(state ^ WORDS[2], begun ^ WORDS[3]))
    }
}

/// The two halves of a 128-bit product, folded.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

/// As [`fold`], but a factor of 0 does not cancel the other one.
#[inline]
const fn mix(a: u64, b: u64) -> u64 {
    fold(a, b) ^ a.rotate_left(29) ^ b
}

/// Arbitrary odd words (digits of e).
const WORDS: [u64; 4] = [
    0xb7e1_5162_8aed_2a6b,
    0xbf71_5880_9cf4_f3c7,
    0x62e7_160f_38b4_da57,
    0xa784_d904_5190_cfef,
];

#[cfg(test)]
mod tests {
    use super::Identity;
    use crate::entry::birth::Birth;
    use flowpin_packet::{Endpoints, FlowKey, Timestamp};
    use std::collections::HashSet;

    /// Neighbouring connections get different identifiers; another seed gives others.
    #[test]
    fn neighbours_have_different_identifiers() {
        let key = FlowKey {
            low: 6 << 48,
            high: 80,
        };
        let mut all = HashSet::new();
        for seed in 0..4 {
            let identity = Identity::new(seed);
            for host in 0..16 {
                let mut endpoints = Endpoints::default();
                endpoints.low[3] = host;
                for time in 0..16 {
                    for mark in 0..16 {
                        let birth = Birth(mark << 1);
                        let uid = identity.uid(key, Some(&endpoints), Timestamp(time), birth);
                        assert!(all.insert(uid));
                    }
                }
            }
        }
    }
}
