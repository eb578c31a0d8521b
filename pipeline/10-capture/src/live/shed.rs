//! Work that is left out while a capture cannot keep up (`--shed`): how much, by how full the rings
//! are.
//!
//! ```text
//!  rings, half full or more ─► one step more, at most each 20 ms (nearly full: each 5 ms)
//!  rings, nearly empty      ─► one step less, each second
//!
//!  steps   1 … 4        5 … 8          9 … 12
//!  sheds   bodies   ►   + parsing  ►   + new connections      of 64, 128, 192, 256 shards
//! ```
//!
//! A shard keeps all of its work or none of a kind, so a connection is not looked at now and then.

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// Which work is shed now. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Shedding(Arc<AtomicU8>);

/// Work that can be left out, in the order in which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Bodies of messages: extracted, and compared with rules.
    Bodies,
    /// Messages of connections whose protocol is found.
    Parsing,
    /// Protocols and rules of connections that begin.
    Connections,
}

impl Shedding {
    /// Whether this work is shed now, for one of the 256 shards.
    // Relaxed: a number that guards nothing else; a moment later is soon enough.
    pub fn sheds(&self, work: Work, shard: u8) -> bool {
        let quarter = shard >> 6;
        self.0.load(Ordering::Relaxed) > work as u8 * QUARTERS + quarter
    }

    /// As many steps from now on.
    pub fn set(&self, steps: u8) {
        self.0.store(steps, Ordering::Relaxed);
    }
}

/// Decides how much is shed.
#[derive(Debug)]
pub(super) struct Shedder {
    shedding: Shedding,
    steps: u8,
    /// When that was changed, or must not have been changed before.
    since: Instant,
    /// The most kinds that were told since nothing was shed.
    told: u8,
}

impl Shedder {
    pub(super) fn new(shedding: Shedding, now: Instant) -> Self {
        Self {
            shedding,
            steps: 0,
            since: now,
            told: 0,
        }
    }

    /// The rings are so full, in quarters; a line, if there is something to tell.
    pub(super) fn look(&mut self, quarters: usize, now: Instant) -> Option<&'static str> {
        let passed = now.saturating_duration_since(self.since);
        match quarters {
            0 if self.steps > 0 && passed >= LESS_EVERY => self.steps -= 1,
            2 if passed >= MORE_EVERY => self.steps = STEPS.min(self.steps + 1),
            3.. if passed >= URGENT_EVERY => self.steps = STEPS.min(self.steps + 1),
            1 => {
                // Neither: calm begins later.
                self.since = now;
                return None;
            }
            _ => return None,
        }
        self.since = now;
        self.shedding.set(self.steps);
        let kinds = self.steps.div_ceil(QUARTERS);
        if self.steps == 0 {
            self.told = 0;
            return Some("overload is over: nothing is shed");
        }
        if kinds <= self.told {
            return None;
        }
        self.told = kinds;
        match kinds {
            1 => Some("overload: sheds bodies (--shed)"),
            2 => Some("overload: sheds bodies and parsing (--shed)"),
            _ => Some("overload: sheds bodies, parsing and new connections (--shed)"),
        }
    }
}

/// A kind of work is shed for one quarter of the shards after the other.
const QUARTERS: u8 = 4;
/// All work of all shards.
const STEPS: u8 = 3 * QUARTERS;
const MORE_EVERY: Duration = Duration::from_millis(20);
const URGENT_EVERY: Duration = Duration::from_millis(5);
const LESS_EVERY: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::{LESS_EVERY, MORE_EVERY, STEPS, Shedder, Shedding, URGENT_EVERY, Work};
    use core::time::Duration;
    use std::time::Instant;

    fn shards(shedding: &Shedding, work: Work) -> usize {
        (0..=255)
            .filter(|&shard| shedding.sheds(work, shard))
            .count()
    }

    /// Bodies go first, then parsing, then new connections, a quarter of the shards at a time; what
    /// is shed comes back in the other order.
    #[test]
    fn work_is_shed_in_order_and_by_shard() {
        let shedding = Shedding::default();
        let all = [Work::Bodies, Work::Parsing, Work::Connections];
        let mut before = 0;
        for steps in 0..=STEPS {
            shedding.set(steps);
            let counts = all.map(|work| shards(&shedding, work));
            assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
            assert!(counts[1] == 0 || counts[0] == 256);
            assert!(counts[2] == 0 || counts[1] == 256);
            let sum = counts.iter().sum::<usize>();
            assert!(steps == 0 || sum == before + 64);
            before = sum;
        }
        assert_eq!(before, 3 * 256);
    }

    /// Full rings shed more, the sooner the fuller they are; only a while of calm sheds less.
    #[test]
    fn rings_say_how_much() {
        let shedding = Shedding::default();
        let mut now = Instant::now();
        let mut shedder = Shedder::new(shedding.clone(), now);
        let mut look = |quarters, passed: Duration| {
            now += passed;
            shedder.look(quarters, now)
        };
        assert_eq!(look(2, MORE_EVERY / 2), None);
        assert_eq!(shards(&shedding, Work::Bodies), 0);
        assert!(look(2, MORE_EVERY / 2).is_some_and(|line| line.contains("sheds bodies (")));
        assert_eq!(shards(&shedding, Work::Bodies), 64);
        for _ in 0..3 {
            assert_eq!(look(4, URGENT_EVERY), None);
        }
        assert!(look(4, URGENT_EVERY).is_some_and(|line| line.contains("and parsing")));
        for _ in 0..100 {
            look(3, URGENT_EVERY);
        }
        assert_eq!(shards(&shedding, Work::Connections), 256);
        assert_eq!(look(1, LESS_EVERY), None);
        assert_eq!(look(0, LESS_EVERY / 2), None);
        assert_eq!(shards(&shedding, Work::Connections), 256);
        let told = (0..2 * u32::from(STEPS)).filter_map(|_| look(0, LESS_EVERY));
        assert_eq!(
            told.collect::<Vec<_>>(),
            ["overload is over: nothing is shed"]
        );
        assert_eq!(shards(&shedding, Work::Bodies), 0);
    }
}
