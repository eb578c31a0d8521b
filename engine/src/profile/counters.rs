//! Clocks and counters of this thread: the time stamp counter, and events that the kernel counts.

use flowpin_cpu::{TscRate, thread_cpu_time, tsc};

/// The time and events between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    /// Ticks of the time stamp counter, without those of other threads on the same processor.
    pub(super) cycles: f64,
    /// Instructions and misses of the last-level cache, in this process's own code.
    pub(super) counts: Option<[u64; 2]>,
}

/// A moment, by the time stamp counter and by this thread's processor time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    ticks: u64,
    cpu_s: f64,
}

impl Moment {
    pub(super) fn now() -> Self {
        let cpu_s = thread_cpu_time().as_secs_f64();
        Self {
            ticks: tsc(),
            cpu_s,
        }
    }

    /// Ticks since then, without those of other threads on the same processor.
    pub(super) fn elapsed(self, hertz: f64) -> f64 {
        let ticks = tsc().wrapping_sub(self.ticks);
        let cpu_s = thread_cpu_time().as_secs_f64() - self.cpu_s;
        #[expect(clippy::cast_precision_loss, reason = "a fraction of a second")]
        let ticks = ticks as f64;
        // On a busy machine another thread may have had the processor in between.
        ticks.min((cpu_s + 1e-6) * hertz)
    }
}

/// A stop watch.
pub(super) struct Clock {
    rate: TscRate,
    counters: Option<kernel::Counters>,
    start: Moment,
    counts: Option<[u64; 2]>,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            rate: TscRate::measure(),
            counters: kernel::Counters::new(),
            start: Moment::now(),
            counts: None,
        }
    }

    /// Ticks a second.
    pub(super) fn hertz(&self) -> f64 {
        self.rate.per_second()
    }

    pub(super) fn start(&mut self) {
        self.counts = self.counters.as_mut().and_then(kernel::Counters::read);
        self.start = Moment::now();
    }

    pub(super) fn stop(&mut self) -> Span {
        let cycles = self.start.elapsed(self.hertz());
        let counts = self.counters.as_mut().and_then(kernel::Counters::read);
        let counts = counts.zip(self.counts).map(|(now, then)| {
            [
                now[0].saturating_sub(then[0]),
                now[1].saturating_sub(then[1]),
            ]
        });
        Span { cycles, counts }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};

    /// `perf_event_open`, where it is allowed.
    pub(super) struct Counters {
        instructions: Counter,
        misses: Counter,
    }

    impl Counters {
        pub(super) fn new() -> Option<Self> {
            let counter = |what| {
                let mut counter = Builder::new(what).build().ok()?;
                counter.enable().ok()?;
                Some(counter)
            };
            Some(Self {
                instructions: counter(Hardware::INSTRUCTIONS)?,
                misses: counter(Hardware::CACHE_MISSES)?,
            })
        }

        pub(super) fn read(&mut self) -> Option<[u64; 2]> {
            Some([self.instructions.read().ok()?, self.misses.read().ok()?])
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    /// No such counters here.
    pub(super) struct Counters;

    impl Counters {
        pub(super) fn new() -> Option<Self> {
            None
        }

        pub(super) fn read(&mut self) -> Option<[u64; 2]> {
            None
        }
    }
}
