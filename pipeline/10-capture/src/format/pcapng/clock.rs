//! The clock of an interface: ticks to nanoseconds since 1970.

use flowpin_packet::Timestamp;

/// How an interface counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    tick: Tick,
    offset_ns: i128,
}

/// The length of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tick {
    /// That many nanoseconds.
    Nanos(u64),
    /// A nanosecond is that many ticks; 0: more than fit, all times are 0.
    PerNano(u64),
    /// 2 to the minus this seconds.
    Binary(u32),
}

impl Clock {
    /// From if_tsresol and if_tsoffset: the resolution's upper bit says whether the other
    /// seven are a negative power of 2 or of 10, the offset is in seconds.
    pub(super) fn new(resolution: u8, offset_secs: i64) -> Self {
        let power = u32::from(resolution & 0x7f);
        let tick = if resolution & 0x80 != 0 {
            Tick::Binary(power)
        } else if power <= 9 {
            Tick::Nanos(10_u64.pow(9 - power))
        } else {
            Tick::PerNano(10_u64.checked_pow(power - 9).unwrap_or(0))
        };
        Self {
            tick,
            offset_ns: i128::from(offset_secs) * 1_000_000_000,
        }
    }

    /// The length of a tick, if times are no more than its multiples.
    pub(super) const fn nanos_per_tick(self) -> Option<u64> {
        match self.tick {
            Tick::Nanos(nanos) if self.offset_ns == 0 => Some(nanos),
            _ => None,
        }
    }

    /// Saturates at 1970 and in 2554.
    #[inline]
    pub(super) fn time(self, ticks: u64) -> Timestamp {
        let nanos = match self.tick {
            Tick::Nanos(nanos) => match ticks.checked_mul(nanos) {
                Some(nanos) if self.offset_ns == 0 => return Timestamp(nanos),
                _ => u128::from(ticks) * u128::from(nanos),
            },
            Tick::PerNano(per_nano) => u128::from(ticks.checked_div(per_nano).unwrap_or(0)),
            Tick::Binary(power) => (u128::from(ticks) * 1_000_000_000) >> power,
        };
        let nanos = nanos.cast_signed().saturating_add(self.offset_ns).max(0);
        Timestamp(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use flowpin_packet::Timestamp;

    /// Draft §4.2: if_tsresol counts in powers of ten, or of two with the upper bit set.
    #[test]
    fn resolutions_are_powers_of_ten_or_of_two() {
        let second = Timestamp(1_000_000_000);
        assert_eq!(Clock::new(6, 0).time(1_000_000), second);
        assert_eq!(Clock::new(9, 0).time(1_000_000_000), second);
        assert_eq!(Clock::new(0, 0).time(1), second);
        assert_eq!(Clock::new(12, 0).time(1_000_000_000_000), second);
        assert_eq!(Clock::new(0x80 | 10, 0).time(1024), second);
        assert_eq!(Clock::new(0x80 | 32, 0).time(1 << 32), second);
        assert_eq!(Clock::new(0x80, 0).time(1), second);
    }

    /// if_tsoffset is added, also if negative; no value may wrap or panic.
    #[test]
    fn offsets_are_added_and_saturate() {
        assert_eq!(Clock::new(9, 2).time(5), Timestamp(2_000_000_005));
        assert_eq!(
            Clock::new(9, -1).time(2_000_000_000),
            Timestamp(1_000_000_000)
        );
        assert_eq!(Clock::new(9, -1).time(5), Timestamp(0));
        for resolution in 0..=255 {
            for offset in [0, i64::MIN, i64::MAX] {
                Clock::new(resolution, offset).time(u64::MAX);
            }
        }
        assert_eq!(Clock::new(0, i64::MAX).time(u64::MAX), Timestamp::MAX);
        assert_eq!(Clock::new(0x7f, 0).time(u64::MAX), Timestamp(0));
    }
}
