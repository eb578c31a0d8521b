//! An allocator that ends the process in order when the system has no memory left.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The system's allocator. Where that has no memory, the process says so in one line and exits with
/// code 1, instead of a trap and a trace: the standard library's answer. Files stay as they are,
/// and writes that were begun with [`whole`] are completed.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: flowpin_memory::ExitingAllocator = flowpin_memory::ExitingAllocator;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ExitingAllocator;

impl ExitingAllocator {
    /// From now on what is freed in large pieces goes back to the system at once. glibc otherwise
    /// raises the size above which it does so with the first such piece, up to 32 MiB, and each
    /// thread keeps what it has freed: with three workers and three formats 50 MiB of 174, for no
    /// gain in time (mallopt(3)).
    pub fn keep_little() {
        #[cfg(target_env = "gnu")]
        for what in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
            // SAFETY: sets a number; nothing depends on it but what memory is kept.
            let _unchanged = unsafe { libc::mallopt(what, LARGE) };
        }
    }
}

/// From how many bytes on a piece is large.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1 << 20;

/// Writes that are under way. No data hangs on it.
static WRITES: AtomicU32 = AtomicU32::new(0);

/// Does what must not be cut short if another thread finds no memory. `write` must not allocate:
/// nobody would wait for it then.
pub fn whole<R>(write: impl FnOnce() -> R) -> R {
    struct Under;
    impl Drop for Under {
        fn drop(&mut self) {
            // Release, paired with `exit_without_memory`: the write is done.
            WRITES.fetch_sub(1, Ordering::Release);
        }
    }
    WRITES.fetch_add(1, Ordering::Relaxed);
    let _under = Under;
    write()
}

/// What is said.
const MESSAGE: &[u8] = b"flowpin: the system has no memory left for this process; \
raise its limit (ulimit -v), or use a smaller --memory or fewer workers\n";

/// Waits at most this often for writes under way: a pipe that nobody reads takes for ever.
const ROUNDS: u32 = 1000;

#[cold]
#[inline(never)]
pub(crate) fn exit_without_memory() -> ! {
    for _ in 0..ROUNDS {
        // Acquire, paired with `whole`.
        if WRITES.load(Ordering::Acquire) == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: the bytes are static; a failure to write changes nothing.
    let _unheard = unsafe { libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
    // SAFETY: ends the process at once: no destructor and no handler runs that may allocate.
    unsafe { libc::_exit(1) }
}

fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        exit_without_memory();
    }
    memory
}

// SAFETY: every call is passed to the system's allocator unchanged, with the caller's promises; a
// refusal does not return, and nothing unwinds.
unsafe impl GlobalAlloc for ExitingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the one that `System` asks for.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_len: usize) -> *mut u8 {
        // SAFETY: as above; `memory` came from `System` through this allocator.
        checked(unsafe { System.realloc(memory, layout, new_len) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ordering, WRITES, whole};

    /// A write that ends, or is given up, is not waited for.
    #[test]
    fn a_write_is_under_way_until_it_ends() {
        assert_eq!(whole(|| WRITES.load(Ordering::Relaxed)), 1);
        assert_eq!(WRITES.load(Ordering::Relaxed), 0);
        let given_up = std::panic::catch_unwind(|| whole(|| panic!("given up")));
        assert!(given_up.is_err());
        assert_eq!(WRITES.load(Ordering::Relaxed), 0);
    }
}
