//! Which processors this process may use, and binding a thread to one.

use std::io;

/// The processors that the calling thread may run on, in order; never empty. Where the system
/// cannot say: as many as there seem to be, from 0.
pub fn allowed_cpus() -> Vec<usize> {
    let from_kernel = affinity_mask().map(|mask| {
        (0..mask.len() * WORD_BITS)
            .filter(|&cpu| {
                mask.get(cpu / WORD_BITS)
                    .is_some_and(|w| w >> (cpu % WORD_BITS) & 1 == 1)
            })
            .collect::<Vec<_>>()
    });
    match from_kernel {
        Some(cpus) if !cpus.is_empty() => cpus,
        _ => (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
    }
}

/// Binds the calling thread to one processor.
///
/// # Errors
///
/// Where the processor does not exist or is not allowed, or the system knows no such binding.
pub fn pin_current_thread(cpu: usize) -> io::Result<()> {
    set_affinity(&[cpu]).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot pin a thread to processor {cpu}: {error}"),
        )
    })
}

/// Lets the calling thread run on these processors and no others: what [`allowed_cpus`] said, to
/// undo a [`pin_current_thread`].
///
/// # Errors
///
/// Where none of them is allowed, or the system knows no such binding.
pub fn allow_current_thread(cpus: &[usize]) -> io::Result<()> {
    set_affinity(cpus)
}

/// The processor that the calling thread runs on just now.
pub fn current_cpu() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: asks for a number; has no other effect.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Room for 16,384 processors, more than Linux can be built for.
const MASK_WORDS: usize = 256;
const WORD_BITS: usize = 64;

#[cfg(target_os = "linux")]
fn affinity_mask() -> Option<[u64; MASK_WORDS]> {
    let mut mask = [0u64; MASK_WORDS];
    // SAFETY: `mask` is live, plain integers, and as long as the call is told; the kernel writes
    // at most that much. A mask of machine words in native order is what it expects.
    let failed = unsafe {
        libc::sched_getaffinity(
            0,
            size_of_val(&mask),
            mask.as_mut_ptr().cast::<libc::cpu_set_t>(),
        )
    };
    (failed == 0).then_some(mask)
}

#[cfg(target_os = "linux")]
fn set_affinity(cpus: &[usize]) -> io::Result<()> {
    let mut mask = [0u64; MASK_WORDS];
    for cpu in cpus {
        let word = mask
            .get_mut(cpu / WORD_BITS)
            .ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (cpu % WORD_BITS);
    }
    // SAFETY: `mask` is live and as long as the call is told; the kernel only reads it.
    let failed = unsafe {
        libc::sched_setaffinity(
            0,
            size_of_val(&mask),
            mask.as_ptr().cast::<libc::cpu_set_t>(),
        )
    };
    if failed == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(not(target_os = "linux"))]
fn affinity_mask() -> Option<[u64; MASK_WORDS]> {
    None
}

#[cfg(not(target_os = "linux"))]
fn set_affinity(_cpus: &[usize]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{allow_current_thread, allowed_cpus, current_cpu, pin_current_thread};

    /// A pinned thread runs where it was told, and is allowed nothing else.
    #[test]
    fn a_pinned_thread_runs_where_it_was_told() {
        for cpu in allowed_cpus() {
            let thread = std::thread::spawn(move || {
                pin_current_thread(cpu).unwrap();
                (current_cpu(), allowed_cpus())
            });
            assert_eq!(thread.join().unwrap(), (Some(cpu), vec![cpu]));
        }
    }

    /// What was allowed before a pin can be allowed again.
    #[test]
    fn a_pin_can_be_undone() {
        let before = allowed_cpus();
        pin_current_thread(before[0]).unwrap();
        allow_current_thread(&before).unwrap();
        assert_eq!(allowed_cpus(), before);
        assert!(allow_current_thread(&[]).is_err());
        for missing in [16_384, usize::MAX] {
            assert!(allow_current_thread(&[missing]).is_err());
        }
    }

    /// A processor that is not there is an error that names it, not a crash.
    #[test]
    fn a_missing_processor_is_an_error_that_names_it() {
        for cpu in [16_383, 1 << 40] {
            let error = pin_current_thread(cpu).unwrap_err();
            assert!(error.to_string().contains(&cpu.to_string()), "{error}");
        }
    }
}
