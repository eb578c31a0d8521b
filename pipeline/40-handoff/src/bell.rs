//! Waiting for another thread, without burning a core and without losing a wake-up.

#[cfg(loom)]
use loom::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering, fence},
    },
    thread::{self, Thread, park as park_a_while},
};
use std::sync::Arc;
#[cfg(not(loom))]
use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering, fence},
    },
    thread::{self, Thread},
};

/// Wakes one thread that waits until something is there.
///
/// The waiter looks, spins a little, then yields, then sleeps. Spinning wins where each thread
/// has its core and the other side is a few microseconds away; yielding where threads share a
/// core; sleeping where nothing comes for long. A ringer that finds nobody asleep pays a fence.
///
/// No wake-up is lost: the waiter says that it sleeps and then looks once more; the ringer
/// changes what the waiter looks at and then asks whether it sleeps. With a fence between the
/// two steps on both sides, one of them sees the other. The sleep has an end all the same.
#[derive(Debug, Default)]
pub struct Bell {
    asleep: AtomicBool,
    sleeper: Mutex<Option<Thread>>,
}

impl Bell {
    /// Wakes the waiter if it sleeps. Call it after the change that it waits for.
    #[inline]
    pub fn ring(&self) {
        // SeqCst: orders our change before the load below; pairs with the fence in `sleep`.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Wakes one of several waiters, the first that sleeps, if any does. Call it after the change
    /// that any of them might wait for.
    pub fn ring_one<'a>(bells: impl IntoIterator<Item = &'a Self>) {
        // SeqCst: as in `ring`.
        fence(Ordering::SeqCst);
        let mut bells = bells.into_iter();
        if let Some(bell) = bells.find(|bell| bell.asleep.load(Ordering::Relaxed)) {
            bell.wake();
        }
    }

    /// Calls `look` until it finds something. One thread at a time may wait at a bell.
    pub fn wait_for<R>(&self, mut look: impl FnMut() -> Option<R>) -> R {
        // The model sleeps at once: it is about lost wake-ups.
        let rounds = if cfg!(loom) { 0 } else { YIELDS };
        for round in 0..rounds {
            if let Some(found) = look() {
                return found;
            }
            if round < SPINS {
                (0..32).for_each(|_| core::hint::spin_loop());
            } else {
                thread::yield_now();
            }
        }
        loop {
            if let Some(found) = self.sleep(&mut look) {
                return found;
            }
        }
    }

    /// Sleeps until rung, or a little while, unless a last look finds something.
    fn sleep<R>(&self, look: &mut impl FnMut() -> Option<R>) -> Option<R> {
        if let Ok(mut sleeper) = self.sleeper.lock() {
            *sleeper = Some(thread::current());
        }
        self.asleep.store(true, Ordering::Relaxed);
        // SeqCst: orders the store above before the look below; pairs with the fence in `ring`.
        fence(Ordering::SeqCst);
        let mut found = look();
        if found.is_none() {
            park_a_while();
            found = look();
        }
        self.asleep.store(false, Ordering::Relaxed);
        found
    }

    /// Wakes the waiter. Several rings in a row cost one system call: a thread that was told
    /// once is not told again before it has run.
    #[cold]
    fn wake(&self) {
        if let Ok(sleeper) = self.sleeper.lock()
            && let Some(thread) = &*sleeper
        {
            thread.unpark();
        }
    }
}

/// Rings a bell when dropped. An end holds one behind its rings, so that these are closed before
/// the other side is told to look.
#[derive(Debug)]
pub(crate) struct LastWord(pub(crate) Arc<Bell>);

impl Drop for LastWord {
    fn drop(&mut self) {
        self.0.ring();
    }
}

/// The model has no timeout: a wake-up that were lost would hang it.
#[cfg(not(loom))]
fn park_a_while() {
    thread::park_timeout(core::time::Duration::from_millis(10));
}

/// Looks with pauses between them, before yielding: about 3 µs.
const SPINS: u32 = 32;
/// Looks in all before sleeping: about 100 µs where nobody else wants the core.
const YIELDS: u32 = SPINS + 200;

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Bell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering};

    /// `RUSTFLAGS="--cfg loom" cargo test -p flowpin-handoff --release --lib`: whatever the
    /// interleaving, a waiter that sleeps without end is woken for every change that it waits
    /// for. Without either fence it is not.
    #[test]
    fn no_wake_up_is_lost() {
        loom::model(|| {
            let bell = Arc::new(Bell::default());
            let count = Arc::new(AtomicU32::new(0));
            // This thread rings, for loom takes an `unpark` for the end of whatever its thread
            // waits for, be it the `join` below.
            let waiter = {
                let (bell, count) = (Arc::clone(&bell), Arc::clone(&count));
                loom::thread::spawn(move || {
                    for step in 1..=2 {
                        bell.wait_for(|| (count.load(Ordering::Relaxed) >= step).then_some(()));
                    }
                })
            };
            for step in 1..=2 {
                count.store(step, Ordering::Relaxed);
                bell.ring();
            }
            waiter.join().unwrap();
        });
    }
}
