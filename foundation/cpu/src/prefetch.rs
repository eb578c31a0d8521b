//! Asking for a cache line before it is needed.
//!
//! A prefetch is a hint: it changes no value, never faults, and is nothing at all on processors
//! for which no instruction is known here.

/// Asks for the line that holds the start of `value`, to read it.
#[inline]
pub fn read<T: ?Sized>(value: &T) {
    address(core::ptr::from_ref(value).cast());
}

/// Asks for the line that holds the start of `value`, to write it: x86 takes the line away from
/// other cores at once (PREFETCHW), which saves a second trip if another core has it.
#[inline]
pub fn write<T: ?Sized>(value: &T) {
    let at: *const u8 = core::ptr::from_ref(value).cast();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: PREFETCHW is a hint that never faults; processors without it (before 2005 and
    // some of the first 64-bit ones) run it as a no-op by the architecture's definition.
    unsafe {
        core::arch::asm!(
            "prefetchw [{at}]",
            at = in(reg) at,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    address(at);
}

/// Asks for the line of `slice[index]`, to read it. Any index is fine.
#[inline]
pub fn read_at<T>(slice: &[T], index: usize) {
    address(slice.as_ptr().wrapping_add(index).cast());
}

/// Asks for the line at an address, which need not be valid: nothing is read from it.
#[inline]
pub fn address(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch of any address never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: PRFM is a hint that never faults.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{at}]",
            at = in(reg) at,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    /// A prefetch is a hint, also for addresses that do not exist.
    #[test]
    fn no_address_faults() {
        let value = [1u64; 32];
        super::read(&value);
        super::write(&value);
        super::read_at(&value, usize::MAX);
        super::address(core::ptr::null());
        assert_eq!(value, [1; 32]);
    }
}
