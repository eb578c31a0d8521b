//! How long records take from their packet to the system: what a live run tells of itself.

use crate::Control;
use flowpin_packet::Timestamp;
use std::time::Duration;

/// From the packet with which a record leaves to the log or pipe that has it, by the clock that the
/// kernel stamps packets with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordLatency {
    /// The longest.
    pub most: Duration,
    /// Of the record that waited longest, each time that records were handed on: on average.
    pub mean: Duration,
    /// How often records were handed on.
    pub times: u32,
}

/// The latency of a run, while it goes on.
#[derive(Debug, Default)]
pub(super) struct Latency {
    most: Duration,
    sum: Duration,
    times: u32,
}

impl Latency {
    /// Records were handed on, of which `oldest` is the time of the first.
    pub(super) fn note(&mut self, oldest: Timestamp, control: &Control) {
        let waited = Duration::from_nanos(Timestamp::now().nanos_since(oldest));
        self.most = self.most.max(waited);
        self.sum += waited;
        self.times = self.times.saturating_add(1);
        control.set_record_latency(waited, self.most);
    }

    pub(super) fn so_far(&self) -> RecordLatency {
        RecordLatency {
            most: self.most,
            mean: self.sum.checked_div(self.times).unwrap_or_default(),
            times: self.times,
        }
    }
}
