//! The packet descriptor: all that later stages need, so that they rarely touch the frame.

use crate::{InterfaceId, LinkType, PacketFlags, Seq, TcpFlags, Timestamp};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Into how many shards all per-connection state is divided, for any number of workers.
pub const SHARD_COUNT: usize = 256;

/// One of [`SHARD_COUNT`] shards. Depends on the connection and `--id-seed` only, never on the
/// dispatch secret or the number of workers, so that caps evict the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Shard(pub u8);

impl Shard {
    /// The shard of a connection: the top bits of its hash ([`PacketMeta::hash`]).
    #[inline]
    pub const fn of_hash(hash: u32) -> Self {
        Self((hash >> 24) as u8)
    }
}

/// What a packet is to the connection table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum PacketKind {
    /// A TCP segment.
    Tcp,
    /// A UDP datagram.
    Udp,
    /// An SCTP packet.
    Sctp,
    /// ICMP or ICMPv6 that is not an error.
    Icmp,
    /// An ICMP or ICMPv6 error. The key is that of the packet it quotes, the direction too, so
    /// it lands on the worker that has the quoted connection.
    IcmpError,
    /// Another protocol over IP (ESP, OSPF, …), or a lone fragment: keyed by addresses. Also a
    /// packet whose transport header the capture cut: keyed by ports if they are there, counted
    /// for its connection, and without anything to tell of its state.
    #[default]
    Other,
}

/// The canonical key of a connection in two words, the same for both directions.
///
/// ```text
///        63      56 55     48 47             16 15        0
///  low   │ v6│subkind│ protocol │ lower address  │ lower port │   IPv4
///  high  │         0            │ higher address │ higher port│
///
///  low   │ v6│subkind│ protocol │ 0 │ higher port │ lower port │   IPv6
///  high  │      keyless digest of both addresses, in order     │
/// ```
///
/// "Lower" and "higher" compare (address, port) as big-endian numbers. `subkind` is the request
/// type of an ICMP request/reply pair (low 7 bits), whose `port`s both hold the identifier, or the
/// type of a one-way ICMP message, whose ports hold its code; 0 for other protocols. Two IPv6
/// connections may share a digest: compare their addresses as well ([`Endpoints`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// Family, subkind, protocol, ports and, for IPv4, the lower address.
    pub low: u64,
    /// The higher endpoint (IPv4) or the addresses' digest (IPv6).
    pub high: u64,
}

impl FlowKey {
    /// Marks an IPv6 key in `low`.
    pub const IPV6_BIT: u64 = 1 << 63;

    /// The IP protocol number.
    #[inline]
    pub const fn protocol(self) -> u8 {
        #[expect(clippy::cast_possible_truncation, reason = "one byte of the word")]
        {
            (self.low >> 48) as u8
        }
    }

    /// The request type of an ICMP pair or type of a one-way message, without its top bit.
    #[inline]
    pub const fn subkind(self) -> u8 {
        ((self.low >> 56) & 0x7f) as u8
    }

    /// Whether the addresses are IPv6.
    #[inline]
    pub const fn is_ipv6(self) -> bool {
        self.low & Self::IPV6_BIT != 0
    }

    /// The ports, that of the lower endpoint first.
    #[inline]
    pub const fn ports(self) -> (u16, u16) {
        let high = if self.is_ipv6() {
            self.low >> 16
        } else {
            self.high
        };
        #[expect(clippy::cast_possible_truncation, reason = "the low 16 bits of each")]
        {
            (self.low as u16, high as u16)
        }
    }
}

/// Both addresses of a connection in key order: 16 bytes each, an IPv4 address in the first
/// four, the rest 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Endpoints {
    /// The address of the lower endpoint.
    pub low: [u8; 16],
    /// The address of the higher endpoint.
    pub high: [u8; 16],
}

impl Endpoints {
    /// The address in `bytes`, by family.
    pub fn address(bytes: [u8; 16], ipv6: bool) -> IpAddr {
        if ipv6 {
            IpAddr::V6(Ipv6Addr::from(bytes))
        } else {
            let [a, b, c, d, ..] = bytes;
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
    }
}

/// A packet, described: written once by dispatch, read by every later stage.
///
/// Offsets are from the start of the frame (or of the reassembled datagram) unless said
/// otherwise. Lengths are the headers' claims; the captured bytes may be fewer
/// ([`PacketFlags::SNAPPED`]).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PacketMeta {
    /// The connection.
    pub key: FlowKey,
    /// When the packet was captured.
    pub time: Timestamp,
    /// The stream's time at this packet: the running maximum, with leaps clamped.
    pub stream_time: Timestamp,
    /// Position in the merged input, from 1.
    pub number: u64,
    /// Shard in the top 8 bits, 24 bits keyed by the dispatch secret below: where to look.
    pub hash: u32,
    /// Offset of the frame in the piece or the extra bytes.
    pub frame_start: u32,
    /// Bytes of the frame that were captured.
    pub captured_len: u32,
    /// Bytes of the frame on the wire; of all fragments' frames for a reassembled datagram.
    pub wire_len: u32,
    /// Length of the IP packet with its header, of all fragments' packets if reassembled.
    pub ip_len: u32,
    /// Length of the transport payload.
    pub payload_len: u32,
    /// TCP: sequence number.
    pub seq: Seq,
    /// TCP: acknowledgement number.
    pub ack: Seq,
    /// Identification and transport checksum mixed: equal for a frame captured twice. 0: unknown.
    pub fingerprint: u32,
    /// TCP: window, unscaled.
    pub window: u16,
    /// Where the IP header starts that the key was taken from: the innermost one; for an ICMP
    /// error the quoted one.
    pub l3_offset: u16,
    /// Where the transport header starts.
    pub l4_offset: u16,
    /// Where the transport payload starts.
    pub payload_offset: u16,
    /// TCP: control bits. ICMP: the type.
    pub tcp_flags: TcpFlags,
    /// ICMP: the code.
    pub icmp_code: u8,
    /// What it is.
    pub kind: PacketKind,
    /// IP protocol number of the transport header (of ICMP itself for an ICMP error).
    pub protocol: u8,
    /// What dispatch found out.
    pub flags: PacketFlags,
    /// How the frame's first bytes are to be read: for walking to VLANs and tunnels again.
    pub link: LinkType,
    /// The interface that the frame came by.
    pub interface: InterfaceId,
}

// PERF: the descriptors of a batch of 32 stay in L1.
const _: () = assert!(size_of::<PacketMeta>() <= 96);

impl PacketMeta {
    /// The shard of the packet's connection.
    #[inline]
    pub const fn shard(&self) -> Shard {
        Shard::of_hash(self.hash)
    }

    /// Whether the packet travels from the key's higher endpoint to the lower one.
    #[inline]
    pub const fn high_to_low(&self) -> bool {
        self.flags.has(PacketFlags::HIGH_TO_LOW)
    }

    /// ICMP: the type (shares its byte with the TCP flags).
    #[inline]
    pub const fn icmp_type(&self) -> u8 {
        self.tcp_flags.0
    }
}
