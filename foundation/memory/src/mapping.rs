//! Address space from the kernel: the one place that calls `mmap`.
//!
//! Owns the range until dropped. Guarantees that it is readable, writable, zero at first and
//! aligned to [`ALIGN_MAX`], and to a huge page if it is at least one long. Pages become resident
//! when they are first written, one by one, or by [`Mapping::populate`].

use core::ptr::NonNull;
use std::io;

/// The smallest page size there is; the alignment that every mapping has.
pub(crate) const ALIGN_MAX: usize = 4096;

/// The usual huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A mapping smaller than this has small pages: a huge one that is touched once is resident as a
/// whole, and dozens of pools would add up to more than a small `--memory`.
const HUGE_WORTH_BYTES: usize = 32 << 20;

/// A private, anonymous mapping.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len_bytes: usize,
}

// SAFETY: the mapping is memory that this value alone owns; nothing in it is tied to a thread.
unsafe impl Send for Mapping {}
// SAFETY: `&Mapping` gives out the address and length only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `count` values of `T`.
    pub(crate) fn reserve<T>(count: usize) -> io::Result<Self> {
        const {
            assert!(
                align_of::<T>() <= ALIGN_MAX,
                "a page is the largest alignment"
            );
            assert!(size_of::<T>() > 0, "values without bytes need no memory");
        }
        let len_bytes = count.checked_mul(size_of::<T>()).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "{count} values of {} bytes do not fit the address space",
                    size_of::<T>()
                ),
            )
        })?;
        Self::reserve_bytes(len_bytes)
    }

    /// Reserves `len_bytes`; none at all for 0.
    fn reserve_bytes(len_bytes: usize) -> io::Result<Self> {
        if len_bytes == 0 {
            let base = NonNull::<NoPages>::dangling().cast();
            return Ok(Self { base, len_bytes });
        }
        // Room to move the start to a huge page border, so that huge pages fit from the first.
        let slack = if len_bytes >= HUGE_PAGE_BYTES {
            HUGE_PAGE_BYTES
        } else {
            0
        };
        let page = page_bytes();
        let asked = len_bytes
            .checked_next_multiple_of(page)
            .and_then(|rounded| rounded.checked_add(slack))
            .ok_or_else(|| refusal(len_bytes, &io::Error::from(io::ErrorKind::OutOfMemory)))?;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing
        // that exists.
        let start = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                asked,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(refusal(len_bytes, &io::Error::last_os_error()));
        }
        let whole = start.cast::<u8>();
        let lead = if slack == 0 {
            0
        } else {
            whole.align_offset(HUGE_PAGE_BYTES).min(slack)
        };
        let kept = asked - slack;
        // SAFETY: `lead <= slack`, so the pointer stays inside the `asked` bytes mapped.
        let base = unsafe { whole.add(lead) };
        unmap(whole, lead);
        // SAFETY: `lead + kept <= asked`: one past the kept part is still inside, or its end.
        let rest = unsafe { base.add(kept) };
        unmap(rest, slack - lead);
        let base = NonNull::new(base)
            .ok_or_else(|| refusal(len_bytes, &io::Error::from(io::ErrorKind::OutOfMemory)))?;
        Ok(Self { base, len_bytes })
    }

    /// The first byte.
    #[inline]
    pub(crate) fn base<T>(&self) -> NonNull<T> {
        self.base.cast()
    }

    /// Bytes asked for.
    pub(crate) fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Gives the whole pages inside `from..to` (bytes) back to the kernel; they read as zero
    /// again. Bytes of pages that lie partly outside are zeroed by hand.
    pub(crate) fn discard(&mut self, from: usize, to: usize) -> io::Result<()> {
        let to = to.min(self.len_bytes);
        if from >= to {
            return Ok(());
        }
        let page = page_bytes();
        let first = from.next_multiple_of(page).min(to);
        // The rest of the last page belongs to nobody else, so it may go with it.
        let last = if to == self.len_bytes {
            to.next_multiple_of(page)
        } else {
            to / page * page
        };
        let last = last.max(first);
        self.zero(from, first);
        self.zero(last.min(to), to);
        if first < last {
            self.advise(first, last - first, libc::MADV_DONTNEED)?;
        }
        Ok(())
    }

    /// Makes the pages of `from..to` resident now, so that writing them later costs no fault.
    pub(crate) fn populate(&mut self, from: usize, to: usize) {
        let to = to.min(self.len_bytes);
        if from >= to {
            return;
        }
        let page = page_bytes();
        let from = from / page * page;
        #[cfg(target_os = "linux")]
        if self
            .advise(
                from,
                to.next_multiple_of(page) - from,
                libc::MADV_POPULATE_WRITE,
            )
            .is_ok()
        {
            return;
        }
        // Kernels before 5.14: touch each page without changing it.
        for at in (from..to).step_by(page) {
            // SAFETY: `at < to <= len_bytes`: inside the mapping.
            let byte = unsafe { self.base.add(at) };
            // SAFETY: the byte is mapped, initialised (zero at first) and ours by `&mut self`.
            let value = unsafe { byte.read_volatile() };
            // SAFETY: as above.
            unsafe { byte.write_volatile(value) };
        }
    }

    /// Asks for huge pages. A refusal (not built into the kernel, switched off) changes nothing
    /// but speed.
    pub(crate) fn prefer_huge_pages(&mut self) -> io::Result<()> {
        if self.len_bytes < HUGE_WORTH_BYTES {
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        return self.advise(
            0,
            self.len_bytes.next_multiple_of(page_bytes()),
            libc::MADV_HUGEPAGE,
        );
        #[cfg(not(target_os = "linux"))]
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Asks for huge pages behind the first two MiB: what stays small has small pages, and what
    /// grows costs one fault for 512.
    pub(crate) fn prefer_huge_pages_when_large(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(rest) = self.len_bytes.checked_sub(HUGE_PAGE_BYTES)
            && self.len_bytes >= HUGE_WORTH_BYTES
        {
            // A refusal changes nothing but speed.
            let _ = self.advise(
                HUGE_PAGE_BYTES,
                rest.next_multiple_of(page_bytes()),
                libc::MADV_HUGEPAGE,
            );
        }
    }

    fn zero(&mut self, from: usize, to: usize) {
        if from < to {
            // SAFETY: `from` is inside the mapping (`from < to <= len_bytes`, see the callers).
            let start = unsafe { self.base.add(from) };
            // SAFETY: `to - from` bytes from there are mapped and ours by `&mut self`.
            unsafe { start.write_bytes(0, to - from) };
        }
    }

    fn advise(&mut self, from: usize, len: usize, advice: libc::c_int) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the callers keep `from` inside the mapping, whose last page is all ours.
        let start = unsafe { self.base.add(from) };
        // SAFETY: the range lies in our own mapping, rounded to its pages; the advices used keep
        // it mapped, and only DONTNEED changes contents (to zero), which `&mut self` permits.
        let failed = unsafe { libc::madvise(start.as_ptr().cast(), len, advice) };
        if failed == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.len_bytes > 0 {
            unmap(
                self.base.as_ptr(),
                self.len_bytes.next_multiple_of(page_bytes()),
            );
        }
    }
}

/// An address that is aligned and never read: of a mapping of nothing.
#[repr(align(4096))]
struct NoPages;
const _: () = assert!(align_of::<NoPages>() == ALIGN_MAX);

/// Unmaps a part of a mapping that the caller owns and does not use any more.
fn unmap(start: *mut u8, len: usize) {
    if len > 0 {
        // SAFETY: only called with ranges of our own mappings that nobody refers to: the trimmed
        // ends in `reserve_bytes`, the whole in `drop`. Failing leaves address space reserved.
        unsafe { libc::munmap(start.cast(), len) };
    }
}

/// The page size of this machine.
fn page_bytes() -> usize {
    // SAFETY: `sysconf` reads a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(ALIGN_MAX).max(ALIGN_MAX)
}

fn refusal(len_bytes: usize, reason: &io::Error) -> io::Error {
    io::Error::new(
        reason.kind(),
        format!(
            "cannot reserve {} MiB of address space: {reason} \
             (limited by `ulimit -v` or vm.overcommit_memory=2? try a smaller --memory)",
            len_bytes.div_ceil(1 << 20)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::Mapping;

    /// More than any machine's address space must be an error that says what to do, not a crash.
    #[test]
    fn a_reservation_that_cannot_be_is_an_error_that_says_so() {
        let error = Mapping::reserve::<u64>(1 << 58).unwrap_err();
        assert!(error.to_string().contains("--memory"), "{error}");
        assert!(Mapping::reserve::<u64>(usize::MAX).is_err());
    }

    /// Zero values need no mapping, and dropping it must not unmap anything.
    #[test]
    fn nothing_reserved_is_fine() {
        let mut none = Mapping::reserve::<u64>(0).unwrap();
        none.discard(0, 100).unwrap();
        none.populate(0, 100);
        assert_eq!(none.len_bytes(), 0);
    }
}
