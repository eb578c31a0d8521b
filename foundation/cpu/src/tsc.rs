//! The cheapest clock: a counter of the processor's own.

use std::time::{Duration, Instant};

/// The processor's time stamp counter. On processors without one that a program may read:
/// nanoseconds of the system's monotonic clock.
///
/// Comparable between the cores of one machine as far as the hardware keeps them in step (all
/// that run Linux with `constant_tsc` and `nonstop_tsc`). Not ordered with other instructions:
/// for spans of hundreds of cycles and more.
#[inline]
pub fn tsc() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: RDTSC is part of x86-64; Linux lets programs execute it.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: reading the virtual counter has no effect; Linux lets programs read it.
        unsafe {
            core::arch::asm!(
                "mrs {count}, cntvct_el0",
                count = out(reg) count,
                options(nomem, nostack, preserves_flags)
            );
        }
        return count;
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    crate::usage::monotonic_nanos()
}

/// How fast [`tsc`] runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TscRate {
    per_second: f64,
}

impl TscRate {
    /// Measures it against the system's clock; takes 5 ms.
    pub fn measure() -> Self {
        let (start, first) = (Instant::now(), tsc());
        std::thread::sleep(Duration::from_millis(5));
        let (elapsed, last) = (start.elapsed(), tsc());
        #[expect(
            clippy::cast_precision_loss,
            reason = "a difference of some million ticks"
        )]
        let count = last.wrapping_sub(first) as f64;
        Self {
            per_second: count / elapsed.as_secs_f64(),
        }
    }

    /// Ticks in a second.
    pub fn per_second(self) -> f64 {
        self.per_second
    }

    /// Ticks in a span of time, at least 1.
    pub fn ticks_in(self, span: Duration) -> u64 {
        let ticks = span.as_secs_f64() * self.per_second;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and a span is not negative"
        )]
        let whole = ticks as u64;
        whole.max(1)
    }

    /// The time that a number of ticks took, in nanoseconds.
    pub fn nanos(self, ticks: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits of ticks are months")]
        let ticks = ticks as f64;
        ticks * 1e9 / self.per_second
    }
}

#[cfg(test)]
mod tests {
    use super::{TscRate, tsc};
    use std::time::Duration;

    /// A span measured in ticks must come out as time again: both directions use one rate.
    #[test]
    fn ticks_and_time_convert_both_ways() {
        let rate = TscRate::measure();
        let ten_micros = rate.ticks_in(Duration::from_micros(10));
        assert!(
            (rate.nanos(ten_micros) - 10_000.0).abs() < 1_000.0,
            "{rate:?}"
        );
        assert_eq!(rate.ticks_in(Duration::ZERO), 1);
    }

    /// Waiting shows in the counter.
    #[test]
    fn the_counter_advances() {
        let first = tsc();
        std::thread::sleep(Duration::from_millis(1));
        assert!(tsc() > first);
    }
}
