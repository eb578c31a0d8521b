//! An allocator that counts, for tests of the promise that nothing is allocated per packet.

use core::cell::Cell;
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, counting each thread's calls.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: flowpin_memory::CountingAllocator = flowpin_memory::CountingAllocator;
///
/// let before = flowpin_memory::CountingAllocator::count_here();
/// let kept = vec![1u8];
/// assert_eq!(flowpin_memory::CountingAllocator::count_here() - before, 1);
/// # drop(kept);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

thread_local! {
    // Without a destructor and with a constant start, so that the allocator itself may use it.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

impl CountingAllocator {
    /// How often the calling thread has allocated or reallocated so far; 0 for ever unless this
    /// is the program's `#[global_allocator]`.
    pub fn count_here() -> u64 {
        COUNT.try_with(Cell::get).unwrap_or(0)
    }

    fn count() {
        // Fails only while the thread ends; what it allocates then is not counted.
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    }
}

// SAFETY: every call is passed to the system's allocator unchanged, with the caller's promises;
// counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count();
        // SAFETY: the caller's promise is the one that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_len: usize) -> *mut u8 {
        Self::count();
        // SAFETY: as above; `memory` came from `System` through this allocator.
        unsafe { System.realloc(memory, layout, new_len) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
