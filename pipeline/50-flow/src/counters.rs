//! The counters of a table, for the summary and the tests of conservation.

use flowpin_counters::Losses;
use flowpin_packet::PacketKind;
use flowpin_record::{ConnRecord, EndReason};

/// The protocol that carries a connection, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP and ICMPv6.
    Icmp,
    /// SCTP.
    Sctp,
    /// Anything else over IP.
    Other,
}

impl Transport {
    /// All variants, in the order of the counters.
    pub const ALL: [Self; 5] = [Self::Tcp, Self::Udp, Self::Icmp, Self::Sctp, Self::Other];

    /// The name in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
            Self::Sctp => "sctp",
            Self::Other => "other",
        }
    }

    /// The transport of a packet kind.
    pub const fn of(kind: PacketKind) -> Self {
        match kind {
            PacketKind::Tcp => Self::Tcp,
            PacketKind::Udp => Self::Udp,
            PacketKind::Sctp => Self::Sctp,
            PacketKind::Icmp | PacketKind::IcmpError => Self::Icmp,
            PacketKind::Other => Self::Other,
        }
    }
}

/// The counters of one table. Add those of all tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Packets received: `packets = counted on connections + icmp_errors + misdirected +
    /// unplaced`, always.
    pub packets: u64,
    /// ICMP errors counted on the connection that they quote.
    pub icmp_errors: u64,
    /// Packets of shards that this table does not own: must stay 0.
    pub misdirected: u64,
    /// Packets without room for a connection, even after eviction: must stay 0.
    pub unplaced: u64,
    /// Connections begun, by [`Transport`].
    pub created: [u64; 5],
    /// Records written, by [`EndReason`], including the interim records of connections that
    /// continue.
    pub records: [u64; 6],
    /// Connections ended, by [`ConnState`](flowpin_record::ConnState), in the order of its `ALL`.
    pub states: [u64; 13],
    /// Connections open now.
    pub live: u64,
    /// The most connections open at once. The sum over tables is an upper bound.
    pub live_max: u64,
    /// Frames captured twice.
    pub duplicates: u64,
    /// Packets cut short by the capture.
    pub snapped: u64,
    /// Packets with a bad transport checksum.
    pub bad_checksums: u64,
    /// TCP segments with no bytes that were not sent before.
    pub retransmissions: u64,
    /// TCP bytes that were acknowledged but are missing from the capture.
    pub missed_bytes: u64,
    /// Connections ended of which the capture has only one direction.
    pub one_sided: u64,
    /// TCP connections ended of which the capture lacks the beginning.
    pub midstream: u64,
    /// Losses, by name.
    pub losses: Losses,
}

impl FlowCounters {
    /// Connections begun.
    pub fn created_total(&self) -> u64 {
        self.created.iter().sum()
    }

    /// Connections that ended for the given reason.
    pub fn ended(&self, reason: EndReason) -> u64 {
        self.records.get(reason as usize).copied().unwrap_or(0)
    }

    /// Connections that ended.
    pub fn ended_total(&self) -> u64 {
        self.records.iter().sum::<u64>() - self.ended(EndReason::Interim)
    }

    /// Adds the counters of another table.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.packets, other.packets),
            (&mut self.icmp_errors, other.icmp_errors),
            (&mut self.misdirected, other.misdirected),
            (&mut self.unplaced, other.unplaced),
            (&mut self.live, other.live),
            (&mut self.live_max, other.live_max),
            (&mut self.duplicates, other.duplicates),
            (&mut self.snapped, other.snapped),
            (&mut self.bad_checksums, other.bad_checksums),
            (&mut self.retransmissions, other.retransmissions),
            (&mut self.missed_bytes, other.missed_bytes),
            (&mut self.one_sided, other.one_sided),
            (&mut self.midstream, other.midstream),
        ];
        for (mine, theirs) in pairs {
            *mine += theirs;
        }
        let mine = self
            .created
            .iter_mut()
            .chain(&mut self.records)
            .chain(&mut self.states);
        let theirs = other
            .created
            .iter()
            .chain(&other.records)
            .chain(&other.states);
        for (mine, theirs) in mine.zip(theirs) {
            *mine += theirs;
        }
        self.losses.add(&other.losses);
    }

    pub(crate) fn begun(&mut self, kind: PacketKind) {
        self.created[Transport::of(kind) as usize] += 1;
    }

    pub(crate) fn recorded(&mut self, record: &ConnRecord) {
        self.records[record.reason as usize] += 1;
        if record.reason == EndReason::Interim {
            return;
        }
        // The states are numbered in the order of `ConnState::ALL`.
        if let Some(count) = self.states.get_mut(record.conn_state as usize) {
            *count += 1;
        }
        let one_sided = record.to_server.packets == 0 || record.to_client.packets == 0;
        self.one_sided += u64::from(one_sided);
        self.midstream += u64::from(record.midstream);
    }
}
