//! The truth about a trace: what is in it, counted while it is made.

use crate::options::Service;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// What a trace holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Packets in the capture, fragments counted one by one.
    pub packets: u64,
    /// Their bytes on the wire, without check sequence.
    pub frame_bytes: u64,
    /// Bytes of the capture.
    pub file_bytes: u64,
    /// Time of the first packet, nanoseconds since the epoch.
    pub first_ns: u64,
    /// Time of the last packet.
    pub last_ns: u64,
    /// Connections: TCP, UDP and probes.
    pub connections: u64,
    /// Of these, over TCP (probes too).
    pub tcp_connections: u64,
    /// Of these, over IPv6.
    pub v6_connections: u64,
    /// Messages of applications.
    pub messages: u64,
    /// Bytes of data, each counted once.
    pub payload_bytes: u64,
    /// Most connections at a time.
    pub concurrency_max: u64,
    /// The sum of the connections' lifetimes, from first to last packet.
    pub lifetimes_ns: u128,
    /// Packets that end inside a header line.
    pub straddling: u64,
    /// Packets with a part of a message in chunks.
    pub chunked: u64,
    /// Datagrams in more than one piece.
    pub fragmented: u64,
    /// Segments that come behind their successors as they were lost and sent again.
    pub lost: u64,
    /// Segments that were overtaken.
    pub reordered: u64,
    /// Segments that come twice.
    pub retransmitted: u64,
    /// Frames that come twice.
    pub duplicated: u64,
    /// Segments that the capture lacks.
    pub missing: u64,
    /// Connections that a reset ended.
    pub resets: u64,
    /// By what is spoken.
    pub services: BTreeMap<Service, ServiceTotals>,
}

/// What a trace holds of one service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServiceTotals {
    /// Connections.
    pub connections: u64,
    /// Messages.
    pub messages: u64,
    /// Bytes of data.
    pub payload_bytes: u64,
}

/// The characteristics that the papers print, of a trace as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Characteristics {
    /// Bytes of a frame.
    pub packet_len: f64,
    /// New connections per 1,000 packets.
    pub connection_rate: f64,
    /// Open connections, on average over time.
    pub concurrency: f64,
    /// Share of packets that end inside a header line.
    pub straddling: f64,
    /// Share of packets with a part of a message in chunks.
    pub chunked: f64,
    /// Share of connections over IPv6.
    pub v6: f64,
    /// Packets a second.
    pub packets_per_s: f64,
}

impl Totals {
    /// Averages and shares.
    #[expect(clippy::cast_precision_loss, reason = "averages")]
    pub fn characteristics(&self) -> Characteristics {
        let packets = self.packets.max(1) as f64;
        let connections = self.connections.max(1) as f64;
        let span_ns = (self.last_ns - self.first_ns).max(1) as f64;
        Characteristics {
            packet_len: self.frame_bytes as f64 / packets,
            connection_rate: 1000.0 * self.connections as f64 / packets,
            concurrency: self.lifetimes_ns as f64 / span_ns,
            straddling: self.straddling as f64 / packets,
            chunked: self.chunked as f64 / packets,
            v6: self.v6_connections as f64 / connections,
            packets_per_s: packets * 1e9 / span_ns,
        }
    }
}

/// What is known of one connection when it has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'a> {
    pub(crate) service: Service,
    pub(crate) protocol: u8,
    pub(crate) ends: crate::net::Ends,
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    /// From the client, from the server; and so on.
    pub(crate) packets: [u32; 2],
    pub(crate) frame_bytes: [u64; 2],
    pub(crate) payload_bytes: [u64; 2],
    pub(crate) missing_bytes: u64,
    pub(crate) messages: [u32; 2],
    pub(crate) close: &'a str,
}

/// Writes the truth as one JSON document, connections one a line, in the order in which they end.
pub(crate) struct Truth<'a> {
    out: Option<&'a mut dyn Write>,
    line: String,
    /// By place of the connection: what it said, both directions. Empty if nobody wants to know.
    hashes: Vec<[Sha256; 2]>,
    any: bool,
}

impl<'a> Truth<'a> {
    pub(crate) fn new(mut out: Option<&'a mut dyn Write>) -> io::Result<Self> {
        if let Some(out) = &mut out {
            out.write_all(b"{\"connections\": [")?;
        }
        Ok(Self {
            out,
            line: String::new(),
            hashes: Vec::new(),
            any: false,
        })
    }

    /// Whether each connection is to be told.
    pub(crate) const fn wants_connections(&self) -> bool {
        self.out.is_some()
    }

    /// Begins a connection in this place.
    pub(crate) fn begin(&mut self, place: u32) {
        if self.out.is_none() {
            return;
        }
        let place = place as usize;
        if place >= self.hashes.len() {
            self.hashes.resize_with(place + 1, Default::default);
        }
        if let Some(hashes) = self.hashes.get_mut(place) {
            *hashes = Default::default();
        }
    }

    /// Takes note of what one side says.
    pub(crate) fn say(&mut self, place: u32, from_client: bool, bytes: &[u8]) {
        if let Some(hashes) = self.hashes.get_mut(place as usize) {
            hashes[usize::from(!from_client)].update(bytes);
        }
    }

    /// Tells a connection.
    pub(crate) fn end(&mut self, place: u32, ended: &Ended<'_>) -> io::Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        self.line.clear();
        self.line.push_str(if self.any { ",\n" } else { "\n" });
        self.any = true;
        let hashes = self.hashes.get_mut(place as usize).map(core::mem::take);
        let hashes = hashes.unwrap_or_default().map(Sha256::finalize);
        let ends = &ended.ends;
        // Writing to a string cannot fail.
        let _ = write!(
            self.line,
            "{{\"service\": \"{}\", \"protocol\": {}, \"client\": \"{}\", \"client_port\": {}, \
             \"server\": \"{}\", \"server_port\": {}, \"first_ns\": {}, \"last_ns\": {}, \
             \"packets\": {:?}, \"frame_bytes\": {:?}, \"payload_bytes\": {:?}, \
             \"missing_bytes\": {}, \"messages\": {:?}, \"close\": \"{}\", \
             \"sha256\": [\"{:x}\", \"{:x}\"]}}",
            ended.service.name(),
            ended.protocol,
            ends.address(ends.client),
            ends.client_port,
            ends.address(ends.server),
            ends.server_port,
            ended.first_ns,
            ended.last_ns,
            ended.packets,
            ended.frame_bytes,
            ended.payload_bytes,
            ended.missing_bytes,
            ended.messages,
            ended.close,
            hashes[0],
            hashes[1],
        );
        out.write_all(self.line.as_bytes())
    }

    /// Ends the document with the totals.
    pub(crate) fn finish(self, totals: &Totals) -> io::Result<()> {
        let Some(out) = self.out else {
            return Ok(());
        };
        let totals_json = serde_json::to_string_pretty(totals)?;
        let characteristics = serde_json::to_string_pretty(&totals.characteristics())?;
        writeln!(
            out,
            "\n],\n\"totals\": {totals_json},\n\"characteristics\": {characteristics}}}"
        )?;
        out.flush()
    }
}
