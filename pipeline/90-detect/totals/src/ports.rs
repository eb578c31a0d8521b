//! Sums by port.
//!
//! ```text
//!  count ──► pending (16, their rows prefetched) ──► a row by protocol, port, and whether the
//!                                                 connection's protocol was identified
//! ```
//!
//! Waiting as in a [`Tally`](crate::tally::Tally): server ports of unidentified connections are
//! scattered. Bounded by the number of ports, so always exact.

use crate::hash::FoldHash;
use flowpin_aggregate::Traffic;
use flowpin_memory::Reserved;
use std::collections::HashMap;

/// By protocol and port.
type ByPort = HashMap<(u8, u16), Traffic, FoldHash>;

/// Sums by TCP's and UDP's ports: nearly all connections, so no hash is computed for them.
#[derive(Debug)]
pub(crate) struct Ports {
    /// Each: connections, packets, bytes, nothing. None where the system gave no memory.
    rows: Option<Reserved<[u64; 4]>>,
    /// Which of the groups of rows hold any: the others' memory is never touched.
    used: [u64; GROUPS / 64],
    pending: [Pending; PENDING],
    next: usize,
}

/// A connection's traffic that waits.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// 0 before the first.
    connections: u64,
    packets: u64,
    bytes: u64,
    place: usize,
}

impl Default for Ports {
    /// Without rows.
    fn default() -> Self {
        Self {
            rows: None,
            used: [0; GROUPS / 64],
            pending: [Pending::default(); PENDING],
            next: 0,
        }
    }
}

impl Ports {
    pub(crate) fn new() -> Self {
        Self {
            rows: Reserved::new(TABLES * PORTS).ok(),
            ..Self::default()
        }
    }

    /// Adds a connection's packets and bytes; false if its protocol has no row here.
    #[inline]
    pub(crate) fn count(
        &mut self,
        (protocol, port): (u8, u16),
        is_identified: bool,
        packets: u64,
        bytes: u64,
    ) -> bool {
        let (TCP | UDP, Some(rows)) = (protocol, &self.rows) else {
            return false;
        };
        let place = place(protocol, port, is_identified);
        rows.prefetch(place);
        self.next = (self.next + 1) % PENDING;
        self.add_pending(self.next);
        if let Some(waiting) = self.pending.get_mut(self.next) {
            (waiting.connections, waiting.place) = (1, place);
            (waiting.packets, waiting.bytes) = (packets, bytes);
        }
        true
    }

    #[inline]
    fn add_pending(&mut self, nth: usize) {
        if let Some(waiting) = self.pending.get(nth)
            && let Some(rows) = &mut self.rows
            && let Some([connections, packets, bytes, _]) = rows.get_mut(waiting.place)
            && let Some(used) = self.used.get_mut(waiting.place / GROUP / 64)
        {
            *used |= 1 << (waiting.place / GROUP % 64);
            // PERF: saturating, or pairs are added that wait for the single words just written.
            *connections = connections.saturating_add(waiting.connections);
            *packets = packets.saturating_add(waiting.packets);
            *bytes = bytes.saturating_add(waiting.bytes);
        }
    }

    /// Moves all that is here to `all`, and what was not identified to `unknown` too.
    pub(crate) fn settle(&mut self, all: &mut ByPort, unknown: &mut ByPort) {
        for nth in 0..PENDING {
            self.add_pending(nth);
        }
        let Self { rows, used, .. } = core::mem::take(self);
        let Some(rows) = rows else {
            return;
        };
        let used = (0..GROUPS).filter(|group| used[group / 64] >> (group % 64) & 1 != 0);
        for place in used.flat_map(|group| group * GROUP..(group + 1) * GROUP) {
            let &[connections, packets, bytes, _] = rows.get(place).unwrap_or(&[0; 4]);
            if connections == 0 {
                continue;
            }
            let traffic = Traffic {
                connections,
                packets,
                bytes,
            };
            let port = port_at(place);
            all.entry(port).or_default().add(&traffic);
            if place < 2 * PORTS {
                unknown.entry(port).or_default().add(&traffic);
            }
        }
    }
}

/// Where a row lies: TCP's and UDP's of what was not identified, then of what was.
#[inline]
const fn place(protocol: u8, port: u16, is_identified: bool) -> usize {
    let table = (protocol == UDP) as usize + 2 * is_identified as usize;
    table * PORTS + port as usize
}

/// What the row at a place is of.
const fn port_at(place: usize) -> (u8, u16) {
    let is_udp = !(place / PORTS).is_multiple_of(2);
    (if is_udp { UDP } else { TCP }, (place % PORTS) as u16)
}

/// Whether a protocol's endpoints have port numbers (TCP, UDP, DCCP, SCTP, UDP-Lite).
pub(crate) const fn has_ports(protocol: u8) -> bool {
    matches!(protocol, TCP | UDP | 33 | 132 | 136)
}

/// Tables of rows: of two protocols, identified or not.
const TABLES: usize = 4;
/// Rows that are in use together: half a page.
const GROUP: usize = 64;
const GROUPS: usize = TABLES * PORTS / GROUP;
/// Port numbers of a protocol.
const PORTS: usize = 1 << 16;
/// Connections that wait for their rows.
const PENDING: usize = 16;
const TCP: u8 = 6;
const UDP: u8 = 17;
