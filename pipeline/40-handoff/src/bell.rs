//! Waiting for another thread, without burning a core and without losing a wake-up.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::Duration;

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

    /// Calls `look` until it finds something. One thread at a time may wait at a bell.
    pub fn wait_for<R>(&self, mut look: impl FnMut() -> Option<R>) -> R {
        for round in 0u32.. {
            if let Some(found) = look() {
                return found;
            }
            match round {
                0..SPINS => (0..32).for_each(|_| core::hint::spin_loop()),
                SPINS..YIELDS => thread::yield_now(),
                _ => break,
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
            thread::park_timeout(SLEEP_MAX);
            found = look();
        }
        self.asleep.store(false, Ordering::Relaxed);
        found
    }

    #[cold]
    fn wake(&self) {
        // One wake-up is enough: whoever rings next need not make the system call again.
        if self.asleep.swap(false, Ordering::Relaxed)
            && let Ok(mut sleeper) = self.sleeper.lock()
            && let Some(thread) = sleeper.take()
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

/// Looks with pauses between them, before yielding: about 3 µs.
const SPINS: u32 = 32;
/// Looks in all before sleeping: about 100 µs where nobody else wants the core.
const YIELDS: u32 = SPINS + 200;
/// The longest sleep: what a wake-up lost against all proof would cost.
const SLEEP_MAX: Duration = Duration::from_millis(10);
