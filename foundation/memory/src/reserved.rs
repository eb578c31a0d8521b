//! An array in reserved address space: all zero at first, resident where it was written.

use crate::Zeroable;
use crate::exiting::exit_without_memory;
use crate::mapping::Mapping;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut, Range};
use std::io;

/// `count` values of a plain type, zero until written, resident only where written.
///
/// ```
/// let mut index = flowpin_memory::Reserved::<u64>::new(1 << 24)?; // 128 MiB of address space
/// index[12_345] = 7;                                              // one page resident
/// assert_eq!(index[12_346], 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reserved<T> {
    mapping: Mapping,
    count: usize,
    values: PhantomData<T>,
}

impl<T: Zeroable> Reserved<T> {
    /// Reserves room for `count` values.
    ///
    /// # Errors
    ///
    /// Where the system refuses the address space (`ulimit -v`, strict overcommit).
    pub fn new(count: usize) -> io::Result<Self> {
        Ok(Self {
            mapping: Mapping::reserve::<T>(count)?,
            count,
            values: PhantomData,
        })
    }

    /// As [`Reserved::new`], but for an array that fills up from its begin: it is empty until
    /// [`reach`](Self::reach) makes it longer, up to `count` values.
    ///
    /// # Errors
    ///
    /// If so many do not fit any address space.
    pub(crate) fn growing(count: usize) -> io::Result<Self> {
        Ok(Self {
            mapping: Mapping::growing::<T>(count)?,
            count: 0,
            values: PhantomData,
        })
    }

    /// Makes an array that grows `count` values long, or as long as it may become. Where the
    /// system has no address space, the process ends as it does without memory.
    #[cold]
    pub(crate) fn reach(&mut self, count: usize) {
        let bytes = count.saturating_mul(size_of::<T>());
        if self.mapping.grow(bytes).is_err() {
            exit_without_memory();
        }
        self.count = self.mapping.len_bytes() / size_of::<T>();
    }

    /// Zeroes the values of `range` by giving their pages back to the system.
    ///
    /// # Errors
    ///
    /// Where the system refuses (locked pages).
    pub fn discard(&mut self, range: Range<usize>) -> io::Result<()> {
        let bytes = |index: usize| index.min(self.count) * size_of::<T>();
        let (from, to) = (bytes(range.start), bytes(range.end));
        self.mapping.discard(from, to)
    }

    /// Makes the memory of `range` resident now, off the hot path.
    pub fn populate(&mut self, range: Range<usize>) {
        let bytes = |index: usize| index.min(self.count) * size_of::<T>();
        let (from, to) = (bytes(range.start), bytes(range.end));
        self.mapping.populate(from, to);
    }

    /// Where the value at `index` lies; none beyond the last.
    #[cfg(flowpin_bench)]
    pub(crate) fn place(&self, index: usize) -> Option<core::ptr::NonNull<T>> {
        let first = self.mapping.base::<T>().as_ptr();
        (index < self.count)
            .then(|| core::ptr::NonNull::new(first.wrapping_add(index)))
            .flatten()
    }

    /// Asks for huge pages: fewer TLB misses in a large table, but 2 MiB resident at a time.
    ///
    /// # Errors
    ///
    /// Where the system has none; the array works all the same.
    pub fn prefer_huge_pages(&mut self) -> io::Result<()> {
        self.mapping.prefer_huge_pages()
    }

    /// Asks for huge pages in `range`, of which everything is going to be written: it is resident
    /// after one fault for 512 pages, and no more of it than would be otherwise.
    pub fn prefer_huge_pages_in(&mut self, range: Range<usize>) {
        let bytes = |index: usize| index.min(self.count) * size_of::<T>();
        let (from, to) = (bytes(range.start), bytes(range.end));
        self.mapping.prefer_huge_pages_in(from, to);
    }

    /// Asks for huge pages behind the first two MiB, for an array that fills up from its begin.
    pub(crate) fn prefer_huge_pages_when_large(&mut self) {
        self.mapping.prefer_huge_pages_when_large();
    }

    /// Asks the processor to fetch the line of the value at `index`. Any index is fine.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        flowpin_cpu::prefetch::read_at(self, index);
    }
}

impl<T: Zeroable> Deref for Reserved<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let base = self.mapping.base::<T>().as_ptr();
        // SAFETY: the mapping holds `count` values of `T` (or `count` is 0), aligned (a page is
        // the largest alignment, checked in `reserve`); each is zero, valid by `T: Zeroable`, or
        // was written as a `T`. The borrow of `self` keeps writers away.
        unsafe { core::slice::from_raw_parts(base, self.count) }
    }
}

impl<T: Zeroable> DerefMut for Reserved<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        let base = self.mapping.base::<T>().as_ptr();
        // SAFETY: as in `deref`; the exclusive borrow of `self` makes this the only reference.
        unsafe { core::slice::from_raw_parts_mut(base, self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::Reserved;

    /// A table sized for the worst case must cost nothing until it is used.
    #[test]
    fn reserved_memory_is_zero_and_not_resident_until_written() {
        let Ok(mut table) = Reserved::<u64>::new(1 << 32) else {
            return eprintln!("skipped: this machine does not reserve 32 GiB");
        };
        assert_eq!(table[1 << 31], 0);
        table[(1 << 32) - 1] = 7;
        assert_eq!(table[(1 << 32) - 1], 7);
        assert_eq!(table.get(1 << 32), None);
    }

    /// What was discarded reads as zero; what lies around it stays.
    #[test]
    fn discard_zeroes_its_range_and_nothing_else() {
        for (from, to) in [
            (0, 4096),
            (1, 4095),
            (100, 101),
            (511, 1537),
            (4000, 4096),
            (7, 7),
        ] {
            let mut table = Reserved::<u64>::new(4096).unwrap();
            table.fill(u64::MAX);
            table.discard(from..to).unwrap();
            for (index, &value) in table.iter().enumerate() {
                let want = if (from..to).contains(&index) {
                    0
                } else {
                    u64::MAX
                };
                assert_eq!(value, want, "{index} after {from}..{to}");
            }
        }
    }

    /// The last page is discarded although the array ends inside it.
    #[test]
    fn an_array_that_ends_inside_a_page_is_discarded_to_its_end() {
        let mut table = Reserved::<u8>::new(5000).unwrap();
        table.fill(1);
        table.discard(0..usize::MAX).unwrap();
        assert!(table.iter().all(|&byte| byte == 0));
    }

    /// Populating is for speed only: it must not change a value.
    #[test]
    fn populate_and_huge_pages_change_no_value() {
        let mut table = Reserved::<u32>::new(3 << 20).unwrap();
        let _ = table.prefer_huge_pages();
        table.prefer_huge_pages_in(5..usize::MAX);
        table.prefer_huge_pages_in(5..5);
        table[5] = 5;
        table.populate(0..table.len());
        assert_eq!(table[5], 5);
        assert_eq!(table[6], 0);
        table.prefetch(usize::MAX);
    }

    /// Huge pages can only begin at their own border.
    #[test]
    fn a_large_array_starts_at_a_huge_page_border() {
        let table = Reserved::<u8>::new(8 << 20).unwrap();
        assert_eq!(table.as_ptr().align_offset(2 << 20), 0);
    }
}
