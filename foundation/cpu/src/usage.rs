//! What the process and its threads have used so far.

use std::time::Duration;

/// Processor time, as the kernel accounts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In the program.
    pub user: Duration,
    /// In the kernel on its behalf.
    pub system: Duration,
}

impl CpuTime {
    /// Both.
    pub fn total(self) -> Duration {
        self.user.saturating_add(self.system)
    }
}

/// Processor time of all threads of this process, also of those that have ended.
pub fn process_cpu_time() -> CpuTime {
    let usage = usage(libc::RUSAGE_SELF);
    CpuTime {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
    }
}

/// Processor time of the calling thread.
pub fn thread_cpu_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// How long the calling thread was ready to run while others had its processor; zero where the
/// system does not say.
pub fn thread_wait_time() -> Duration {
    waited(&std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default())
}

/// From nanoseconds run, nanoseconds waited, slices (the kernel's `sched-stats` document).
fn waited(schedstat: &str) -> Duration {
    let waited = schedstat.split_whitespace().nth(1);
    Duration::from_nanos(waited.and_then(|word| word.parse().ok()).unwrap_or(0))
}

/// The most memory that was resident at once, in bytes.
pub fn peak_resident_bytes() -> u64 {
    let peak = u64::try_from(usage(libc::RUSAGE_SELF).ru_maxrss).unwrap_or(0);
    // Linux counts in KiB, macOS in bytes.
    if cfg!(target_os = "macos") {
        peak
    } else {
        peak.saturating_mul(1024)
    }
}

/// The memory that is resident now, in bytes; 0 where the system does not say (Linux does).
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok())
        .unwrap_or(0)
        << 10
}

/// The system's monotonic clock.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn monotonic_nanos() -> u64 {
    u64::try_from(clock(libc::CLOCK_MONOTONIC).as_nanos()).unwrap_or(u64::MAX)
}

fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: `rusage` is plain integers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: `usage` is a live `rusage` for the call to fill; on failure it stays zero.
    unsafe { libc::getrusage(who, &raw mut usage) };
    usage
}

fn clock(which: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a live `timespec` for the call to fill; on failure it stays zero.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

fn duration(time: libc::timeval) -> Duration {
    let micros = u32::try_from(time.tv_usec).unwrap_or(0);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        micros.saturating_mul(1000),
    )
}

#[cfg(test)]
mod tests {
    use super::{
        Duration, peak_resident_bytes, process_cpu_time, thread_cpu_time, thread_wait_time, waited,
    };

    /// A thread's time is part of its process's, and work adds to both.
    #[test]
    fn work_adds_to_the_time_of_thread_and_process() {
        let before = thread_cpu_time();
        let mut sum = 0u64;
        while thread_cpu_time() == before {
            sum = core::hint::black_box(sum.wrapping_add(1));
        }
        assert!(thread_cpu_time() > before);
        assert!(process_cpu_time().total() > std::time::Duration::ZERO || sum > 0);
        assert!(peak_resident_bytes() > 100_000);
    }

    /// What a system does not say is no waiting.
    #[test]
    fn waiting_is_the_second_of_the_kernels_figures() {
        assert_eq!(waited("3079 2530241 1\n"), Duration::from_nanos(2_530_241));
        for none in ["", "3079", "3079 -1 1", "0 0 0\n"] {
            assert_eq!(waited(none), Duration::ZERO);
        }
        assert!(thread_wait_time() < Duration::from_secs(3600));
    }
}
