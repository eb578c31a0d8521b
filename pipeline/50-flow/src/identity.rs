//! Identifiers of connections: a keyed hash of what the input says about them.

use flowpin_packet::{Endpoints, FlowKey, Timestamp};
use flowpin_record::Uid;

/// Makes identifiers under one `--id-seed`.
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

    /// By key, addresses, capture time of the first packet, and that packet's number, which
    /// tells apart what time does not. Depends on nothing else, so on no worker and no secret.
    pub(crate) fn uid(
        self,
        key: FlowKey,
        endpoints: &Endpoints,
        start: Timestamp,
        first_packet: u64,
    ) -> Uid {
        let low = u128::from_be_bytes(endpoints.low);
        let high = u128::from_be_bytes(endpoints.high);
        let mut state = self.seed;
        for (word, constant) in [
            key.low,
            (low >> 64) as u64,
            low as u64,
            (high >> 64) as u64,
            high as u64,
            start.0,
            first_packet,
        ]
        .into_iter()
        .zip(WORDS.into_iter().cycle())
        {
            state = fold(state ^ word, constant) ^ state.rotate_left(29);
        }
        Uid(fold(state ^ WORDS[2], WORDS[3]))
    }
}

/// The two halves of a 128-bit product, folded.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    (product as u64) ^ ((product >> 64) as u64)
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
    use flowpin_packet::{Endpoints, FlowKey, Timestamp};
    use std::collections::HashSet;

    /// Neighbouring connections get different identifiers; another seed gives other ones.
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
                    for number in 0..16 {
                        let uid = identity.uid(key, &endpoints, Timestamp(time), number);
                        assert!(all.insert(uid));
                    }
                }
            }
        }
    }
}
