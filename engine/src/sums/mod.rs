//! Sums over connections for the summary: exact, order-free, bounded.

pub(crate) mod ports;
pub(crate) mod talkers;

use crate::sums::ports::{Ports, has_ports};
use crate::sums::talkers::Talkers;
use core::hash::{BuildHasher, Hasher};
use core::net::IpAddr;
use flowpin_packet::TcpFlags;
use flowpin_record::{App, ConnRecord, ConnState, Direction};
use std::collections::HashMap;

/// Sums over all finished connections.
#[derive(Debug, Default)]
pub struct ConnectionSums {
    tcp: Traffic,
    udp: Traffic,
    ports: Ports,
    /// By the protocol's number.
    app_rows: Vec<(&'static str, Traffic)>,
    /// By IP protocol number; TCP and UDP only once [`ConnectionSums::settle`] was called.
    pub by_protocol: HashMap<u8, Traffic, FoldHash>,
    /// Connections by Zeek's state (TCP, UDP and ICMP alike), in [`ConnState::ALL`]'s order.
    pub by_state: [u64; ConnState::ALL.len()],
    /// By (protocol, server port). TCP and UDP only once [`ConnectionSums::settle`] was called.
    pub by_port: HashMap<(u8, u16), Traffic, FoldHash>,
    /// The same of connections whose protocol was not identified.
    pub by_unknown_port: HashMap<(u8, u16), Traffic, FoldHash>,
    /// By application protocol, once [`ConnectionSums::settle`] was called.
    pub by_app: HashMap<&'static str, Traffic, FoldHash>,
    /// Connections with payload whose protocol was not identified.
    pub unknown: Traffic,
    /// By address, both ends.
    pub talkers: Talkers,
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
    /// Packets of the heaviest connection.
    pub heaviest_packets: u64,
}

/// Connections, packets and bytes of one row.
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
    pub(crate) const fn of(record: &ConnRecord) -> Self {
        let (up, down) = (&record.to_server, &record.to_client);
        Self {
            connections: 1,
            // PERF: saturating, since plain sums would be made of pairs of words, which wait for
            // the single stores of a record that was written just now (150 cycles).
            packets: up.packets.saturating_add(down.packets),
            bytes: up.frame_bytes.saturating_add(down.frame_bytes),
        }
    }

    /// Takes out what was added.
    pub(crate) const fn subtract(&mut self, other: &Self) {
        self.connections = self.connections.saturating_sub(other.connections);
        self.packets = self.packets.saturating_sub(other.packets);
        self.bytes = self.bytes.saturating_sub(other.bytes);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl ConnectionSums {
    /// With the tables' hashes keyed by `secret`, so that nobody can aim at them.
    pub fn new(secret: u64) -> Self {
        let hasher = FoldHash::keyed(secret);
        Self {
            ports: Ports::new(),
            by_protocol: HashMap::with_hasher(hasher),
            by_port: HashMap::with_hasher(hasher),
            by_unknown_port: HashMap::with_hasher(hasher),
            by_app: HashMap::with_hasher(hasher),
            talkers: Talkers::new(hasher),
            ..Self::default()
        }
    }

    /// Adds one finished connection. Interim records must not be added.
    pub fn count(&mut self, record: &ConnRecord) {
        let (up, down) = (&record.to_server, &record.to_client);
        let traffic = Traffic::of(record);
        match record.protocol {
            // PERF: nearly all connections; no table is asked for them.
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
        self.talkers.count(&record.client.address, packets, bytes);
        if record.server.address != record.client.address {
            self.talkers.count(&record.server.address, packets, bytes);
        }
        if record.protocol == TCP {
            self.one_sided += u64::from(is_one_sided(up, down));
            self.missed_bytes += up.missed_bytes + down.missed_bytes;
            self.stream_bytes += up.stream_bytes + down.stream_bytes;
        }
        self.duplicates += u64::from(up.duplicates) + u64::from(down.duplicates);
        self.bad_checksums += u64::from(up.bad_checksums) + u64::from(down.bad_checksums);
        self.heaviest_packets = self.heaviest_packets.max(traffic.packets);
    }

    /// Completes the tables after the last connection was counted.
    pub fn settle(&mut self) {
        self.talkers.settle();
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
    pub fn add(&mut self, other: Self) {
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
        self.talkers.add(&other.talkers);
        self.one_sided += other.one_sided;
        self.missed_bytes += other.missed_bytes;
        self.stream_bytes += other.stream_bytes;
        self.duplicates += other.duplicates;
        self.bad_checksums += other.bad_checksums;
        self.heaviest_packets = self.heaviest_packets.max(other.heaviest_packets);
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
        Self::top_of(table.iter().map(|(&key, &traffic)| (key, traffic)), count)
    }

    /// The `count` addresses with the most bytes, as [`ConnectionSums::top`].
    pub fn top_talkers(&self, count: usize) -> Vec<(IpAddr, Traffic)> {
        Self::top_of(self.talkers.iter(), count)
    }

    fn top_of<K: Copy + Ord>(
        rows: impl Iterator<Item = (K, Traffic)>,
        count: usize,
    ) -> Vec<(K, Traffic)> {
        let order =
            |a: &(K, Traffic), b: &(K, Traffic)| b.1.bytes.cmp(&a.1.bytes).then(a.0.cmp(&b.0));
        let mut top: Vec<(K, Traffic)> = Vec::with_capacity(count.min(64) + 1);
        for row in rows {
            // PERF: most of a hundred thousand rows are below the last of the top ones.
            if top.len() == count && top.last().is_none_or(|last| order(last, &row).is_le()) {
                continue;
            }
            let place = top.partition_point(|other| order(other, &row).is_lt());
            top.insert(place, row);
            top.truncate(count);
        }
        top
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

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A keyed multiply-and-fold hash: a few cycles for the short keys of these tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldHash {
    secret: u64,
}

impl FoldHash {
    /// One that nobody who does not know the secret can aim at.
    pub(crate) const fn keyed(secret: u64) -> Self {
        Self { secret }
    }
}

impl BuildHasher for FoldHash {
    type Hasher = FoldHasher;

    fn build_hasher(&self) -> FoldHasher {
        FoldHasher {
            state: self.secret ^ FOLD_A,
        }
    }
}

/// See [`FoldHash`].
#[derive(Clone, Copy, Debug)]
pub struct FoldHasher {
    state: u64,
}

impl FoldHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(FOLD_B);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are folded")]
        {
            self.state = (product as u64) ^ ((product >> 64) as u64);
        }
    }
}

impl Hasher for FoldHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        // Addresses: the keys that come by the million.
        if let Some(ipv4) = bytes.first_chunk().filter(|_| bytes.len() == 4) {
            return self.mix(u64::from(u32::from_le_bytes(*ipv4)));
        }
        if let Some(ipv6) = bytes.first_chunk().filter(|_| bytes.len() == 16) {
            let address = u128::from_le_bytes(*ipv6);
            #[expect(clippy::cast_possible_truncation, reason = "both halves are mixed")]
            let (low, high) = (address as u64, (address >> 64) as u64);
            self.mix(low);
            return self.mix(high);
        }
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut()
                .zip(chunk)
                .for_each(|(to, from)| *to = *from);
            self.mix(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, n: u8) {
        self.mix(u64::from(n));
    }

    #[inline]
    fn write_u16(&mut self, n: u16) {
        self.mix(u64::from(n));
    }

    // PERF: lengths and families add nothing: IPv4 and IPv6 are told apart by their bytes.
    #[inline]
    fn write_usize(&mut self, _: usize) {}

    #[inline]
    fn write_isize(&mut self, _: isize) {}

    fn finish(&self) -> u64 {
        self.state
    }
}

const FOLD_A: u64 = 0x9e37_79b9_7f4a_7c15;
const FOLD_B: u64 = 0xa24b_aed4_963e_e407;

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
