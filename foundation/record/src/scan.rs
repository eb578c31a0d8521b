//! Scans: one source (or several as one) asking many hosts or ports.

use crate::{Samples, Uid};
use core::net::IpAddr;
use flowpin_packet::Timestamp;

/// Over what a scan spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ScanKind {
    /// Many ports of one host (Snort: portscan).
    Vertical,
    /// One port on many hosts (Snort: portsweep; Zeek: address scan).
    Horizontal,
    /// Many ports on many hosts.
    Block,
    /// Many ports on many hosts, of each host a few and on each port a few.
    Sparse,
    /// Ports of one host or hosts of one network, asked by many sources of which each asks little.
    Distributed,
}

impl ScanKind {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vertical => "vertical",
            Self::Horizontal => "horizontal",
            Self::Block => "block",
            Self::Sparse => "sparse",
            Self::Distributed => "distributed",
        }
    }
}

/// With what a scan asks, named after nmap's techniques.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ScanMethod {
    /// TCP SYN; an open port's SYN-ACK was answered with RST, or no port was open.
    Syn,
    /// TCP SYN, and the handshake was done where a port was open.
    Connect,
    /// TCP FIN alone.
    Fin,
    /// TCP without any flag.
    Null,
    /// TCP FIN, PSH and URG.
    Xmas,
    /// TCP FIN and ACK, without a connection.
    Maimon,
    /// TCP ACK, without a connection. A window scan looks the same.
    Ack,
    /// UDP.
    Udp,
    /// SCTP INIT.
    SctpInit,
    /// SCTP COOKIE ECHO, without an association.
    SctpCookieEcho,
    /// IP protocols: the ports of the record are protocol numbers.
    IpProtocol,
    /// ICMP echo requests to many hosts.
    IcmpEcho,
}

impl ScanMethod {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syn => "syn",
            Self::Connect => "connect",
            Self::Fin => "fin",
            Self::Null => "null",
            Self::Xmas => "xmas",
            Self::Maimon => "maimon",
            Self::Ack => "ack",
            Self::Udp => "udp",
            Self::SctpInit => "sctp-init",
            Self::SctpCookieEcho => "sctp-cookie-echo",
            Self::IpProtocol => "ip-protocol",
            Self::IcmpEcho => "icmp-echo",
        }
    }

    /// The IP protocol that asks; none where every protocol is asked.
    pub const fn protocol(self, ipv6: bool) -> Option<u8> {
        Some(match self {
            Self::Syn
            | Self::Connect
            | Self::Fin
            | Self::Null
            | Self::Xmas
            | Self::Maimon
            | Self::Ack => 6,
            Self::Udp => 17,
            Self::SctpInit | Self::SctpCookieEcho => 132,
            Self::IcmpEcho if ipv6 => 58,
            Self::IcmpEcho => 1,
            Self::IpProtocol => return None,
        })
    }
}

/// Where in its life a scan or a flood is. All its records share their identifier, and each has
/// the figures since its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EpisodeState {
    /// It was just recognised: the alarm.
    Begun,
    /// It goes on: once for each window.
    Ongoing,
    /// It has ended, or the input has.
    Over,
}

impl EpisodeState {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Ongoing => "ongoing",
            Self::Over => "over",
        }
    }
}

/// A scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanRecord {
    /// Identifier: the same in all records of this scan.
    pub uid: Uid,
    /// Whether it begins, goes on or is over.
    pub state: EpisodeState,
    /// Over what it spreads.
    pub kind: ScanKind,
    /// With what it asks.
    pub method: ScanMethod,
    /// Who scans; of several, the first.
    pub source: IpAddr,
    /// How many ask for the same targets at the same time: above 1 all but one are decoys, but of a
    /// distributed scan.
    pub source_count: u64,
    /// Some of them, the first first.
    pub sources: Samples<IpAddr, 4>,
    /// Capture time of its first attempt.
    pub first: Timestamp,
    /// Capture time of its last attempt.
    pub last: Timestamp,
    /// Number of the packet of its first attempt.
    pub first_packet: u64,
    /// New connections (TCP, UDP, SCTP, ICMP) that it tried, repetitions included.
    pub attempts: u64,
    /// Different hosts asked.
    pub hosts: u64,
    /// Different ports asked; for an IP-protocol scan: protocols.
    pub ports: u64,
    /// Different pairs of host and port asked.
    pub targets: u64,
    /// Targets that accepted.
    pub open: u64,
    /// Targets that refused (RST, ABORT, ICMP port or protocol unreachable).
    pub closed: u64,
    /// Targets that did not answer, or for which somebody else refused.
    pub filtered: u64,
    /// Whether the counts are estimates (a standard error of 2 %) or exact.
    pub estimated: bool,
    /// The hosts asked first.
    pub host_samples: Samples<IpAddr, 4>,
    /// The ports asked first.
    pub port_samples: Samples<u16, 8>,
}
