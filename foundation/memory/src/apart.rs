//! Values and blocks by the C library's `malloc`, to measure what pools save; only in programs that
//! are built with `--cfg flowpin_bench`.
//!
//! ```text
//!  handle ──► places │ addr │ addr │ 0 │ …   ──► the pool's own slot, or a block of `malloc`
//! ```
//!
//! Handles stay, as the stages hold them, and lead to a place by a table. What the table costs is
//! seen where the pool's own slots are reached by it, too.

use crate::Reserved;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, Ordering};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::io;

/// Where pools that are made from here on have their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Places {
    /// In their own memory, as they are for use.
    Pool,
    /// There, but reached by a table of places.
    PoolByTable,
    /// In blocks of the allocator, by the same table.
    Malloc,
}

static PLACES: AtomicU8 = AtomicU8::new(Places::Pool as u8);

/// Where pools that are made from here on, by any thread, have their values.
pub fn place_values(places: Places) {
    // Relaxed: threads that make pools are started afterwards.
    PLACES.store(places as u8, Ordering::Relaxed);
}

/// The table of a pool whose values are elsewhere.
#[derive(Debug)]
pub(crate) struct Apart {
    /// By handle: the address; 0 for none.
    places: Reserved<usize>,
    layout: Layout,
    from_heap: bool,
}

impl Apart {
    /// For values of a layout; none if they are to be in the pool.
    pub(crate) fn new(layout: Layout, count: u32) -> io::Result<Option<Self>> {
        let places = PLACES.load(Ordering::Relaxed);
        if places == Places::Pool as u8 || layout.size() == 0 {
            return Ok(None);
        }
        Ok(Some(Self {
            places: Reserved::new(count as usize)?,
            layout,
            from_heap: places == Places::Malloc as u8,
        }))
    }

    /// A place for a handle that was just given out; `own` is the pool's. Its bytes may be
    /// anything.
    #[inline]
    pub(crate) fn make(&mut self, handle: u32, own: NonNull<u8>) -> NonNull<u8> {
        let place = if self.from_heap {
            // SAFETY: the layout's size is not 0 (`new`).
            let block = unsafe { alloc(self.layout) };
            let Some(block) = NonNull::new(block) else {
                handle_alloc_error(self.layout)
            };
            settled(block)
        } else {
            own
        };
        if let Some(known) = self.places.get_mut(handle as usize) {
            *known = place.as_ptr().expose_provenance();
        }
        place
    }

    /// The place of a handle that was given out and not back.
    #[inline]
    pub(crate) fn at(&self, handle: u32) -> Option<NonNull<u8>> {
        let place = *self.places.get(handle as usize)?;
        NonNull::new(core::ptr::with_exposed_provenance_mut(place))
    }

    /// Takes a handle's place back.
    #[inline]
    pub(crate) fn free(&mut self, handle: u32) {
        let Some(place) = self.at(handle) else {
            return;
        };
        if let Some(known) = self.places.get_mut(handle as usize) {
            *known = 0;
        }
        if self.from_heap {
            // SAFETY: made in `make` with this layout, and not freed before: its entry was not 0.
            unsafe { dealloc(place.as_ptr(), self.layout) };
        }
    }

    /// The bytes of a handle's place; none if it has no place.
    #[inline]
    pub(crate) fn bytes(&self, handle: u32) -> &[u8] {
        let Some(place) = self.at(handle) else {
            return &[];
        };
        // SAFETY: `layout.size()` bytes, all with some value (`settled`, or the zeros of a
        // mapping), alive until `free`, which needs `&mut self`.
        unsafe { core::slice::from_raw_parts(place.as_ptr(), self.layout.size()) }
    }

    /// The same, to write.
    #[inline]
    pub(crate) fn bytes_mut(&mut self, handle: u32) -> &mut [u8] {
        let Some(place) = self.at(handle) else {
            return &mut [];
        };
        // SAFETY: as in `bytes`; each handle has a place of its own, and `self` is borrowed
        // exclusively.
        unsafe { core::slice::from_raw_parts_mut(place.as_ptr(), self.layout.size()) }
    }

    /// Takes all places back.
    pub(crate) fn clear(&mut self, high_water: u32) {
        for handle in 0..high_water {
            self.free(handle);
        }
    }

    /// Asks the processor to fetch the first line of a handle's place.
    #[inline]
    pub(crate) fn prefetch(&self, handle: u32) {
        if let Some(place) = self.at(handle) {
            flowpin_cpu::prefetch::address(place.as_ptr());
        }
    }
}

/// Bytes that nobody has written have no value for the compiler. Behind this they have: it cannot
/// know that nothing was written here. Costs nothing, as in C.
#[inline]
fn settled(block: NonNull<u8>) -> NonNull<u8> {
    // SAFETY: no instruction; the pointer is only named.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) block.as_ptr(), options(nostack, preserves_flags));
    }
    block
}
