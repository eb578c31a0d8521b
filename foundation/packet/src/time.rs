//! Points in time, as captures and records know them.

use std::time::SystemTime;

/// Nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The latest point in time that can be told; later than any packet's.
    pub const MAX: Self = Self(u64::MAX);

    /// From whole seconds and nanoseconds; saturates far in the future.
    #[inline]
    pub const fn new(secs: u64, nanos: u32) -> Self {
        Self(
            secs.saturating_mul(1_000_000_000)
                .saturating_add(nanos as u64),
        )
    }

    /// The time by the system's clock, which the kernel stamps packets with.
    pub fn now() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(Self::default(), |now| {
            Self::new(now.as_secs(), now.subsec_nanos())
        })
    }

    /// Whole seconds since the epoch.
    #[inline]
    pub const fn secs(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// Nanoseconds past the second.
    #[inline]
    pub const fn subsec_nanos(self) -> u32 {
        (self.0 % 1_000_000_000) as u32
    }

    /// `nanos` later; saturates.
    #[inline]
    pub const fn plus_nanos(self, nanos: u64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// Nanoseconds from `earlier` to `self`, 0 if `earlier` is later.
    #[inline]
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
