//! How many anomaly records one reason may make, and their keys: for those of the input stage and
//! of streams alike.

use flowpin_packet::Timestamp;
use flowpin_record::RecordKey;

/// What one reason has used of its allowance. On stream time, so that the same records are written
/// for any pipeline, where it stands in the in-order step or belongs to one shard.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limit {
    second: u64,
    written: u32,
    suppressed: u64,
}

impl Limit {
    /// Whether one more of at most `per_second` may be written: then, how many were left out
    /// since the last one.
    pub(crate) fn allow(&mut self, now: Timestamp, per_second: u32) -> Option<u64> {
        let second = now.secs();
        if self.second != second {
            self.second = second;
            self.written = 0;
        }
        if self.written == per_second {
            self.suppressed += 1;
            return None;
        }
        self.written += 1;
        Some(core::mem::take(&mut self.suppressed))
    }
}

/// Keys for records that packets cause: one packet may cause several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    first_ordinal: u32,
    /// The packet that caused one last, and how many.
    last: (u64, u32),
}

impl Keys {
    /// Ordinals count from `first_ordinal` for each packet.
    pub(crate) const fn from(first_ordinal: u32) -> Self {
        Self {
            first_ordinal,
            last: (0, 0),
        }
    }

    /// The key of the next record that packet `number` causes at stream time `time`.
    pub(crate) const fn next(&mut self, time: Timestamp, number: u64) -> RecordKey {
        let before = match self.last {
            (last, count) if last == number => count,
            _ => 0,
        };
        self.last = (number, before + 1);
        RecordKey {
            time,
            number,
            ordinal: self.first_ordinal + before,
        }
    }
}
