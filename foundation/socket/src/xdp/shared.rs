//! Memory that an AF_XDP socket and the kernel share: frames, and two rings that say whose they
//! are.
//!
//! ```text
//!  fill ring:    places of frames that are free ──► kernel
//!  receive ring: places of packets              ◄── kernel
//! ```

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A mapping of this process, unmapped in the end.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is this value's alone; nothing in it is tied to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Of a socket's ring, at one of the kernel's offsets for them; or of zeros.
    fn new(len: usize, of: Option<(&File, i64)>) -> io::Result<Self> {
        let (flags, descriptor, offset) = match of {
            Some((socket, offset)) => (libc::MAP_SHARED, socket.as_raw_fd(), offset),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        // SAFETY: a new mapping, placed by the kernel. It stays valid when the descriptor is
        // closed, until `munmap`.
        let base = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_POPULATE,
                descriptor,
                offset,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { base, len })
    }

    /// The place of so many bytes, if they lie within.
    fn at(&self, at: usize, len: usize) -> Option<*mut u8> {
        if at.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: within the mapping, as was just looked.
        Some(unsafe { self.base.as_ptr().add(at) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, once; no borrow of it is left.
        let unmapped = unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert_eq!(unmapped, 0);
    }
}

/// Frames, some of which are the kernel's.
#[derive(Debug)]
pub(super) struct Frames(Mapping);

impl Frames {
    pub(super) fn new(count: u32) -> io::Result<Self> {
        Mapping::new(count as usize * FRAME_LEN, None).map(Self)
    }

    /// What the kernel is to know of them.
    pub(super) fn registration(&self) -> libc::xdp_umem_reg {
        libc::xdp_umem_reg {
            addr: self.0.base.as_ptr().expose_provenance() as u64,
            len: self.0.len as u64,
            chunk_size: FRAME_LEN as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        }
    }

    /// Bytes of a frame that is ours: of a descriptor that the kernel has handed over, until its
    /// frame is given back. None if they do not lie within one frame.
    pub(super) fn bytes(&self, descriptor: Descriptor) -> Option<&[u8]> {
        let (at, len) = (
            usize::try_from(descriptor.place).ok()?,
            descriptor.len as usize,
        );
        let within = at % FRAME_LEN + len <= FRAME_LEN;
        let start = self.0.at(at, len).filter(|_| within)?;
        // SAFETY: within the mapping. The frame is ours by the receive ring, so the kernel does
        // not write it until it is given back, which takes the socket mutably.
        Some(unsafe { core::slice::from_raw_parts(start, len) })
    }

    /// Zeros before a packet in a frame that is ours: where the next one has its time.
    pub(super) fn clear_before(&mut self, descriptor: Descriptor, len: usize) {
        let place = usize::try_from(descriptor.place).unwrap_or(0);
        let start = (place % FRAME_LEN).checked_sub(len).map(|_| place - len);
        if let Some(start) = start.and_then(|start| self.0.at(start, len)) {
            // SAFETY: within the mapping, and in a frame that is ours; borrows of it have ended.
            unsafe { start.write_bytes(0, len) };
        }
    }
}

/// A packet, or a part of one: where it lies among the frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Descriptor {
    pub(super) place: u64,
    pub(super) len: u32,
    /// Another part follows.
    pub(super) goes_on: bool,
}

/// One ring: a producer, a consumer and places between them.
#[derive(Debug)]
struct Ring {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    places: usize,
    place_len: usize,
    mask: u32,
}

impl Ring {
    fn map(
        socket: &File,
        (page, offsets): (i64, libc::xdp_ring_offset),
        count: u32,
        place_len: usize,
    ) -> io::Result<Self> {
        let at = |offset: u64| usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidData);
        let places = at(offsets.desc)?;
        let ring = Self {
            memory: Mapping::new(places + count as usize * place_len, Some((socket, page)))?,
            producer: at(offsets.producer)?,
            consumer: at(offsets.consumer)?,
            places,
            place_len,
            mask: count - 1,
        };
        for index in [ring.producer, ring.consumer] {
            let place = ring
                .memory
                .at(index, 4)
                .filter(|place| place.addr() % 4 == 0);
            place.ok_or(io::ErrorKind::InvalidData)?;
        }
        let is_aligned = (ring.memory.base.addr().get() + places).is_multiple_of(8);
        is_aligned
            .then_some(ring)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn index(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `map` has looked that it lies within the mapping.
        let place = unsafe { self.memory.base.as_ptr().add(at) };
        // SAFETY: aligned, as `map` has looked, and valid as long as the mapping, which `&self`
        // keeps. The kernel and this process access it as a whole word, this process atomically.
        unsafe { AtomicU32::from_ptr(place.cast()) }
    }

    /// Where the place of a running number is.
    fn place(&self, number: u32) -> *mut u8 {
        let at = self.places + (number & self.mask) as usize * self.place_len;
        // SAFETY: the mapping has `mask + 1` places of this length from `places` on.
        unsafe { self.memory.base.as_ptr().add(at) }
    }
}

/// The ring of free frames.
#[derive(Debug)]
pub(super) struct Fill {
    ring: Ring,
    next: u32,
}

impl Fill {
    /// Maps the ring, and gives the kernel all frames, of which there must be as many as places.
    pub(super) fn map(
        socket: &File,
        offsets: libc::xdp_ring_offset,
        count: u32,
    ) -> io::Result<Self> {
        let page = (libc::XDP_UMEM_PGOFF_FILL_RING as i64, offsets);
        let ring = Ring::map(socket, page, count, size_of::<u64>())?;
        let mut fill = Self { ring, next: 0 };
        for frame in 0..u64::from(count) {
            fill.put(frame * FRAME_LEN as u64);
        }
        fill.publish();
        Ok(fill)
    }

    /// Gives back the frame of a place.
    pub(super) fn put(&mut self, place: u64) {
        let frame = place & !(FRAME_LEN as u64 - 1);
        let to = self.ring.place(self.next).cast::<u64>();
        // SAFETY: aligned and within the mapping. It is free: there are as many places as frames,
        // and this frame was ours.
        unsafe { to.write(frame) };
        self.next = self.next.wrapping_add(1);
    }

    pub(super) fn publish(&self) {
        // Release: places are written, and reads of frames over, when the kernel sees this.
        let producer = self.ring.index(self.ring.producer);
        producer.store(self.next, Ordering::Release);
    }
}

/// The ring of packets.
#[derive(Debug)]
pub(super) struct Receive {
    ring: Ring,
    next: u32,
    /// The producer, as it was seen last.
    end: u32,
}

impl Receive {
    pub(super) fn map(
        socket: &File,
        offsets: libc::xdp_ring_offset,
        count: u32,
    ) -> io::Result<Self> {
        let page = (libc::XDP_PGOFF_RX_RING, offsets);
        let ring = Ring::map(socket, page, count, size_of::<libc::xdp_desc>())?;
        Ok(Self {
            ring,
            next: 0,
            end: 0,
        })
    }

    /// The descriptor so many behind the next one.
    pub(super) fn descriptor(&mut self, ahead: u32) -> Option<Descriptor> {
        if self.end.wrapping_sub(self.next) <= ahead {
            self.end = self.seen();
            if self.end.wrapping_sub(self.next) <= ahead {
                return None;
            }
        }
        let from = self.ring.place(self.next.wrapping_add(ahead));
        // SAFETY: aligned to 8 and within the mapping. The place is before the producer, so the
        // kernel has written it and does not until `take`.
        let one = unsafe { from.cast::<libc::xdp_desc>().read() };
        Some(Descriptor {
            place: one.addr,
            len: one.len,
            goes_on: one.options & libc::XDP_PKT_CONTD != 0,
        })
    }

    /// Takes so many descriptors.
    pub(super) fn take(&mut self, count: u32) {
        self.next = self.next.wrapping_add(count);
        // Release: our reads of the places are over when the kernel sees this.
        let consumer = self.ring.index(self.ring.consumer);
        consumer.store(self.next, Ordering::Release);
    }

    /// How many descriptors wait.
    pub(super) fn waiting(&self) -> u32 {
        self.seen().wrapping_sub(self.next)
    }

    fn seen(&self) -> u32 {
        // Acquire: what the kernel wrote before is seen behind this.
        let producer = self.ring.index(self.ring.producer);
        producer.load(Ordering::Acquire)
    }
}

/// Bytes of a frame, a divisor of a page. Longer packets have several.
pub(super) const FRAME_LEN: usize = 2048;
