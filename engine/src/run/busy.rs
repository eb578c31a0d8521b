//! How long steps beside the workers' own keep a processor busy.

use crate::report::StepReport;
use std::time::Duration;

/// The processor time of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Busy(Duration);

impl Busy {
    /// Does some of the step.
    // PERF: two system calls of some 100 ns: for pieces and batches of records, not for packets.
    #[inline]
    pub(crate) fn spend<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let before = flowpin_cpu::thread_cpu_time();
        let done = work();
        self.0 += flowpin_cpu::thread_cpu_time().saturating_sub(before);
        done
    }

    /// Both.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Without what belongs to another step.
    #[must_use]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// For the report.
    pub(crate) fn of_step(self, name: &'static str) -> StepReport {
        StepReport {
            name,
            cpu_ns: u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}
