//! Rules that replace those of a run while it goes on.
//!
//! ```text
//!  reload ──put──► Exchange ◄──next── each worker, and the input stage, at its next tick
//! ```
//!
//! Nobody waits: who has work goes on with the rules that it has until the end of its piece. Those
//! before are freed when the last one has let go of them.

use flowpin_detect::Database;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The rules of a run, where all who have them look for others.
#[derive(Clone, Debug)]
pub(crate) struct Exchange(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    current: Mutex<Arc<Database>>,
    /// How often they were replaced.
    times: AtomicU32,
    /// How many look.
    watches: AtomicU32,
    /// How many have those that are there now.
    taken: AtomicU32,
    /// Nanoseconds that one of them took for it at most.
    pause: AtomicU64,
}

impl Exchange {
    /// For the rules that a run begins with.
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self(Arc::new(Shared {
            current: Mutex::new(database),
            times: AtomicU32::new(0),
            watches: AtomicU32::new(0),
            taken: AtomicU32::new(0),
            pause: AtomicU64::new(0),
        }))
    }

    /// The rules that are there now.
    pub(crate) fn current(&self) -> Arc<Database> {
        let current = self.0.current.lock();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces them.
    pub(crate) fn put(&self, database: Arc<Database>) {
        let shared = &*self.0;
        let mut current = shared
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *current = database;
        shared.taken.store(0, Ordering::Relaxed);
        shared.pause.store(0, Ordering::Relaxed);
        // Within the lock: who sees that there are others takes these, and counts as having them.
        shared.times.fetch_add(1, Ordering::Release);
    }

    /// Whether all who look have the rules that are there now.
    pub(crate) fn is_taken(&self) -> bool {
        let shared = &*self.0;
        shared.taken.load(Ordering::Acquire) >= shared.watches.load(Ordering::Relaxed)
    }

    /// How long one of those who took the rules that are there now was kept from its packets.
    pub(crate) fn pause(&self) -> Duration {
        Duration::from_nanos(self.0.pause.load(Ordering::Relaxed))
    }

    /// Somebody who has the first rules, and looks for others.
    pub(crate) fn watch(&self) -> Watch {
        self.0.watches.fetch_add(1, Ordering::Relaxed);
        Watch {
            exchange: self.clone(),
            seen: 0,
        }
    }
}

/// One who has the rules of a run.
#[derive(Debug)]
pub(crate) struct Watch {
    exchange: Exchange,
    /// How often they were replaced by then.
    seen: u32,
}

impl Watch {
    /// Whether others have replaced those at hand.
    // PERF: once a piece.
    #[inline]
    pub(crate) fn has_next(&self) -> bool {
        self.exchange.0.times.load(Ordering::Relaxed) != self.seen
    }

    /// The rules that have replaced those at hand, if any have.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Arc<Database>> {
        if !self.has_next() {
            return None;
        }
        let shared = &*self.exchange.0;
        let current = shared
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.seen = shared.times.load(Ordering::Acquire);
        Some(Arc::clone(&current))
    }

    /// The rules that replace those at hand are in their place, after so long.
    pub(crate) fn took(&self, pause: Duration) {
        let nanos = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        let shared = &*self.exchange.0;
        if shared.times.load(Ordering::Relaxed) != self.seen {
            // Others are there already, which are counted when they are taken.
            return;
        }
        shared.pause.fetch_max(nanos, Ordering::Relaxed);
        // Release: who sees that all have them sees how long that took.
        shared.taken.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::Exchange;
    use flowpin_detect::Database;
    use std::sync::Arc;
    use std::time::Duration;

    /// Each takes what replaces its rules once; what was replaced meanwhile is skipped.
    #[test]
    fn each_takes_the_last_rules_once() {
        let database = || Arc::new(Database::new(Arc::default()));
        let exchange = Exchange::new(database());
        let mut watches = [exchange.watch(), exchange.watch()];
        assert!(watches.iter_mut().all(|one| one.next().is_none()));
        exchange.put(database());
        let last = database();
        exchange.put(Arc::clone(&last));
        assert!(!exchange.is_taken());
        for watch in &mut watches {
            assert!(watch.next().is_some_and(|one| Arc::ptr_eq(&one, &last)));
            assert!(watch.next().is_none());
            assert!(!exchange.is_taken());
        }
        for (watch, millis) in watches.iter().zip([7, 3]) {
            watch.took(Duration::from_millis(millis));
        }
        assert!(exchange.is_taken());
        assert_eq!(exchange.pause(), Duration::from_millis(7));
    }
}
