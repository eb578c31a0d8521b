//! Floods: one target, more packets than anybody asks for.

use crate::{EpisodeState, Samples, Uid};
use core::net::IpAddr;
use flowpin_packet::Timestamp;

/// What a flood is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FloodKind {
    /// TCP SYN, handshakes never done.
    Syn,
    /// ICMP or ICMPv6 requests.
    Icmp,
    /// UDP that is not answered.
    Udp,
    /// TCP acknowledgements, with data or without, that belong to no connection.
    Ack,
    /// TCP resets that belong to no connection.
    Rst,
}

impl FloodKind {
    /// How many kinds there are.
    pub const COUNT: usize = 5;

    /// All.
    pub const ALL: [Self; Self::COUNT] = [Self::Syn, Self::Icmp, Self::Udp, Self::Ack, Self::Rst];

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syn => "syn",
            Self::Icmp => "icmp",
            Self::Udp => "udp",
            Self::Ack => "ack",
            Self::Rst => "rst",
        }
    }

    /// The IP protocol.
    pub const fn protocol(self, ipv6: bool) -> u8 {
        match self {
            Self::Syn | Self::Ack | Self::Rst => 6,
            Self::Icmp if ipv6 => 58,
            Self::Icmp => 1,
            Self::Udp => 17,
        }
    }
}

/// A flood against one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloodRecord {
    /// Identifier: the same in all records of this flood.
    pub uid: Uid,
    /// Whether it begins, goes on or is over.
    pub state: EpisodeState,
    /// What it is made of.
    pub kind: FloodKind,
    /// Who is flooded.
    pub target: IpAddr,
    /// The port that most of what was seen of it went to; none for ICMP.
    pub port: Option<u16>,
    /// Capture time of the first packet that was recognised as part of it.
    pub first: Timestamp,
    /// Capture time of the last.
    pub last: Timestamp,
    /// Number of the first packet.
    pub first_packet: u64,
    /// Source addresses, which may be forged.
    pub source_count: u64,
    /// The sources seen first.
    pub sources: Samples<IpAddr, 4>,
    /// Packets of the flood: SYNs without a handshake; ICMP; UDP without an answer; ACKs
    /// and RSTs of no connection.
    pub packets: u64,
    /// The most packets per second, over about a second.
    pub peak_rate: u64,
    /// Whether packets and sources are estimates (a standard error of 4 %) or exact.
    pub estimated: bool,
}
