//! Values behind `u32` handles: freed ones reused first, nothing allocated after the start.
//!
//! ```text
//!  slots   │ v │ v │ - │ v │ - │ v ┊ never used, not resident …      ┊
//!          0                       high_water                 capacity
//!  freed   │ 2 │ 4 │                last freed, first reused
//! ```
//!
//! The free list stands beside the slots, not in them: so a slot below the high-water mark always
//! holds a whole value, and a stale handle reads an old value, never torn bytes.

#[cfg(test)]
mod tests;

use crate::Pool;
use crate::exiting::exit_without_memory;
use crate::handles::Handles;
use crate::mapping::Mapping;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};
use std::io;

/// A pool of values of one type.
///
/// A handle is a plain number: forgetting one leaks its slot, using one after `remove` reads
/// whatever is there now, removing one twice may hand the slot out twice. These are mistakes
/// (refused in debug builds), but never unsafe.
///
/// ```
/// let mut slab = flowpin_memory::Slab::with_capacity(1000)?;
/// let handle = slab.insert("first").unwrap();
/// slab[handle] = "changed";
/// slab.remove(handle);
/// assert_eq!(slab.insert("second"), Some(handle)); // its lines are still in the cache
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Slab<T> {
    slots: Mapping,
    handles: Handles,
    values: PhantomData<T>,
    #[cfg(flowpin_bench)]
    apart: Option<crate::apart::Apart>,
}

impl<T: Copy> Slab<T> {
    /// No slab holds more; `u32::MAX` is never a handle, so it may mean "none".
    pub const CAPACITY_MAX: u32 = u32::MAX;

    /// For `capacity` values; address space is reserved as they come.
    ///
    /// # Errors
    ///
    /// If so many do not fit any address space.
    pub fn with_capacity(capacity: u32) -> io::Result<Self> {
        let mut slots = Mapping::growing::<T>(capacity as usize)?;
        slots.prefer_huge_pages_when_large();
        #[cfg(flowpin_bench)]
        let apart = crate::apart::Apart::new(core::alloc::Layout::new::<T>(), capacity)?;
        // The table has addresses, which growing would change.
        #[cfg(flowpin_bench)]
        if apart.is_some() {
            slots.grow(usize::MAX)?;
        }
        Ok(Self {
            slots,
            handles: Handles::new(capacity)?,
            values: PhantomData,
            #[cfg(flowpin_bench)]
            apart,
        })
    }

    /// Stores a value; `None` if all slots are in use.
    #[inline]
    pub fn insert(&mut self, value: T) -> Option<u32> {
        let handle = self.take_handle()?;
        // SAFETY: handles are below the room that the mapping has.
        let slot = unsafe { self.slots.base::<T>().add(handle as usize) };
        #[cfg(flowpin_bench)]
        let slot = self.elsewhere(handle, slot);
        // SAFETY: the slot is mapped, writable, aligned and ours by `&mut self`; `T: Copy` needs
        // no drop of what was there.
        unsafe { slot.write(value) };
        Some(handle)
    }

    #[inline]
    fn take_handle(&mut self) -> Option<u32> {
        let slots = &mut self.slots;
        self.handles.take(|room| {
            let bytes = room.saturating_mul(size_of::<T>());
            if slots.grow(bytes).is_err() {
                exit_without_memory();
            }
        })
    }

    /// Frees a handle's slot. A handle that was never given out is ignored.
    #[inline]
    pub fn remove(&mut self, handle: u32) {
        #[cfg(flowpin_bench)]
        if let Some(apart) = &mut self.apart {
            apart.free(handle);
        }
        self.handles.put_back(handle);
    }

    /// The value of a handle; `None` only if that handle was never given out.
    #[inline]
    pub fn get(&self, handle: u32) -> Option<&T> {
        if handle >= self.handles.high_water() {
            return None;
        }
        // SAFETY: `handle < high_water <= room`: inside the mapping.
        let slot = unsafe { self.slots.base::<T>().add(handle as usize) };
        #[cfg(flowpin_bench)]
        let slot = match &self.apart {
            Some(apart) => apart.at(handle)?.cast(),
            None => slot,
        };
        // SAFETY: every slot below `high_water` was written by `insert`, or is bytes (`take`), of
        // which those of a fresh mapping, zeros, are as good as any; only whole values are ever
        // written. The borrow of `self` keeps writers away.
        Some(unsafe { slot.as_ref() })
    }

    /// The value of a handle, to change it; `None` only if that handle was never given out.
    #[inline]
    pub fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        if handle >= self.handles.high_water() {
            return None;
        }
        // SAFETY: as in `get`.
        let mut slot = unsafe { self.slots.base::<T>().add(handle as usize) };
        #[cfg(flowpin_bench)]
        if let Some(apart) = &self.apart {
            slot = apart.at(handle)?.cast();
        }
        // SAFETY: as in `get`; the exclusive borrow of `self` makes this the only reference.
        Some(unsafe { slot.as_mut() })
    }

    /// Asks the processor to fetch a value's first two lines: also a small value's, where one may
    /// lie across a border. Any handle is fine.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        #[cfg(flowpin_bench)]
        if let Some(apart) = &self.apart {
            return apart.prefetch(handle);
        }
        let first = self.slots.base::<u8>().as_ptr();
        // The address may lie outside for a wild handle; it is never dereferenced.
        let at = first.wrapping_add((handle as usize).wrapping_mul(size_of::<T>()));
        flowpin_cpu::prefetch::address(at);
        if const { size_of::<T>() > LINE_BYTES } {
            flowpin_cpu::prefetch::address(at.wrapping_add(LINE_BYTES));
        } else if const {
            !LINE_BYTES.is_multiple_of(if size_of::<T>() == 0 {
                1
            } else {
                size_of::<T>()
            })
        } {
            flowpin_cpu::prefetch::address(at.wrapping_add(size_of::<T>() - 1));
        }
    }

    /// The handle that the next value will get: to ask for its lines ahead. Any number if the slab
    /// is full.
    #[inline]
    pub fn next_handle(&self) -> u32 {
        self.handles.next()
    }

    /// Values in use.
    #[inline]
    pub fn len(&self) -> u32 {
        self.handles.in_use()
    }

    /// Whether no value is in use.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most values that can be in use.
    #[inline]
    pub fn capacity(&self) -> u32 {
        self.handles.capacity()
    }

    /// The most slots that were ever in use at once; handles are below it.
    #[inline]
    pub fn high_water(&self) -> u32 {
        self.handles.high_water()
    }

    /// Asks for huge pages: fewer TLB misses in a large slab, but 2 MiB resident at a time.
    ///
    /// # Errors
    ///
    /// Where the system has none; the slab works all the same.
    pub fn prefer_huge_pages(&mut self) -> io::Result<()> {
        self.slots.prefer_huge_pages()
    }

    /// Forgets the values from handle `len` on and gives their memory back to the system: for a
    /// slab that goes by the handles of another one, which was trimmed.
    pub fn truncate(&mut self, len: u32) {
        #[cfg(flowpin_bench)]
        if self.apart.is_some() {
            return;
        }
        let end = self.high_water() as usize * size_of::<T>();
        self.handles.truncate(len);
        let begin = self.high_water() as usize * size_of::<T>();
        // Refused: it stays resident, and will be overwritten.
        let _ = self.slots.discard(begin, end);
    }

    /// Forgets all values and gives their memory back to the system.
    ///
    /// # Errors
    ///
    /// Where the system refuses (locked pages); the slab is empty all the same.
    pub fn clear(&mut self) -> io::Result<()> {
        #[cfg(flowpin_bench)]
        if let Some(apart) = &mut self.apart {
            apart.clear(self.handles.high_water());
        }
        self.handles.clear()?;
        let len_bytes = self.slots.len_bytes();
        self.slots.discard(0, len_bytes)
    }
}

impl<const LEN: usize> Slab<[u8; LEN]> {
    /// Takes a slot with whatever bytes it holds: zeros, or those of a value that was removed.
    /// `None` if all slots are in use. For buffers whose user knows how much of them counts.
    #[inline]
    pub fn take(&mut self) -> Option<u32> {
        let handle = self.take_handle()?;
        #[cfg(flowpin_bench)]
        if self.apart.is_some() {
            // SAFETY: handles are below the room that the mapping has.
            let own = unsafe { self.slots.base::<[u8; LEN]>().add(handle as usize) };
            self.elsewhere(handle, own);
        }
        Some(handle)
    }
}

impl<T: Copy> Pool for Slab<T> {
    fn touched_bytes(&self) -> u64 {
        u64::from(self.handles.touched()) * (size_of::<T>() as u64 + 4)
    }

    /// Only behind the last value in use: a stale handle must never read less than a whole value.
    fn trim(&mut self) {
        #[cfg(flowpin_bench)]
        if self.apart.is_some() {
            return;
        }
        let end = self.high_water() as usize * size_of::<T>();
        if self.handles.shrink().is_ok() {
            let begin = self.high_water() as usize * size_of::<T>();
            // Refused: it stays resident, and will be overwritten.
            let _ = self.slots.discard(begin, end);
        }
    }
}

#[cfg(flowpin_bench)]
impl<T> Slab<T> {
    /// The place of a new value: where it would be, unless all are elsewhere.
    #[inline]
    fn elsewhere(&mut self, handle: u32, own: core::ptr::NonNull<T>) -> core::ptr::NonNull<T> {
        match &mut self.apart {
            Some(apart) => apart.make(handle, own.cast()).cast(),
            None => own,
        }
    }
}

#[cfg(flowpin_bench)]
impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        let high_water = self.handles.high_water();
        if let Some(apart) = &mut self.apart {
            apart.clear(high_water);
        }
    }
}

/// A cache line of the machines that we know (64 on x86, 64 or 128 elsewhere).
const LINE_BYTES: usize = 64;

impl<T: Copy> Index<u32> for Slab<T> {
    type Output = T;

    /// # Panics
    ///
    /// If the handle was never given out.
    #[inline]
    fn index(&self, handle: u32) -> &T {
        match self.get(handle) {
            Some(value) => value,
            None => never_given_out(handle),
        }
    }
}

impl<T: Copy> IndexMut<u32> for Slab<T> {
    /// # Panics
    ///
    /// If the handle was never given out.
    #[inline]
    fn index_mut(&mut self, handle: u32) -> &mut T {
        match self.get_mut(handle) {
            Some(value) => value,
            None => never_given_out(handle),
        }
    }
}

#[cold]
#[inline(never)]
fn never_given_out(handle: u32) -> ! {
    panic!("handle {handle} was never given out by this slab")
}
