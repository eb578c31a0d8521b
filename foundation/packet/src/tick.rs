//! The end of a piece, as every worker learns it.

use crate::Timestamp;

/// Where a piece ends: what every worker learns, whether it had packets in it or not.
///
/// ```
/// use flowpin_packet::{Tick, Timestamp};
/// let tick = Tick { time: Timestamp::new(100, 0), number: 7 };
/// assert_eq!(Tick::from(tick.time).number, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// Stream time there.
    pub time: Timestamp,
    /// The number of the last packet: no later one causes a record with a smaller key.
    pub number: u64,
}

impl From<Timestamp> for Tick {
    fn from(time: Timestamp) -> Self {
        Self { time, number: 0 }
    }
}
