//! Checks that a side sends at least as often as its heartbeat interval requires.

use crate::message::fields::Fields;
use crate::{Event, Slot};
use flowpin_packet::Timestamp;

/// The heartbeat interval of one side, and when the side last sent a message.
///
/// HeartBtInt (108) of a Logon is the number of seconds after which a silent side sends a Heartbeat
/// (FIX 4.4, Heartbeat). Messages are delayed on their way, so a fifth of the interval is added, as
/// engines do before a TestRequest, and at least one second. Times are those of the capture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heartbeat {
    /// Maximum silence in nanoseconds; 0: unlimited.
    silence_max: u64,
    last: Timestamp,
}

impl Heartbeat {
    /// Records a message; returns whether it, or a Heartbeat before it, is late.
    #[inline]
    pub(crate) fn step(
        &mut self,
        event: Event,
        at: Timestamp,
        fields: &Fields,
        message: &[u8],
    ) -> bool {
        let is_late = self.is_late(at);
        self.last = at;
        match event {
            Event::Logon => {
                let seconds = fields.count(message, Slot::HeartBtInt).unwrap_or(0);
                self.silence_max = silence_max(seconds);
            }
            Event::Logout => self.silence_max = 0,
            _ => {}
        }
        is_late
    }

    /// Whether the silence exceeds the maximum at this time.
    #[inline]
    pub(crate) fn is_late(&self, at: Timestamp) -> bool {
        self.silence_max != 0 && at.0.saturating_sub(self.last.0) > self.silence_max
    }

    /// Handles missing bytes: they may have contained a message.
    pub(crate) fn forget(&mut self, at: Timestamp) {
        self.last = at;
    }
}

/// Returns the maximum silence in nanoseconds, including the tolerance.
fn silence_max(seconds: u64) -> u64 {
    let interval = seconds.saturating_mul(SECOND);
    match interval {
        0 => 0,
        _ => interval.saturating_add((interval / 5).max(SECOND)),
    }
}

const SECOND: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::{Heartbeat, SECOND};
    use crate::message::fields::Fields;
    use crate::{Dictionary, Event, from_printed};
    use flowpin_packet::Timestamp;
    use std::sync::Arc;

    /// FIX 4.4, Heartbeat: silence of HeartBtInt plus a fifth is in time, longer silence is not;
    /// without an interval, or after a Logout, silence is unlimited.
    #[test]
    fn a_silence_beyond_the_interval_is_late() {
        let mut fields = Fields::new(Arc::new(Dictionary::bundled()), 50);
        let mut side = Heartbeat::default();
        let mut step = |event, seconds: u64, body: &str| {
            let message = from_printed(format!("8=FIX.4.4|9=1|{body}|10=000|").as_bytes());
            fields.split(&message);
            side.step(event, Timestamp(seconds * SECOND), &fields, &message)
        };
        assert!(!step(Event::None, 1, "35=D"));
        assert!(!step(Event::Logon, 1000, "35=A|108=30"));
        assert!(!step(Event::Heartbeat, 1036, "35=0"));
        assert!(step(Event::Heartbeat, 1073, "35=0"));
        assert!(!step(Event::Logon, 1074, "35=A|108=2"));
        assert!(!step(Event::None, 1077, "35=8"));
        assert!(step(Event::Logout, 1081, "35=5"));
        assert!(!step(Event::Logout, 9999, "35=5"));
        assert!(!step(Event::Logon, 9999, "35=A|108=0"));
        assert!(!step(Event::Heartbeat, 99_999, "35=0"));
    }
}
