//! A word to threads that look all the time whether a closer look may find something.

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// Whether there may be something, in one cache line that is read much and written little.
///
/// A closer look takes a lock, or visits the rings of all workers. Threads that have nothing else
/// to do would look every few hundred nanoseconds, and take the lines of the lock and of the rings
/// from those that work.
///
/// Nothing is overlooked: who raises it has changed what is looked at before, and who takes it
/// looks afterwards. With a fence between the two steps on both sides, either the change is seen by
/// that look, or the hint stays raised for the next one.
///
/// ```
/// use flowpin_handoff::Hint;
///
/// let hint = Hint::default();
/// assert!(!hint.take());
/// assert!(hint.raise(), "news");
/// assert!(!hint.raise(), "known by now");
/// assert!(hint.take());
/// assert!(!hint.take());
/// ```
#[derive(Debug, Default)]
pub struct Hint(AtomicBool);

impl Hint {
    /// Says that there is something more. Call it after the change; true if it was not said yet.
    #[inline]
    pub fn raise(&self) -> bool {
        // SeqCst: orders our change before the load below; pairs with the fence in `take`.
        fence(Ordering::SeqCst);
        !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether there may be something.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether there may be something; if so, the caller looks now.
    #[inline]
    pub fn take(&self) -> bool {
        let is_raised = self.is_raised() && self.0.swap(false, Ordering::Relaxed);
        if is_raised {
            // SeqCst: orders the swap before the look; pairs with the fence in `raise`.
            fence(Ordering::SeqCst);
        }
        is_raised
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::Hint;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering};

    /// `RUSTFLAGS="--cfg loom" cargo test -p flowpin-handoff --release --lib`: whatever the
    /// interleaving, in the end every change was seen by a look, or the hint is raised.
    #[test]
    fn nothing_is_overlooked() {
        loom::model(|| {
            let shared = Arc::new((Hint::default(), AtomicU32::new(0)));
            let other = {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || {
                    for step in 1..=2 {
                        shared.1.store(step, Ordering::Relaxed);
                        shared.0.raise();
                    }
                })
            };
            let mut seen = 0;
            for _ in 0..2 {
                if shared.0.take() {
                    seen = shared.1.load(Ordering::Relaxed);
                }
            }
            other.join().unwrap();
            assert!(seen == 2 || shared.0.is_raised());
        });
    }
}
