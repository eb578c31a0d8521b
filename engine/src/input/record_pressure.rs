//! Detects that stream time hardly advances: a capture without times, or a storm in one granule.
//!
//! Records wait for the end of the granule in which they fall due. If very many packets share a
//! granule, the number of waiting records would have no bound; so the workers are asked to flush
//! (an exact tick). That also ends connections early for the stages after the table, so it must not
//! depend on what one worker happens to hold: it is decided here, from the order of the input
//! alone.

use flowpin_flow::GRANULE_NS;
use flowpin_packet::{Tick, Timestamp};

/// Packets that may share a granule before their records are flushed: some 50 MB as text.
const PACKETS_MAX: u64 = 1 << 16;

/// Packets since the granule began or since the last exact tick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordPressure {
    granule: u64,
    packets: u64,
}

impl RecordPressure {
    /// Returns the tick for the end of a piece of `packets` packets, at stream time `now`.
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

    /// Only packets that share a granule count, and each is counted once.
    #[test]
    fn too_many_packets_in_one_granule_cause_one_exact_tick() {
        let mut pressure = RecordPressure::default();
        let begin = Timestamp(GRANULE_NS * 9);
        assert!(!pressure.tick(begin, PACKETS_MAX).is_exact);
        assert!(pressure.tick(begin.plus_nanos(1), 1).is_exact);
        assert!(!pressure.tick(begin.plus_nanos(2), 1).is_exact);
        assert!(
            !pressure
                .tick(begin.plus_nanos(GRANULE_NS), PACKETS_MAX)
                .is_exact
        );
    }
}
