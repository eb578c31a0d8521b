//! Notices that stream time crawls: a capture without times, or a storm within one granule.
//!
//! Records wait for the end of the granule in which they fell due. Where very many packets share a
//! granule, so would their records, without bound; then the workers are asked to tell exactly.
//! That also ends connections early for the stages behind the table, so it must not depend on what
//! one worker happens to hold: it is decided here, from the order of the input alone.

use flowpin_flow::GRANULE_NS;
use flowpin_packet::{Tick, Timestamp};

/// So many packets may share a granule before their records are told. Some 50 MB as text.
const PACKETS_MAX: u64 = 1 << 16;

/// Packets since the granule began or the workers last told exactly.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crowd {
    granule: u64,
    packets: u64,
}

impl Crowd {
    /// A piece with so many packets has ended at `now`.
    pub(crate) const fn tick(&mut self, now: Timestamp, packets: u64) -> Tick {
        let granule = now.0 / GRANULE_NS;
        if granule != self.granule {
            self.granule = granule;
            self.packets = 0;
        }
        self.packets += packets;
        let is_exact = self.packets > PACKETS_MAX;
        if is_exact {
            self.packets = 0;
        }
        Tick {
            time: now,
            is_exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what shares a granule counts, and each crowd once.
    #[test]
    fn a_crowd_within_one_granule_is_told_once() {
        let mut crowd = Crowd::default();
        let begin = Timestamp(GRANULE_NS * 9);
        assert!(!crowd.tick(begin, PACKETS_MAX).is_exact);
        assert!(crowd.tick(begin.plus_nanos(1), 1).is_exact);
        assert!(!crowd.tick(begin.plus_nanos(2), 1).is_exact);
        assert!(
            !crowd
                .tick(begin.plus_nanos(GRANULE_NS), PACKETS_MAX)
                .is_exact
        );
    }
}
