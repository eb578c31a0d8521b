//! When a reader is told that nothing comes, and when time is written down.
//!
//! ```text
//!  bytes ─ latency ─► told: they are analysed ─ 100 ms ─► told again: their records are written
//!                                             ─ 250 ms ─► and once more: they leave buffers
//!  every half second: statistics, which are bytes
//! ```

use flowpin_packet::Timestamp;
use std::time::{Duration, Instant};

/// The clock of a capture.
#[derive(Debug)]
pub(super) struct Pace {
    latency: Duration,
    /// Since when bytes that were served wait to be looked at, in the kernel's ring or here.
    waiting: Option<Instant>,
    /// When it was told that they are all, for now, and how often again; until that is enough.
    told: Option<(Instant, usize)>,
    is_told: bool,
    statistics_due: Instant,
}

/// What is to be done while there is no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Wait for one, so long.
    Wait(Duration),
    /// Tell that there is none.
    Tell,
    /// Write statistics.
    Statistics,
}

impl Pace {
    pub(super) fn new(latency: Duration) -> Self {
        Self {
            latency,
            waiting: None,
            told: None,
            is_told: false,
            statistics_due: Instant::now() + STATISTICS_EVERY,
        }
    }

    /// Whether the last read ended with [`Turn::Tell`].
    pub(super) const fn is_told(&self) -> bool {
        self.is_told
    }

    /// A read begins.
    pub(super) const fn begin(&mut self) {
        self.is_told = false;
    }

    /// Whether statistics are due though packets are at hand; if so, the next are due later.
    pub(super) fn statistics_are_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = now >= self.statistics_due;
        if is_due {
            self.statistics_due = now + STATISTICS_EVERY;
        }
        is_due
    }

    /// Bytes were served, the first of which have waited in the kernel's ring.
    pub(super) fn served(&mut self, first: Option<Timestamp>) {
        if self.waiting.is_none() {
            // The clock of packets may be set, so it is believed up to the latency only.
            let waited = first.map_or(0, |first| Timestamp::now().0.saturating_sub(first.0));
            let waited = Duration::from_nanos(waited).min(self.latency);
            let now = Instant::now();
            self.waiting = Some(now.checked_sub(waited).unwrap_or(now));
        }
    }

    /// What is to be done now.
    pub(super) fn turn(&mut self) -> Turn {
        let now = Instant::now();
        let mut patience = self.statistics_due.saturating_duration_since(now);
        if let Some(since) = self.waiting {
            let left = (since + self.latency).saturating_duration_since(now);
            if left.is_zero() {
                (self.waiting, self.told, self.is_told) = (None, Some((now, 0)), true);
                return Turn::Tell;
            }
            patience = patience.min(left);
        }
        if let Some((told, times)) = self.told
            && let Some(again) = TOLD_AGAIN.get(times)
        {
            let left = (told + *again).saturating_duration_since(now);
            if left.is_zero() {
                (self.told, self.is_told) = (Some((told, times + 1)), true);
                return Turn::Tell;
            }
            patience = patience.min(left);
        }
        if self.statistics_are_due() {
            return Turn::Statistics;
        }
        Turn::Wait(patience)
    }
}

/// The second time comes early, for what other threads have made by then of the bytes that came;
/// the third when the logs' buffers, which are emptied a little more often, are sure to be due.
const TOLD_AGAIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(250)];
/// How late it is shows at least so often: what ends by time ends so late at most.
const STATISTICS_EVERY: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::{Pace, Turn};
    use flowpin_packet::Timestamp;
    use std::time::Duration;

    /// Bytes are looked at when they have waited long enough, twice more later, and not again.
    #[test]
    fn silence_is_told_three_times() {
        let mut pace = Pace::new(Duration::ZERO);
        assert!(matches!(pace.turn(), Turn::Wait(_)));
        pace.served(None);
        assert_eq!(pace.turn(), Turn::Tell);
        assert!(pace.is_told());
        pace.begin();
        for again in super::TOLD_AGAIN {
            pace.statistics_due += again;
            assert!(matches!(pace.turn(), Turn::Wait(patience) if patience <= again));
            pace.told = pace.told.map(|(told, times)| (told - again, times));
            assert_eq!(pace.turn(), Turn::Tell);
            pace.begin();
        }
        assert!(matches!(pace.turn(), Turn::Wait(_)));
        assert!(!pace.is_told());
    }

    /// What has waited in the ring is told at once; a packet of the future has not waited.
    #[test]
    fn the_kernels_time_counts() {
        let mut pace = Pace::new(Duration::from_secs(60));
        pace.served(Some(Timestamp(Timestamp::now().0 - 61_000_000_000)));
        assert_eq!(pace.turn(), Turn::Tell);
        pace.served(Some(Timestamp(Timestamp::now().0 + 61_000_000_000)));
        assert!(matches!(pace.turn(), Turn::Wait(_)));
    }

    #[test]
    fn statistics_come_twice_a_second() {
        let mut pace = Pace::new(Duration::from_secs(60));
        pace.statistics_due -= super::STATISTICS_EVERY;
        assert_eq!(pace.turn(), Turn::Statistics);
        pace.statistics_due -= super::STATISTICS_EVERY;
        assert!(pace.statistics_are_due() && !pace.statistics_are_due());
        assert!(matches!(pace.turn(), Turn::Wait(_)));
    }
}
