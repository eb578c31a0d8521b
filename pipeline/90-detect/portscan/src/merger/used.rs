//! Connections of a source that were used, by port: what speaks against a scan.

/// Connections that were used, over some time: for the first few ports how many, for the rest how
/// many in all, and about how many different ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    ports: [u16; PORTS],
    counts: [u32; PORTS],
    others: u32,
    /// A bit for each port, by its hash (linear counting: Whang, Vander-Zanden and Taylor, 1990).
    seen: u128,
}

/// Ports that are counted apart: who is no peer of others uses few.
const PORTS: usize = 4;

/// More different ports than these cannot be told from the bits.
const DIFFERENT_MAX: f64 = 621.0;

impl Used {
    fn add(&mut self, port: u16) {
        self.seen |= 1 << bit(port);
        for (known, count) in self.ports.iter_mut().zip(&mut self.counts) {
            if *count == 0 {
                *known = port;
            }
            if *known == port {
                *count = count.saturating_add(1);
                return;
            }
        }
        self.others = self.others.saturating_add(1);
    }

    /// How many were used.
    fn count(&self) -> u64 {
        let counts = self.counts.iter().map(|&count| u64::from(count));
        counts.sum::<u64>() + u64::from(self.others)
    }

    /// At most how many were used on a port, and not many more.
    fn at(&self, port: u16) -> u64 {
        let mut known = self.ports.iter().zip(&self.counts);
        let known = known.find(|&(known, &count)| *known == port && count > 0);
        match known {
            Some((_, &count)) => u64::from(count),
            None if self.seen >> bit(port) & 1 == 1 => u64::from(self.others),
            None => 0,
        }
    }
}

/// The bit of a port.
fn bit(port: u16) -> u32 {
    (crate::sketch::mix(u64::from(port)) >> 57) as u32
}

/// Used connections of the last time: of a whole span at least, as failures count for a whole
/// one, and of half a span more at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    /// Of this half, and of the two before.
    halves: [Used; 3],
    half: u64,
}

impl Recent {
    /// It is now `half`, counted from the beginning of time.
    pub(super) fn age(&mut self, half: u64) {
        match half.saturating_sub(self.half) {
            0 => {}
            after @ 1..=2 => {
                self.halves.rotate_right(after as usize);
                self.halves
                    .iter_mut()
                    .take(after as usize)
                    .for_each(|half| *half = Used::default());
            }
            _ => self.halves = [Used::default(); 3],
        }
        self.half = half;
    }

    pub(super) fn add(&mut self, port: u16) {
        self.halves[0].add(port);
    }

    /// How many were used.
    pub(super) fn count(&self) -> u64 {
        self.halves.iter().map(Used::count).sum()
    }

    /// At most how many were used on a port, and not many more.
    pub(super) fn at(&self, port: u16) -> u64 {
        self.halves.iter().map(|half| half.at(port)).sum()
    }

    /// About how many different ports were used.
    pub(super) fn ports(&self) -> u64 {
        let seen = self.halves.iter().fold(0, |seen, half| seen | half.seen);
        let bits = f64::from(u128::BITS);
        let free = f64::from(u128::count_zeros(seen));
        let different = (-bits * (free / bits).ln()).min(DIFFERENT_MAX);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 621"
        )]
        let different = (different + 0.5) as u64;
        different.min(self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    /// A few ports are counted apart, many about; what is older than three halves is forgotten.
    #[test]
    fn used_connections_are_counted_by_port_and_forgotten_in_time() {
        let mut used = Recent::default();
        for number in 0..900_u16 {
            used.add([443, 80, 25][usize::from(number) % 3]);
        }
        assert_eq!((used.count(), used.at(443), used.at(22)), (900, 300, 0));
        assert_eq!(used.ports(), 3);
        used.age(1);
        for port in 1000..1200 {
            used.add(port);
        }
        assert!(used.ports().abs_diff(203) < 40, "{}", used.ports());
        assert_eq!((used.count(), used.at(1000), used.at(443)), (1100, 1, 300));
        assert!(used.at(1100) >= 1);
        used.age(2);
        assert_eq!((used.count(), used.at(443)), (1100, 300));
        used.age(3);
        assert_eq!((used.count(), used.at(443)), (200, 0));
        used.age(9);
        assert_eq!((used.count(), used.ports(), used.at(1100)), (0, 0, 0));
    }
}
