//! The ring's memory: slots that start at a line border, so that chunks are whole lines.

use crate::sync::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// A place for one item, used by one side at a time.
pub(crate) type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// A power of two of slots. Knows nothing of which hold an item, so it never drops one.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    first: NonNull<Slot<T>>,
    mask: usize,
}

impl<T> Slots<T> {
    /// # Panics
    ///
    /// If so many slots do not fit the address space.
    pub(crate) fn new(count: usize) -> Self {
        let Some(count) = count.max(1).checked_next_power_of_two() else {
            panic!("a ring of {count} slots does not fit the address space");
        };
        let layout = Self::layout(count);
        // SAFETY: the size is not 0: `count >= 1`, and `layout` pads to at least one line.
        let memory = unsafe { alloc(layout) };
        let Some(first) = NonNull::new(memory.cast::<Slot<T>>()) else {
            handle_alloc_error(layout)
        };
        for index in 0..count {
            // SAFETY: `index < count`: inside the allocation, which `layout` made for `count`.
            let slot = unsafe { first.add(index) };
            // SAFETY: in bounds, aligned (see `layout`), and nobody else has the pointer yet.
            unsafe { slot.write(UnsafeCell::new(MaybeUninit::uninit())) };
        }
        Self {
            first,
            mask: count - 1,
        }
    }

    /// The slot of a position.
    #[inline]
    pub(crate) fn at(&self, position: usize) -> &Slot<T> {
        // SAFETY: `position & mask <= mask = count - 1`: inside the allocation.
        let slot = unsafe { self.first.add(position & self.mask) };
        // SAFETY: initialised in `new`, lives as long as `self`, and is only ever shared: what
        // it holds is changed through its `UnsafeCell`.
        unsafe { slot.as_ref() }
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.mask + 1
    }

    /// # Panics
    ///
    /// If so many slots do not fit the address space.
    fn layout(count: usize) -> Layout {
        match Layout::array::<Slot<T>>(count).and_then(|layout| layout.align_to(LINE_BYTES)) {
            Ok(layout) => layout.pad_to_align(),
            Err(_) => panic!("a ring of {count} slots does not fit the address space"),
        }
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        let slots = NonNull::slice_from_raw_parts(self.first, self.count());
        // SAFETY: `new` initialised all of them; `&mut self` is the last user. Dropping a
        // `MaybeUninit` drops no item.
        unsafe { slots.drop_in_place() };
        // SAFETY: allocated in `new` with this layout, which depends on the count only.
        unsafe { dealloc(self.first.as_ptr().cast(), Self::layout(self.count())) };
    }
}

/// 128, not 64: x86 cores fetch lines in pairs.
const LINE_BYTES: usize = 128;
