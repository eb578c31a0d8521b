//! What a connection table tells: how a connection began, what happened on it since.

use flowpin_packet::{PacketKind, PacketMeta, Seq, TcpFlags, Timestamp};
use flowpin_record::{FloodKind, ScanMethod};

/// The first packet of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// The client's address; IPv4 in the first four bytes.
    pub source: [u8; 16],
    /// The server's address.
    pub target: [u8; 16],
    /// When the packet was captured.
    pub time: Timestamp,
    /// The stream's time at it.
    pub stream_time: Timestamp,
    /// Its position in the input.
    pub number: u64,
    /// The connection's place in the table: unique among those that are open.
    pub handle: u32,
    /// The client's port.
    pub source_port: u16,
    /// The server's port; of [`Probe::IpProtocol`] the protocol number; 0 for ICMP.
    pub port: u16,
    /// The connection's shard.
    pub shard: u8,
    /// What the packet asks.
    pub probe: Probe,
    /// Whether the addresses are IPv6.
    pub ipv6: bool,
}

/// What a connection's first packet asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Probe {
    /// TCP SYN.
    Syn,
    /// TCP FIN alone, without data.
    Fin,
    /// TCP without flags.
    Null,
    /// TCP FIN, PSH and URG.
    Xmas,
    /// TCP FIN and ACK, without data.
    Maimon,
    /// TCP ACK alone, without data.
    Ack,
    /// UDP.
    Udp,
    /// SCTP INIT.
    SctpInit,
    /// SCTP COOKIE ECHO.
    SctpCookieEcho,
    /// Another protocol over IP.
    IpProtocol,
    /// ICMP echo, timestamp or mask request.
    Echo,
    /// TCP ACK with data, of no connection that is known. No scanner's, but a flood's.
    Stray,
    /// TCP RST, likewise.
    Reset,
    /// What neither scanners nor floods send first: an answer, odd flags.
    Other,
}

impl Probe {
    /// What the first packet of a connection asks. `sctp_chunk` is the type of an SCTP packet's
    /// first chunk, if it can be read.
    #[inline]
    pub fn of(meta: &PacketMeta, sctp_chunk: Option<u8>) -> Self {
        match meta.kind {
            PacketKind::Tcp => Self::of_tcp(meta.tcp_flags, meta.payload_len),
            PacketKind::Udp => Self::Udp,
            PacketKind::Sctp => match sctp_chunk {
                // RFC 9260 §3.2: 1 is INIT, 10 is COOKIE ECHO.
                Some(1) => Self::SctpInit,
                Some(10) => Self::SctpCookieEcho,
                _ => Self::Other,
            },
            PacketKind::Icmp => match (meta.key.is_ipv6(), meta.icmp_type()) {
                // RFC 792, RFC 950, RFC 4443 §4.1: echo, timestamp, address mask request.
                (false, 8 | 13 | 17) | (true, 128) => Self::Echo,
                _ => Self::Other,
            },
            PacketKind::IcmpError => Self::Other,
            PacketKind::Other => Self::IpProtocol,
        }
    }

    fn of_tcp(flags: TcpFlags, payload_len: u32) -> Self {
        // RFC 3168 §6.1.1: a SYN that offers ECN has ECE and CWR too.
        let bits = flags.without(TcpFlags::ECE.with(TcpFlags::CWR)).0;
        const XMAS: u8 = TcpFlags::FIN.0 | TcpFlags::PSH.0 | TcpFlags::URG.0;
        const MAIMON: u8 = TcpFlags::FIN.0 | TcpFlags::ACK.0;
        const SYN: u8 = TcpFlags::SYN.0;
        const FIN: u8 = TcpFlags::FIN.0;
        const ACK: u8 = TcpFlags::ACK.0;
        const PUSH: u8 = TcpFlags::PSH.0 | ACK;
        const RST: u8 = TcpFlags::RST.0;
        const ABORT: u8 = RST | ACK;
        match bits {
            SYN => Self::Syn,
            XMAS => Self::Xmas,
            0 => Self::Null,
            FIN if payload_len == 0 => Self::Fin,
            MAIMON if payload_len == 0 => Self::Maimon,
            ACK if payload_len == 0 => Self::Ack,
            ACK | PUSH => Self::Stray,
            RST | ABORT if payload_len == 0 => Self::Reset,
            _ => Self::Other,
        }
    }

    /// The flood that many of these make.
    pub(crate) const fn flood(self) -> Option<FloodKind> {
        match self {
            Self::Syn => Some(FloodKind::Syn),
            Self::Udp => Some(FloodKind::Udp),
            Self::Echo => Some(FloodKind::Icmp),
            Self::Ack | Self::Stray => Some(FloodKind::Ack),
            Self::Reset => Some(FloodKind::Rst),
            _ => None,
        }
    }

    /// Whether it goes from who sent it to who got it, whoever is the client: there is none.
    #[inline]
    pub const fn is_stray(self) -> bool {
        matches!(self, Self::Stray | Self::Reset)
    }

    /// The method in records; whether a SYN scan did its handshakes is known later.
    pub(crate) const fn method(self, connects: bool) -> ScanMethod {
        match self {
            Self::Syn if connects => ScanMethod::Connect,
            Self::Syn => ScanMethod::Syn,
            Self::Fin => ScanMethod::Fin,
            Self::Null => ScanMethod::Null,
            Self::Xmas => ScanMethod::Xmas,
            Self::Maimon => ScanMethod::Maimon,
            Self::Ack => ScanMethod::Ack,
            Self::Udp => ScanMethod::Udp,
            Self::SctpInit => ScanMethod::SctpInit,
            Self::SctpCookieEcho => ScanMethod::SctpCookieEcho,
            Self::IpProtocol => ScanMethod::IpProtocol,
            Self::Echo | Self::Stray | Self::Reset | Self::Other => ScanMethod::IcmpEcho,
        }
    }
}

/// What happened on a connection after its first packet: a set, so that order does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Steps(pub u16);

impl Steps {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// The server answered, and did not refuse.
    pub const ANSWERED: Self = Self(1);
    /// The server sent SYN-ACK (TCP) or INIT ACK (SCTP).
    pub const ACCEPTED: Self = Self(1 << 1);
    /// The server refused: RST, ABORT; or ICMP said that the port or protocol is unreachable.
    pub const REFUSED: Self = Self(1 << 2);
    /// ICMP said that the packet did not get there.
    pub const BLOCKED: Self = Self(1 << 3);
    /// ICMP said that the packet lived too short: somebody traces a route.
    pub const EXPIRED: Self = Self(1 << 4);
    /// The client went on: an acknowledgement behind its SYN, COOKIE ECHO behind its INIT.
    pub const WENT_ON: Self = Self(1 << 5);
    /// The client sent data behind its first packet.
    pub const CLIENT_DATA: Self = Self(1 << 6);
    /// The client reset it.
    pub const ABORTED: Self = Self(1 << 7);
    /// The client has sent eight packets: nobody scans so.
    pub const REPEATED: Self = Self(1 << 8);

    /// Somebody went on: then it was no stray packet.
    pub(crate) const GOES_ON: Self = Self::ANSWERED.with(Self::WENT_ON).with(Self::CLIENT_DATA);

    /// Both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of `other` is in it.
    #[inline]
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What a packet that is not its connection's first says. [`Steps::REPEATED`] is the
    /// caller's: it counts packets.
    #[inline]
    pub fn of(meta: &PacketMeta, to_server: bool, sctp_chunk: Option<u8>) -> Self {
        match (meta.kind, to_server) {
            (PacketKind::Tcp, to_server) => Self::of_tcp(meta, to_server),
            (PacketKind::Sctp, true) => match sctp_chunk {
                // RFC 9260 §3.2: 0 is DATA, 10 is COOKIE ECHO, 6 is ABORT.
                Some(0) => Self::CLIENT_DATA,
                Some(10) => Self::WENT_ON,
                Some(6) => Self::ABORTED,
                _ => Self::NONE,
            },
            (PacketKind::Sctp, false) => match sctp_chunk {
                Some(2) => Self::ACCEPTED.with(Self::ANSWERED),
                Some(6) => Self::REFUSED,
                _ => Self::ANSWERED,
            },
            (PacketKind::IcmpError, _) => Self::of_icmp_error(meta),
            (_, true) => Self::NONE,
            (_, false) => Self::ANSWERED,
        }
    }

    fn of_tcp(meta: &PacketMeta, to_server: bool) -> Self {
        let flags = meta.tcp_flags;
        let data = meta.payload_len > 0;
        if to_server {
            if flags.has(TcpFlags::RST) {
                Self::ABORTED
            } else if flags.has(TcpFlags::ACK) && !flags.has(TcpFlags::SYN) {
                let went_on = Self::WENT_ON;
                if data {
                    went_on.with(Self::CLIENT_DATA)
                } else {
                    went_on
                }
            } else {
                Self::NONE
            }
        } else if flags.has(TcpFlags::RST) {
            Self::REFUSED
        } else if flags.has(TcpFlags::SYN.with(TcpFlags::ACK)) {
            Self::ACCEPTED.with(Self::ANSWERED)
        } else {
            Self::ANSWERED
        }
    }

    /// What an ICMP error says about the connection that it quotes.
    pub fn of_icmp_error(meta: &PacketMeta) -> Self {
        match (meta.key.is_ipv6(), meta.icmp_type(), meta.icmp_code) {
            // RFC 792: protocol and port unreachable. RFC 4443 §3.1, §3.4: port unreachable,
            // unrecognized next header.
            (false, 3, 2 | 3) | (true, 1, 4) | (true, 4, 1) => Self::REFUSED,
            (false, 11, _) | (true, 3, _) => Self::EXPIRED,
            // RFC 1191, RFC 4443 §3.2: the packet was too big; it will come again.
            (false, 3, 4) | (true, 2, _) => Self::NONE,
            _ => Self::BLOCKED,
        }
    }
}

/// 256 more packets of one direction of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Who sent them.
    pub source: [u8; 16],
    /// To whom.
    pub target: [u8; 16],
    /// When the last of them was captured.
    pub time: Timestamp,
    /// The stream's time at it.
    pub stream_time: Timestamp,
    /// Its position in the input.
    pub number: u64,
    /// The port they went to; 0 for ICMP.
    pub port: u16,
    /// The connection's shard.
    pub shard: u8,
    /// What they are.
    pub kind: FloodKind,
    /// Whether the addresses are IPv6.
    pub ipv6: bool,
}

impl Run {
    /// How many packets a run is.
    pub const PACKETS: u32 = 256;

    /// The flood that a direction's packets may be part of, by the last of them and by how many
    /// there were in it and in the other.
    pub fn kind_of(meta: &PacketMeta, mine: u64, theirs: u64) -> Option<FloodKind> {
        // An acknowledgement of nothing: one that moves on may be a capture of one direction.
        let alone = theirs == 0;
        let idle = alone && meta.ack == Seq(0) && meta.payload_len == 0;
        match (meta.kind, Probe::of(meta, None)) {
            (PacketKind::Icmp, Probe::Echo) => Some(FloodKind::Icmp),
            (PacketKind::Udp, _) if theirs < mine / 8 => Some(FloodKind::Udp),
            (PacketKind::Tcp, Probe::Syn) if idle && meta.tcp_flags == TcpFlags::SYN => {
                Some(FloodKind::Syn)
            }
            (PacketKind::Tcp, Probe::Ack) if idle => Some(FloodKind::Ack),
            (PacketKind::Tcp, Probe::Reset) if alone => Some(FloodKind::Rst),
            _ => None,
        }
    }
}
