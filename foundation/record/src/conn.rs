//! The connection record.

use crate::{App, Uid};
use core::net::IpAddr;
use flowpin_packet::{InterfaceId, TcpFlags, Timestamp, TunnelKind};

/// One side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordEndpoint {
    /// The address.
    pub address: IpAddr,
    /// The port. ICMP: the client's holds the type, the server's the code (one-way types) or
    /// the counterpart's type (request/reply pairs), as Zeek writes it.
    pub port: u16,
}

/// What travelled in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// Packets; a datagram made from fragments is one.
    pub packets: u64,
    /// Bytes of frames on the wire (as EVE and tshark count).
    pub frame_bytes: u64,
    /// Bytes of IP packets with their headers (Zeek's `*_ip_bytes`).
    pub ip_bytes: u64,
    /// Bytes of transport payload, retransmissions included.
    pub payload_bytes: u64,
    /// TCP: bytes by sequence numbers (Zeek's `*_bytes`); otherwise as `payload_bytes`.
    pub stream_bytes: u64,
    /// TCP: bytes that the other side acknowledged but that the capture does not have.
    pub missed_bytes: u64,
    /// TCP: all control bits seen.
    pub tcp_flags: TcpFlags,
    /// Frames captured twice.
    pub duplicates: u32,
    /// Packets whose capture was cut short.
    pub snapped: u32,
    /// Packets whose transport checksum did not hold.
    pub bad_checksums: u32,
    /// ICMP errors that quoted a packet of this direction.
    pub icmp_errors: u32,
}

/// Zeek's summary of how a connection went (`conn_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ConnState {
    /// Attempt seen, no reply.
    S0,
    /// Established, not ended.
    S1,
    /// Normal establishment and end.
    SF,
    /// Attempt rejected.
    REJ,
    /// Established, client's close seen, no answer from the server.
    S2,
    /// Established, server's close seen, no answer from the client.
    S3,
    /// Established, client reset.
    RSTO,
    /// Server reset.
    RSTR,
    /// Client sent SYN and then RST, nothing from the server.
    RSTOS0,
    /// Server sent SYN-ACK and then RST, no SYN seen.
    RSTRH,
    /// Client sent SYN and then FIN, nothing from the server.
    SH,
    /// Server sent SYN-ACK and then FIN, no SYN seen.
    SHR,
    /// No SYN seen: picked up in the middle.
    #[default]
    OTH,
}

impl ConnState {
    /// All, in table order.
    pub const ALL: [Self; 13] = [
        Self::S0,
        Self::S1,
        Self::SF,
        Self::REJ,
        Self::S2,
        Self::S3,
        Self::RSTO,
        Self::RSTR,
        Self::RSTOS0,
        Self::RSTRH,
        Self::SH,
        Self::SHR,
        Self::OTH,
    ];

    /// Zeek's spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Self::S0 => "S0",
            Self::S1 => "S1",
            Self::SF => "SF",
            Self::REJ => "REJ",
            Self::S2 => "S2",
            Self::S3 => "S3",
            Self::RSTO => "RSTO",
            Self::RSTR => "RSTR",
            Self::RSTOS0 => "RSTOS0",
            Self::RSTRH => "RSTRH",
            Self::SH => "SH",
            Self::SHR => "SHR",
            Self::OTH => "OTH",
        }
    }
}

/// Zeek's `history`: one letter an event, upper case if the originator caused it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    /// The letters, in order.
    pub letters: [u8; Self::LEN_MAX],
    /// How many of them.
    pub len: u8,
}

impl History {
    /// Letters kept; later ones are dropped.
    pub const LEN_MAX: usize = 24;

    /// The letters as text.
    pub fn as_str(&self) -> &str {
        self.letters
            .get(..usize::from(self.len))
            .and_then(|letters| core::str::from_utf8(letters).ok())
            .unwrap_or_default()
    }
}

/// Suricata's `flow.state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FlowState {
    /// Packets in one direction only, or a handshake not completed.
    #[default]
    New,
    /// Packets in both directions; TCP: handshake completed.
    Established,
    /// TCP: ended by FIN or RST.
    Closed,
}

impl FlowState {
    /// Suricata's spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Established => "established",
            Self::Closed => "closed",
        }
    }
}

/// Suricata's `tcp.state`: the server's state (RFC 9293 §3.3.2) as a watcher can tell it. So a
/// client that closes first leads through [`Self::CloseWait`], a server through [`Self::FinWait1`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TcpState {
    /// Not TCP, or nothing known.
    #[default]
    None,
    /// SYN seen.
    SynSent,
    /// SYN-ACK seen.
    SynRecv,
    /// Handshake complete or picked up in the middle.
    Established,
    /// The server closed first.
    FinWait1,
    /// The client has acknowledged the server's FIN.
    FinWait2,
    /// The client closed first, then the server, whose FIN is not acknowledged.
    LastAck,
    /// The client closed first.
    CloseWait,
    /// The server closed first, and the client's FIN crossed its own.
    Closing,
    /// The server closed first, then the client.
    TimeWait,
    /// Both have closed and the last FIN is acknowledged, or one reset.
    Closed,
}

impl TcpState {
    /// Suricata's spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SynSent => "syn_sent",
            Self::SynRecv => "syn_recv",
            Self::Established => "established",
            Self::FinWait1 => "fin_wait1",
            Self::FinWait2 => "fin_wait2",
            Self::LastAck => "last_ack",
            Self::CloseWait => "close_wait",
            Self::Closing => "closing",
            Self::TimeWait => "time_wait",
            Self::Closed => "closed",
        }
    }
}

/// Why a connection record was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EndReason {
    /// Nothing seen for as long as its state allows.
    #[default]
    Timeout,
    /// Both sides closed, or one reset.
    Closed,
    /// A new connection took the same addresses and ports.
    Reused,
    /// Its shard was full and it was among the stalest.
    Evicted,
    /// The input ended.
    EndOfInput,
    /// It goes on: this is an interim record.
    Interim,
}

impl EndReason {
    /// The name in records and in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Closed => "closed",
            Self::Reused => "reused",
            Self::Evicted => "evicted",
            Self::EndOfInput => "end_of_input",
            Self::Interim => "interim",
        }
    }

    /// Suricata's `flow.reason`.
    pub const fn eve_name(self) -> &'static str {
        match self {
            Self::Timeout | Self::Closed | Self::Interim => "timeout",
            Self::Reused => "tcp_reuse",
            Self::Evicted => "forced",
            Self::EndOfInput => "shutdown",
        }
    }
}

/// All that is told of one connection.
///
/// The client is who opened: who sent SYN; else who received SYN-ACK; else the sender of the
/// first packet, flipped (and marked) only if the source port alone is well known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnRecord {
    /// Identifier: keyed hash of the canonical key, the first timestamp and an ordinal.
    pub uid: Uid,
    /// Capture time of the first packet.
    pub start: Timestamp,
    /// Latest capture time of any packet.
    pub end: Timestamp,
    /// Until when Zeek counts its duration: TCP: the latest packet before both sides had closed,
    /// which the last FIN itself is; else as `end`.
    pub open_until: Timestamp,
    /// Number of the first packet in the input.
    pub first_packet: u64,
    /// IP protocol number.
    pub protocol: u8,
    /// Who opened the connection (Zeek's originator).
    pub client: RecordEndpoint,
    /// The other side (Zeek's responder).
    pub server: RecordEndpoint,
    /// From the client to the server.
    pub to_server: Direction,
    /// From the server to the client.
    pub to_client: Direction,
    /// Zeek's state.
    pub conn_state: ConnState,
    /// Zeek's history.
    pub history: History,
    /// Suricata's flow state.
    pub flow_state: FlowState,
    /// Suricata's TCP state.
    pub tcp_state: TcpState,
    /// Why this record was written.
    pub reason: EndReason,
    /// Which interim record this is, from 1; 0 for the last or only one.
    pub interim: u32,
    /// TCP: mean round-trip time from the handshake (SYN to SYN-ACK to ACK), in nanoseconds.
    pub rtt_ns: Option<u64>,
    /// VLAN identifiers of the first packet, outermost first; 0xffff where there is none.
    pub vlans: [u16; 2],
    /// The interface that the first packet came by.
    pub interface: InterfaceId,
    /// The innermost tunnel of the first packet: its kind and identifier.
    pub tunnel: Option<(TunnelKind, Uid)>,
    /// The direction was turned because only the source port is well known.
    pub flipped: bool,
    /// No beginning was seen (TCP).
    pub midstream: bool,
    /// ICMP: type and code of the first packet.
    pub icmp: Option<(u8, u8)>,
    /// Which protocol it speaks, if that was identified.
    pub app: Option<App>,
    /// A rule has alerted of it.
    pub alerted: bool,
}
