//! Misses of the last-level cache, where the kernel lets us count them.

/// Runs `work` and counts this thread's misses, those of threads that it starts included.
#[cfg(target_os = "linux")]
pub(crate) fn misses_of<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    use perf_event::Builder;
    use perf_event::events::Hardware;
    let counter = Builder::new(Hardware::CACHE_MISSES).inherit(true).build();
    let mut counter = counter.ok();
    let is_on = counter
        .as_mut()
        .is_some_and(|counter| counter.enable().is_ok());
    let done = work();
    let misses = counter
        .filter(|_| is_on)
        .and_then(|mut counter| counter.read().ok());
    (done, misses)
}

/// No such counters here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn misses_of<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    (work(), None)
}
