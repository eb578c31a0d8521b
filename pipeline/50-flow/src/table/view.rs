//! A connection as its record would say it now: used by explanations only, never by a run.

use super::Table;
use crate::record::BLANK;
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, EndReason};

impl Table {
    /// The record that a connection would have if it were written now, as an interim one; none for
    /// a handle that means no connection.
    pub fn record_of(&self, handle: u32) -> Option<ConnRecord> {
        self.hot.get(handle)?;
        let mut record = BLANK;
        let parts = self.parts(handle);
        parts.write(self.identity, EndReason::Interim, 0, &mut record);
        Some(record)
    }

    /// Until when a connection lives without another packet, in stream time; none for a handle
    /// that means no connection.
    pub fn deadline_of(&self, handle: u32) -> Option<Timestamp> {
        self.hot.get(handle)?;
        Some(self.deadline(handle))
    }
}
