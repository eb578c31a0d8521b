//! Small summaries of large sets, with fixed seeds: the same input gives the same bits, and the
//! union of two is made bit by bit, so that it does not matter who counted what.

/// Mixes a word so that every bit depends on every bit (the finaliser of SplitMix64).
#[inline]
pub(crate) const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A hash of an address.
#[inline]
pub(crate) fn hash_address(address: &[u8; 16], seed: u64) -> u64 {
    let word = u128::from_le_bytes(*address);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let (low, high) = (word as u64, (word >> 64) as u64);
    mix(mix(low ^ seed).wrapping_add(high).wrapping_add(SEED))
}

/// A hash of an address and a port.
#[inline]
pub(crate) fn hash_target(address: &[u8; 16], port: u16) -> u64 {
    hash_address(address, u64::from(port) << 32 | 1)
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Counts different hashes in `M` bytes: HyperLogLog (Flajolet et al., 2007) with Ertl's improved
/// raw estimator (2017, §2.6), which has no range with a bias. `M` is a power of two; the standard
/// error is 1.04 / √M.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Distinct<const M: usize> {
    registers: Box<[u8; M]>,
}

impl<const M: usize> Distinct<M> {
    pub(crate) fn new() -> Self {
        const { assert!(M.is_power_of_two() && M >= 16) };
        let registers = Box::new([0; M]);
        Self { registers }
    }

    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        add_to(self.registers.as_mut_slice(), hash);
    }

    /// Adds what other registers of as many bytes have counted.
    pub(crate) fn join(&mut self, other: &[u8]) {
        for (mine, theirs) in self.registers.iter_mut().zip(other) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// What it has counted, for another to join.
    pub(crate) fn registers(&self) -> &[u8] {
        self.registers.as_slice()
    }

    /// About how many different hashes were added.
    pub(crate) fn estimate(&self) -> u64 {
        estimate(self.registers.as_slice())
    }
}

/// Counts a hash in registers, whose number is a power of two.
#[inline]
pub(crate) fn add_to(registers: &mut [u8], hash: u64) {
    let bits = registers.len().trailing_zeros();
    #[expect(clippy::cast_possible_truncation, reason = "masked, and at most 64")]
    let (index, rank) = (
        hash as usize & (registers.len() - 1),
        ((hash >> bits).trailing_zeros().min(63 - bits) + 1) as u8,
    );
    if let Some(register) = registers.get_mut(index) {
        *register = (*register).max(rank);
    }
}

fn estimate(registers: &[u8]) -> u64 {
    let count = registers.len() as f64;
    let mut histogram = [0_u32; 66];
    for &register in registers {
        if let Some(bin) = histogram.get_mut(usize::from(register)) {
            *bin += 1;
        }
    }
    let ranks = 64 - registers.len().trailing_zeros() as usize;
    let bin = |rank: usize| f64::from(histogram.get(rank).copied().unwrap_or(0));
    let mut sum = count * tau(1.0 - bin(ranks) / count);
    for rank in (1..ranks).rev() {
        sum = (sum + bin(rank)) * 0.5;
    }
    sum += count * sigma(bin(0) / count);
    // α∞ = 1 / (2 ln 2)
    let estimate = 0.721_347_520_444_481_7 * count * count / sum;
    if estimate.is_finite() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive"
        )]
        {
            (estimate + 0.5) as u64
        }
    } else {
        0
    }
}

fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z <= before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z >= before {
            return z / 3.0;
        }
    }
}

/// How many of `empty` bins of `all` really hold a ball that was not seen, if `balls` others were
/// thrown, and a share `lost` of those that are alone in their bin is not seen.
///
/// A bin looks empty if it is (e^−λ), or if it holds one ball that was lost (λ e^−λ · lost).
pub(crate) fn unseen(balls: u64, all: u32, empty: u32, lost: f64) -> u64 {
    let each = lost / f64::from(all.max(1));
    if all == 0 || empty == 0 || each <= 0.0 {
        return 0;
    }
    // With u of them: u = empty · λ lost / (1 + λ lost), λ = (balls + u) / all; the positive root.
    // PERF: solved, not iterated: a flood asks this for every source.
    let (balls, empty) = (balls as f64, f64::from(empty));
    let half = (1.0 + each * (balls - empty)) / 2.0;
    let product = each * empty * each * balls;
    let unseen = ((half * half + product).sqrt() - half) / each;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of bins"
    )]
    {
        (unseen + 0.5) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{Distinct, mix, unseen};

    /// Within four standard errors, from nothing to millions, also where the registers begin to
    /// fill and where they are full.
    #[test]
    fn distinct_counts_are_near_over_the_whole_range() {
        for count in [
            0_u64, 1, 10, 100, 1_000, 5_000, 10_000, 20_000, 100_000, 2_000_000,
        ] {
            let mut sketch = Distinct::<4096>::new();
            for item in 0..count {
                sketch.add(mix(item.wrapping_add(77)));
                sketch.add(mix(item.wrapping_add(77)));
            }
            let (estimate, allowed) = (sketch.estimate(), count / 15 + 1);
            assert!(estimate.abs_diff(count) <= allowed, "{count}: {estimate}");
        }
    }

    /// The union of two sketches is the sketch of the union.
    #[test]
    fn joined_sketches_are_the_sketch_of_all() {
        let mut sketches = [(); 3].map(|()| Distinct::<1024>::new());
        let [left, right, all] = &mut sketches;
        for item in 0..5000 {
            if item % 3 == 0 {
                &mut *left
            } else {
                &mut *right
            }
            .add(mix(item));
            all.add(mix(item));
        }
        left.join(right.registers.as_slice());
        assert_eq!(left, all);
    }

    /// Bins that look empty, because their only ball was lost, are found from the others.
    #[test]
    fn lost_balls_are_found_from_those_that_were_seen() {
        for count in [300_u64, 500, 1000, 3000] {
            let mut bins = [0_u64; 256];
            for ball in 0..count {
                bins[(mix(ball * 3 + 1) & 255) as usize] += 1;
            }
            let seen = bins.iter().filter(|&&balls| balls > 1).sum();
            let empty = bins.iter().filter(|&&balls| balls < 2).count() as u32;
            let found = seen + unseen(seen, 256, empty, 1.0);
            assert!(found.abs_diff(count) <= count / 20, "{count}: {found}");
        }
        assert_eq!((unseen(0, 256, 256, 1.0), unseen(5, 0, 0, 1.0)), (0, 0));
    }
}
