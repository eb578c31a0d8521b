//! Connections, packets and bytes.

use flowpin_record::ConnRecord;

/// Connections, packets and bytes of one row of the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Connections.
    pub connections: u64,
    /// Packets, both directions.
    pub packets: u64,
    /// Frame bytes, both directions.
    pub bytes: u64,
}

impl Traffic {
    /// One connection's.
    #[inline]
    pub const fn of(record: &ConnRecord) -> Self {
        let (up, down) = (&record.to_server, &record.to_client);
        Self {
            connections: 1,
            // PERF: saturating, since plain sums would be made of pairs of words, which wait for
            // the single stores of a record that was written just now (150 cycles).
            packets: up.packets.saturating_add(down.packets),
            bytes: up.frame_bytes.saturating_add(down.frame_bytes),
        }
    }

    /// Adds another row.
    #[inline]
    pub const fn add(&mut self, other: &Self) {
        self.connections = self.connections.saturating_add(other.connections);
        self.packets = self.packets.saturating_add(other.packets);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// Takes out what was added; at least 0 stays.
    pub const fn subtract(&mut self, other: &Self) {
        self.connections = self.connections.saturating_sub(other.connections);
        self.packets = self.packets.saturating_sub(other.packets);
        self.bytes = self.bytes.saturating_sub(other.bytes);
    }
}

/// What connections were counted as, until another connection named them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountedAs {
    /// This protocol.
    Protocol(&'static str),
    /// Not identified.
    Unknown {
        /// Transport protocol and server's port.
        port: (u8, u16),
        /// Whether there was any payload.
        has_payload: bool,
    },
}
