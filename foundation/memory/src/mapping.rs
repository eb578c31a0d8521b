//! Address space from the kernel: the one place that calls `mmap`.
//!
//! Owns the range until dropped. Guarantees that it is readable, writable, zero at first and
//! aligned to [`ALIGN_MAX`], and to a huge page if it is at least one long. Pages become resident
//! when they are first written, one by one, or by [`Mapping::populate`].
//!
//! A [growing](Mapping::growing) one begins without address space and moves when it gets more: its
//! pages get other addresses, and no byte is copied.

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
    /// How long it may become.
    most_bytes: usize,
    huge: Huge,
}

/// Where it is to have huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Huge {
    Nowhere,
    /// Behind the first two MiB.
    WhenLarge,
    Everywhere,
}

// SAFETY: the mapping is memory that this value alone owns; nothing in it is tied to a thread.
unsafe impl Send for Mapping {}
// SAFETY: `&Mapping` gives out the address and length only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `count` values of `T`.
    pub(crate) fn reserve<T>(count: usize) -> io::Result<Self> {
        Self::reserve_bytes(Self::bytes_of::<T>(count)?)
    }

    /// Nothing yet, but up to `count` values of `T` when they are asked for.
    pub(crate) fn growing<T>(count: usize) -> io::Result<Self> {
        let most_bytes = Self::bytes_of::<T>(count)?;
        Ok(Self {
            most_bytes,
            ..Self::reserve_bytes(0)?
        })
    }

    fn bytes_of<T>(count: usize) -> io::Result<usize> {
        const {
            assert!(
                align_of::<T>() <= ALIGN_MAX,
                "a page is the largest alignment"
            );
            assert!(size_of::<T>() > 0, "values without bytes need no memory");
        }
        count.checked_mul(size_of::<T>()).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "{count} values of {} bytes do not fit the address space",
                    size_of::<T>()
                ),
            )
        })
    }

    /// Reserves `len_bytes`; none at all for 0.
    fn reserve_bytes(len_bytes: usize) -> io::Result<Self> {
        if len_bytes == 0 {
            let base = NonNull::<NoPages>::dangling().cast();
            return Ok(Self::at(base, len_bytes));
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
        Ok(Self::at(base, len_bytes))
    }

    const fn at(base: NonNull<u8>, len_bytes: usize) -> Self {
        Self {
            base,
            len_bytes,
            most_bytes: len_bytes,
            huge: Huge::Nowhere,
        }
    }

    /// Makes a growing mapping at least `len_bytes` long, and no longer than it may be. All
    /// addresses in it change; its bytes do not.
    #[cold]
    pub(crate) fn grow(&mut self, len_bytes: usize) -> io::Result<()> {
        let len_bytes = len_bytes.min(self.most_bytes);
        if len_bytes <= self.len_bytes {
            return Ok(());
        }
        let target = Self::reserve_bytes(len_bytes)?;
        let page = page_bytes();
        let (old, new) = (
            self.len_bytes.next_multiple_of(page),
            len_bytes.next_multiple_of(page),
        );
        // The two parts may differ in what they were advised, and are moved apart.
        let border = if old > HUGE_PAGE_BYTES {
            HUGE_PAGE_BYTES
        } else {
            0
        };
        // SAFETY: `border <= old`: inside, or its end.
        let from = unsafe { self.base.add(border) };
        // SAFETY: `border <= old <= new`: inside, or its end.
        let to = unsafe { target.base.add(border) };
        let moved = move_pages(self.base, target.base, border, border)
            .and_then(|()| move_pages(from, to, old - border, new - border));
        if let Err(error) = moved {
            // Parts of both may be gone, and other mappings in their place: neither is unmapped.
            core::mem::forget(target);
            self.len_bytes = 0;
            return Err(error);
        }
        self.base = target.base;
        self.len_bytes = len_bytes;
        core::mem::forget(target);
        match self.huge {
            Huge::Nowhere => {}
            Huge::WhenLarge => self.advise_when_large(),
            // A refusal changes nothing but speed.
            Huge::Everywhere => drop(self.advise_everywhere()),
        }
        Ok(())
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
        if self.most_bytes < HUGE_WORTH_BYTES {
            return Ok(());
        }
        self.huge = Huge::Everywhere;
        self.advise_everywhere()
    }

    fn advise_everywhere(&mut self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        return self.advise(
            0,
            self.len_bytes.next_multiple_of(page_bytes()),
            libc::MADV_HUGEPAGE,
        );
        #[cfg(not(target_os = "linux"))]
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Asks for huge pages in the part `from..to` (bytes), all of which is going to be written.
    pub(crate) fn prefer_huge_pages_in(&mut self, from: usize, to: usize) {
        #[cfg(target_os = "linux")]
        if let Some(first) = from.checked_next_multiple_of(HUGE_PAGE_BYTES)
            && let Some(len) =
                (to.min(self.len_bytes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES).checked_sub(first)
        {
            // A refusal changes nothing but speed.
            let _ = self.advise(first, len, libc::MADV_HUGEPAGE);
        }
    }

    /// Asks for huge pages behind the first two MiB: what stays small has small pages, and what
    /// grows costs one fault for 512.
    pub(crate) fn prefer_huge_pages_when_large(&mut self) {
        if self.most_bytes >= HUGE_WORTH_BYTES {
            self.huge = Huge::WhenLarge;
            self.advise_when_large();
        }
    }

    fn advise_when_large(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(rest) = self.len_bytes.checked_sub(HUGE_PAGE_BYTES) {
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

/// Moves the pages of `from`, `old` bytes of a mapping of ours, to `to`, a mapping of ours as well,
/// of which `new` bytes from there on become theirs. Nothing is copied.
#[cfg(target_os = "linux")]
fn move_pages(from: NonNull<u8>, to: NonNull<u8>, old: usize, new: usize) -> io::Result<()> {
    if old == 0 {
        return Ok(());
    }
    let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: both ranges are whole pages of mappings that the caller owns by value or by
    // `&mut`, and do not overlap; nobody refers to what is in `to`, and `from` is not used again.
    let moved = unsafe {
        libc::mremap(
            from.as_ptr().cast(),
            old,
            new,
            how,
            to.as_ptr().cast::<libc::c_void>(),
        )
    };
    if moved == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Copies instead, where pages cannot be moved.
#[cfg(not(target_os = "linux"))]
fn move_pages(from: NonNull<u8>, to: NonNull<u8>, old: usize, _new: usize) -> io::Result<()> {
    // SAFETY: `old` bytes are mapped at both, which do not overlap, and nobody refers to `to`.
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), old) };
    unmap(from.as_ptr(), old);
    Ok(())
}

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

/// Why address space cannot be had: with the limit that the process has, if it has one.
fn refusal(len_bytes: usize, reason: &io::Error) -> io::Error {
    let limit = match limit_bytes() {
        Some(bytes) => format!("ulimit -v allows {} MiB", bytes >> 20),
        None => "the system allows no more, see vm.overcommit_memory".to_owned(),
    };
    let asked = len_bytes.div_ceil(1 << 20);
    io::Error::new(
        reason.kind(),
        format!("cannot reserve {asked} MiB of address space: {limit}"),
    )
}

/// The limit of this process's address space.
fn limit_bytes() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: writes to the structure that it is given, and nowhere else.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    let bytes = limit.rlim_cur;
    (failed == 0 && bytes != libc::RLIM_INFINITY).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::Mapping;

    /// More than any machine's address space must be an error that says so, not a crash.
    #[test]
    fn a_reservation_that_cannot_be_is_an_error_that_says_so() {
        let error = Mapping::reserve::<u64>(1 << 58).unwrap_err();
        assert!(
            error.to_string().contains("MiB of address space: "),
            "{error}"
        );
        assert!(Mapping::reserve::<u64>(usize::MAX).is_err());
    }

    /// Its bytes stay, in whatever steps it grows, over and beyond a huge page; the new ones are
    /// zero.
    #[test]
    fn a_growing_mapping_keeps_its_bytes() {
        let mut mapping = Mapping::growing::<u8>(100 << 20).unwrap();
        mapping.prefer_huge_pages_when_large();
        let mut len = 0usize;
        for step in [
            1usize,
            4096,
            5000,
            1 << 20,
            2 << 20,
            (2 << 20) + 1,
            9 << 20,
            200 << 20,
        ] {
            mapping.grow(step).unwrap();
            assert_eq!(mapping.len_bytes(), step.min(100 << 20));
            let now = mapping.len_bytes();
            // SAFETY: `now` bytes are mapped, and ours.
            let bytes =
                unsafe { core::slice::from_raw_parts_mut(mapping.base::<u8>().as_ptr(), now) };
            assert!(bytes[..len].iter().step_by(97).all(|&byte| byte == 7));
            assert!(bytes[len..].iter().all(|&byte| byte == 0));
            bytes.fill(7);
            len = now;
        }
        mapping.grow(1).unwrap();
        assert_eq!(mapping.len_bytes(), 100 << 20);
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
