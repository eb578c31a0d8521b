//! The columns of connection records: Zeek's in its order, then ours.

mod ours;
mod zeek;

use crate::schema::{Column, Row, Value};
use crate::{CommunityId, ConnRecord};
use flowpin_packet::InterfaceName;
use std::sync::Arc;

/// A connection record with what is computed from it once, when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnRow {
    /// The record.
    pub record: ConnRecord,
    /// Its Community ID, if wanted.
    pub community_id: Option<CommunityId>,
    /// The interface that its first packet came by, if it has a name.
    pub interface: Option<Arc<InterfaceName>>,
    /// Zeek's names of what it spoke at first, if that changed, and at last.
    services: [&'static str; 2],
}

impl ConnRow {
    /// The row of a record.
    pub fn new(
        record: &ConnRecord,
        community_id: Option<CommunityId>,
        interface: Option<Arc<InterfaceName>>,
    ) -> Self {
        let services = record.app.as_ref().map_or([""; 2], |app| {
            let over = record.protocol;
            [app.original_in_tools.zeek(over), app.in_tools.zeek(over)]
        });
        Self {
            record: *record,
            community_id,
            interface,
            services,
        }
    }

    /// Whether Zeek reads headers of its transport: ports, sizes and states are those of TCP, UDP
    /// and ICMP there, and what else there is has addresses and counts of packets.
    pub(super) const fn is_known(&self) -> bool {
        matches!(self.record.protocol, 1 | 6 | 17 | 58)
    }
}

impl Row for ConnRow {
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
}

const COLUMNS: &[Column<ConnRow>] = &{
    let mut all = [zeek::COLUMNS[0]; zeek::COLUMNS.len() + ours::COLUMNS.len()];
    let (first, last) = all.split_at_mut(zeek::COLUMNS.len());
    first.copy_from_slice(zeek::COLUMNS);
    last.copy_from_slice(ours::COLUMNS);
    all
};

/// Reads a column's value.
type Getter = for<'a> fn(&'a ConnRow) -> Value<'a>;
