//! The end of a piece, as every worker is told of it.

use crate::Timestamp;

/// What every worker is told where a piece ends, whether it had packets in it or not.
///
/// ```
/// use flowpin_packet::{Tick, Timestamp};
/// let tick = Tick::from(Timestamp::new(100, 0));
/// assert!(!tick.is_exact);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// Stream time there.
    pub time: Timestamp,
    /// Stream time hardly moved for so many packets that what is due by now must be told now,
    /// not at the end of a granule. Decided once, where packets are in order, so that it is the
    /// same for every worker and any number of them.
    pub is_exact: bool,
}

impl From<Timestamp> for Tick {
    fn from(time: Timestamp) -> Self {
        Self {
            time,
            is_exact: false,
        }
    }
}
