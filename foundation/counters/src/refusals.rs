//! How many packets were refused, by layer and reason.

use flowpin_packet::{Layer, Malformed, Reason};

const LAYERS: usize = Layer::ALL.len();
const REASONS: usize = Reason::ALL.len();

/// One counter for each (layer, reason).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusals {
    counts: Box<[[u64; REASONS]; LAYERS]>,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            counts: Box::new([[0; REASONS]; LAYERS]),
        }
    }
}

impl Refusals {
    /// Counts one packet.
    #[inline]
    pub fn count(&mut self, what: Malformed) {
        if let Some(count) = self
            .counts
            .get_mut(what.layer as usize)
            .and_then(|reasons| reasons.get_mut(what.reason as usize))
        {
            *count += 1;
        }
    }

    /// Adds another core's counts.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += theirs;
            }
        }
    }

    /// All packets refused.
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// The counters that are not 0, in layer order.
    pub fn iter(&self) -> impl Iterator<Item = (Layer, Reason, u64)> + '_ {
        Layer::ALL
            .iter()
            .zip(self.counts.iter())
            .flat_map(|(&layer, reasons)| {
                Reason::ALL
                    .iter()
                    .zip(reasons)
                    .filter(|&(_, &count)| count > 0)
                    .map(move |(&reason, &count)| (layer, reason, count))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::Refusals;
    use flowpin_packet::{Layer, Reason, bad};

    /// Sums over cores must keep layer and reason apart.
    #[test]
    fn sums_keep_layer_and_reason_apart() {
        let mut one = Refusals::default();
        one.count(bad(Layer::Tcp, Reason::Truncated, 0));
        let mut two = Refusals::default();
        two.count(bad(Layer::Tcp, Reason::Truncated, 12));
        two.count(bad(Layer::Udp, Reason::LengthTooSmall, 4));
        one.add(&two);
        let found: Vec<_> = one.iter().collect();
        assert_eq!(
            found,
            [
                (Layer::Tcp, Reason::Truncated, 2),
                (Layer::Udp, Reason::LengthTooSmall, 1)
            ]
        );
        assert_eq!(one.total(), 3);
    }
}
