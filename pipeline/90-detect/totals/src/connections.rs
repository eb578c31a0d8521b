//! Sums over all finished connections: exact, whatever their order, and bounded by the number of
//! protocols, states and ports.

use crate::hash::FoldHash;
use crate::ports::{Ports, has_ports};
use crate::tally::Ranking;
use core::hash::Hash;
use flowpin_aggregate::{Aggregate, CountedAs, Decider, Observer, Traffic};
use flowpin_config::Plan;
use flowpin_packet::{TcpFlags, Timestamp};
use flowpin_record::{App, ConnRecord, ConnState, Direction, RecordKey};
use std::collections::HashMap;
use std::io;

/// Sums over all finished connections.
#[derive(Debug, Default)]
pub struct ConnectionSums {
    tcp: Traffic,
    udp: Traffic,
    ports: Ports,
    /// By the protocol's number.
    app_rows: Vec<(&'static str, Traffic)>,
    /// By IP protocol number; TCP and UDP only in findings.
    pub by_protocol: HashMap<u8, Traffic, FoldHash>,
    /// Connections by Zeek's state (TCP, UDP and ICMP alike), in [`ConnState::ALL`]'s order.
    pub by_state: [u64; ConnState::ALL.len()],
    /// By (protocol, server port). TCP and UDP only in findings.
    pub by_port: HashMap<(u8, u16), Traffic, FoldHash>,
    /// The same of connections whose protocol was not identified.
    pub by_unknown_port: HashMap<(u8, u16), Traffic, FoldHash>,
    /// By application protocol; only in findings.
    pub by_app: HashMap<&'static str, Traffic, FoldHash>,
    /// Connections with payload whose protocol was not identified.
    pub unknown: Traffic,
    /// TCP connections of which one direction is not in the capture, though the other proves that
    /// it was there: by what it acknowledges, or a SYN-ACK.
    pub one_sided: u64,
    /// Sums of the records' quality fields.
    pub missed_bytes: u64,
    /// TCP stream bytes.
    pub stream_bytes: u64,
    /// Frames captured twice.
    pub duplicates: u64,
    /// Packets whose transport checksum does not hold.
    pub bad_checksums: u64,
}

impl ConnectionSums {
    /// With the tables' hashes keyed by `secret`, so that no sender can aim at them.
    fn new(secret: u64) -> Self {
        let hasher = FoldHash::keyed(secret);
        Self {
            ports: Ports::new(),
            by_protocol: HashMap::with_hasher(hasher),
            by_port: HashMap::with_hasher(hasher),
            by_unknown_port: HashMap::with_hasher(hasher),
            by_app: HashMap::with_hasher(hasher),
            ..Self::default()
        }
    }

    /// Adds one finished connection. Interim records must not be added.
    fn count(&mut self, record: &ConnRecord) {
        let (up, down) = (&record.to_server, &record.to_client);
        let traffic = Traffic::of(record);
        match record.protocol {
            // PERF: nearly all connections; no table is looked up for them.
            TCP => self.tcp.add(&traffic),
            UDP => self.udp.add(&traffic),
            other => self.by_protocol.entry(other).or_default().add(&traffic),
        }
        if let Some(count) = self.by_state.get_mut(record.conn_state as usize) {
            *count += 1;
        }
        let port = (record.protocol, record.server.port);
        let is_identified = record.app.is_some();
        let (packets, bytes) = (traffic.packets, traffic.bytes);
        if !self.ports.count(port, is_identified, packets, bytes) && has_ports(record.protocol) {
            self.by_port.entry(port).or_default().add(&traffic);
            if !is_identified {
                self.by_unknown_port.entry(port).or_default().add(&traffic);
            }
        }
        match &record.app {
            Some(app) => self.count_app(app, &traffic),
            None => {
                if (up.payload_bytes | down.payload_bytes) != 0 && has_ports(record.protocol) {
                    self.unknown.add(&traffic);
                }
            }
        }
        if record.protocol == TCP {
            self.one_sided += u64::from(is_one_sided(up, down));
            self.missed_bytes += up.missed_bytes + down.missed_bytes;
            self.stream_bytes += up.stream_bytes + down.stream_bytes;
        }
        self.duplicates += u64::from(up.duplicates) + u64::from(down.duplicates);
        self.bad_checksums += u64::from(up.bad_checksums) + u64::from(down.bad_checksums);
    }

    /// Completes the tables after the last connection was counted.
    fn settle(&mut self) {
        for (protocol, traffic) in [(TCP, &mut self.tcp), (UDP, &mut self.udp)] {
            let traffic = core::mem::take(traffic);
            if traffic.connections > 0 {
                self.by_protocol.entry(protocol).or_default().add(&traffic);
            }
        }
        self.ports
            .settle(&mut self.by_port, &mut self.by_unknown_port);
        for (name, traffic) in core::mem::take(&mut self.app_rows) {
            if traffic.connections > 0 {
                self.by_app.entry(name).or_default().add(&traffic);
            }
        }
    }

    #[inline]
    fn count_app(&mut self, app: &App, traffic: &Traffic) {
        let number = usize::from(app.number);
        if self.app_rows.len() <= number {
            self.app_rows.resize(number + 1, ("", Traffic::default()));
        }
        if let Some((name, sums)) = self.app_rows.get_mut(number) {
            *name = app.name;
            sums.add(traffic);
        }
    }

    /// Adds another worker's sums.
    fn join(&mut self, other: Self) {
        if self.by_protocol.is_empty() {
            *self = other;
            return;
        }
        for (&protocol, traffic) in &other.by_protocol {
            self.by_protocol.entry(protocol).or_default().add(traffic);
        }
        for (mine, theirs) in self.by_state.iter_mut().zip(other.by_state) {
            *mine += theirs;
        }
        for (&port, traffic) in &other.by_port {
            self.by_port.entry(port).or_default().add(traffic);
        }
        for (&port, traffic) in &other.by_unknown_port {
            self.by_unknown_port.entry(port).or_default().add(traffic);
        }
        for (&name, traffic) in &other.by_app {
            self.by_app.entry(name).or_default().add(traffic);
        }
        self.unknown.add(&other.unknown);
        self.one_sided += other.one_sided;
        self.missed_bytes += other.missed_bytes;
        self.stream_bytes += other.stream_bytes;
        self.duplicates += other.duplicates;
        self.bad_checksums += other.bad_checksums;
    }

    /// Connections that were counted as something else turned out to be `name`.
    pub fn rename(&mut self, was: CountedAs, name: &'static str, traffic: &Traffic) {
        match was {
            CountedAs::Protocol(was) => take(&mut self.by_app, was, traffic),
            CountedAs::Unknown { port, has_payload } => {
                take(&mut self.by_unknown_port, port, traffic);
                if has_payload {
                    self.unknown.subtract(traffic);
                }
            }
        }
        self.by_app.entry(name).or_default().add(traffic);
    }

    /// All connections.
    pub fn total(&self) -> u64 {
        self.by_protocol
            .values()
            .map(|traffic| traffic.connections)
            .sum()
    }

    /// The `count` rows of a table with the most bytes; ties by key, so the same for any pipeline.
    pub fn top<K: Copy + Ord, S>(
        table: &HashMap<K, Traffic, S>,
        count: usize,
    ) -> Vec<(K, Traffic)> {
        let mut ranking = Ranking::new(count);
        for (&key, &traffic) in table {
            ranking.put(key, traffic, false);
        }
        let rows = ranking.rows.into_iter();
        rows.map(|row| (row.key, row.traffic)).collect()
    }
}

/// Takes out of a row what was added to it.
fn take<K: Hash + Eq>(table: &mut HashMap<K, Traffic, FoldHash>, key: K, traffic: &Traffic) {
    if let Some(sums) = table.get_mut(&key) {
        sums.subtract(traffic);
        if sums.connections == 0 {
            table.remove(&key);
        }
    }
}

/// Whether only one direction of a TCP connection was captured though its packets prove that the
/// other existed: one side is silent, and the other acknowledges, which it can only do to what it
/// has received (RFC 9293 §3.4). A lone packet counts only if it is a SYN-ACK: others are often
/// late ones of a connection whose end was captured, both ways.
fn is_one_sided(up: &Direction, down: &Direction) -> bool {
    let heard = match (up.packets, down.packets) {
        (_, 0) => up,
        (0, _) => down,
        _ => return false,
    };
    let flags = heard.tcp_flags;
    flags.has(TcpFlags::ACK) && (heard.packets > 1 || flags.has(TcpFlags::SYN))
}

/// [`ConnectionSums`] as an aggregate.
#[derive(Debug)]
pub struct Connections;

impl Aggregate for Connections {
    type Observer = ConnectionSums;
    type Decider = ConnectionSums;

    fn is_wanted(_: &Plan) -> bool {
        true
    }

    fn observer(_: &Plan, secret: u64) -> io::Result<ConnectionSums> {
        Ok(ConnectionSums::new(secret))
    }

    fn decider(_: &Plan, _: usize) -> ConnectionSums {
        ConnectionSums::default()
    }
}

impl Observer for ConnectionSums {
    type News = Box<Self>;

    #[inline]
    fn conn(&mut self, _: RecordKey, record: &ConnRecord) {
        if record.interim == 0 {
            self.count(record);
        }
    }

    fn finish(mut self, _: Timestamp) -> Option<Box<Self>> {
        self.settle();
        Some(Box::new(self))
    }
}

impl Decider for ConnectionSums {
    type News = Box<Self>;
    type Findings = Self;
    const EMITS: bool = false;

    fn add(&mut self, _: usize, news: Box<Self>) {
        self.join(*news);
    }

    fn take_findings(&mut self) -> Self {
        core::mem::take(self)
    }
}

const TCP: u8 = 6;
const UDP: u8 = 17;

#[cfg(test)]
mod tests {
    use super::is_one_sided;
    use flowpin_packet::TcpFlags;
    use flowpin_record::Direction;

    fn heard(packets: u64, flags: u8) -> Direction {
        Direction {
            packets,
            tcp_flags: TcpFlags(flags),
            ..Direction::default()
        }
    }

    /// Only an acknowledgement proves that there was something to acknowledge.
    #[test]
    fn a_silent_side_counts_if_it_was_acknowledged() {
        let silent = Direction::default();
        for (direction, expected) in [
            (heard(1, 0x12), true),  // a lone SYN-ACK
            (heard(9, 0x1a), true),  // SYN, ACKs, data
            (heard(3, 0x18), true),  // the middle of a download
            (heard(5, 0x02), false), // a SYN repeated
            (heard(1, 0x11), false), // a late FIN
            (heard(1, 0x14), false), // a late reset
        ] {
            assert_eq!(is_one_sided(&direction, &silent), expected, "{direction:?}");
            assert_eq!(is_one_sided(&silent, &direction), expected, "{direction:?}");
            assert!(!is_one_sided(&heard(1, 0x02), &direction));
        }
    }
}
