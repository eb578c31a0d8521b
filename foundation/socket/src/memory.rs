//! The ring's memory, which the kernel and this process share.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A socket's ring, mapped: blocks of one length, each either the kernel's or ours.
#[derive(Debug)]
pub(crate) struct Memory {
    base: NonNull<u8>,
    block_len: usize,
    block_count: usize,
}

// SAFETY: the mapping is this value's alone; nothing in it is tied to a thread.
unsafe impl Send for Memory {}

impl Memory {
    /// Maps the ring of a socket that has one of these measures.
    pub(crate) fn map(socket: &File, block_len: usize, block_count: usize) -> io::Result<Self> {
        let len = block_len * block_count;
        // SAFETY: a new mapping, placed by the kernel, of a descriptor that is open. It stays valid
        // when the descriptor is closed, until `munmap`.
        let base = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self {
            base,
            block_len,
            block_count,
        })
    }

    pub(crate) const fn block_count(&self) -> usize {
        self.block_count
    }

    /// A block, if it is ours.
    pub(crate) fn block(&self, index: usize) -> Option<&[u8]> {
        let status = self.status(index)?;
        // Acquire: what the kernel wrote before it gave us the block is seen behind this.
        if status.load(Ordering::Acquire) & OURS == 0 {
            return None;
        }
        // SAFETY: the block lies within the mapping (`status` looked). It is ours, so the kernel
        // does not write it until `give_back`, which needs `&mut self` and so ends this borrow.
        Some(unsafe { core::slice::from_raw_parts(self.at(index), self.block_len) })
    }

    /// Gives a block back to the kernel.
    pub(crate) fn give_back(&mut self, index: usize) {
        if let Some(status) = self.status(index) {
            // Release: our reads of the block are over when the kernel sees this.
            status.store(KERNELS, Ordering::Release);
        }
    }

    fn status(&self, index: usize) -> Option<&AtomicU32> {
        if index >= self.block_count {
            return None;
        }
        // SAFETY: within the block, as blocks are at least a page long.
        let place = unsafe { self.at(index).add(STATUS_AT) };
        // SAFETY: aligned (blocks are aligned to pages, the place to 8) and valid as long as the
        // mapping, which `&self` keeps. The kernel and this process only access it as a whole
        // word, this process atomically.
        Some(unsafe { AtomicU32::from_ptr(place.cast()) })
    }

    /// The first byte of a block, which must be one of the mapping's.
    fn at(&self, index: usize) -> *mut u8 {
        // SAFETY: `index` is below `block_count` (both callers looked), so it is in the mapping.
        unsafe { self.base.as_ptr().add(index * self.block_len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let len = self.block_len * self.block_count;
        // SAFETY: the whole mapping, once; no borrow of it is left.
        let unmapped = unsafe { libc::munmap(self.base.as_ptr().cast(), len) };
        debug_assert_eq!(unmapped, 0);
    }
}

/// Where in a block its status is: behind the version and the offset of private data
/// (linux/if_packet.h, `tpacket_block_desc`).
const STATUS_AT: usize = 8;
/// `TP_STATUS_USER`.
const OURS: u32 = 1;
const KERNELS: u32 = 0;
