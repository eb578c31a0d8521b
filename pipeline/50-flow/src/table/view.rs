//! A connection as its record would say it now: used by explanations only, never by a run.

use super::Table;
use crate::record::BLANK;
use crate::time::timeouts::Class;
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, EndReason};

/// How long a connection lives without another packet, and by which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// When it ends, in stream time.
    pub until: Timestamp,
    /// Its time-out; none with `--timeouts none`.
    pub after_ns: Option<u64>,
    /// Whose time-out that is: lower case, words joined by `_`.
    pub state: &'static str,
    /// Whether the time-out counts from what made the state, and further packets of it extend
    /// nothing.
    pub is_fixed: bool,
}

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

    /// How long a connection lives; none for a handle that means no connection.
    pub fn lifetime_of(&self, handle: u32) -> Option<Lifetime> {
        let class = self.hot.get(handle)?.class;
        let after_ns = self.rules.after_ns(class);
        Some(Lifetime {
            until: self.deadline(handle),
            after_ns: (after_ns != u64::MAX).then_some(after_ns),
            state: match class {
                Class::Attempt => "unanswered",
                Class::TcpNew => "opening",
                Class::TcpEstablished => "established",
                Class::TcpClosed => "closed",
                Class::UdpNew | Class::IcmpNew | Class::OtherNew => "one_way",
                Class::UdpEstablished | Class::IcmpEstablished | Class::OtherEstablished => {
                    "both_ways"
                }
            },
            is_fixed: self.rules.is_fixed(class),
        })
    }
}
