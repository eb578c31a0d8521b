//! Until when connections live, for stages that do not know the connection table.

use crate::Timestamp;
use core::fmt::Debug;

/// Knows until when connections live: the connection table.
pub trait Lifetimes: Debug {
    /// Whether a connection of which no more packets came before `time` is over by then. It may
    /// still be in the table, but its record says what was known before: nothing else may happen
    /// to it, as that could come before or after its record is made.
    fn is_due(&self, connection: u32, time: Timestamp) -> bool;
}

/// The connections at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Lives<'a> {
    /// What knows them.
    pub of: &'a dyn Lifetimes,
    /// The moment, in stream time.
    pub at: Timestamp,
}

impl Lives<'_> {
    /// Whether a connection is over at the moment; see [`Lifetimes::is_due`].
    pub fn is_due(self, connection: u32) -> bool {
        self.of.is_due(connection, self.at)
    }
}
