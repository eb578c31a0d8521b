//! Fragments on their way to defragmentation, and whole datagrams on their way back.

use crate::{InterfaceId, LinkType, PacketFlags, Timestamp};

/// What the layers around an IP packet left behind. It travels with a fragment to the datagram,
/// so that limits and flags hold across reassembly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeelContext {
    /// How the bytes at `frame_start` are to be read.
    pub link: LinkType,
    /// The interface that the frame came by.
    pub interface: InterfaceId,
    /// Layers peeled so far: nesting has one limit, inside and outside fragments.
    pub layers: u8,
    /// VLAN, TUNNELLED, SNAPPED, OUT_OF_ORDER: as far as known.
    pub flags: PacketFlags,
}

/// One IP fragment, described for defragmentation. Offsets are into the bytes that dispatch was
/// given: the piece, or the extra bytes.
///
/// ```text
///  frame_start    header_start   payload_start
///  │ link, tunnels │ IP header [… Fragment header] │ payload: `captured_len` of `payload_len` │
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentRef {
    /// Where the frame starts.
    pub frame_start: u32,
    /// Where the fragment's IP header starts.
    pub header_start: u32,
    /// Where the fragment's payload starts.
    pub payload_start: u32,
    /// IPv4: length of the header. IPv6: bytes from the header to the Fragment header.
    pub unfragmentable_len: u16,
    /// IPv6: offset, from `header_start`, of the byte that announces the Fragment header.
    pub next_header_at: u16,
    /// Payload bytes that were captured.
    pub captured_len: u16,
    /// Payload bytes that the headers claim.
    pub payload_len: u16,
    /// Where the payload belongs in the datagram's: a multiple of 8.
    pub offset: u16,
    /// Whether fragments follow.
    pub more: bool,
    /// Whether it is IPv6.
    pub ipv6: bool,
    /// Protocol of the datagram, as this fragment says.
    pub protocol: u8,
    /// Identification.
    pub id: u32,
    /// Bytes on the wire of the frame (of all frames, if it came out of a datagram).
    pub wire_len: u32,
    /// Length of this IP packet with its header, as it counts for the connection.
    pub ip_len: u32,
    /// The packet's number in the input.
    pub number: u64,
    /// Its capture time.
    pub time: Timestamp,
    /// Stream time at this packet.
    pub stream_time: Timestamp,
    /// What stood around it.
    pub context: PeelContext,
}

/// A datagram made from fragments, in the extra bytes.
///
/// The bytes between `frame_start` and `header_start` are those that stood before the last
/// fragment's IP header, so that VLANs and tunnels can be read as of any frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Where the outer bytes start.
    pub frame_start: u32,
    /// Where the datagram's IP header starts.
    pub header_start: u32,
    /// Bytes from `header_start` that are there.
    pub captured_len: u32,
    /// Length of the datagram with its header.
    pub len: u32,
    /// Bytes on the wire of all its frames.
    pub wire_len: u32,
    /// Lengths of all its IP packets.
    pub ip_len: u32,
    /// Number of the packet that completed it.
    pub number: u64,
    /// Capture time of that packet.
    pub time: Timestamp,
    /// Stream time at that packet.
    pub stream_time: Timestamp,
    /// What stood around that packet, with the flags of all.
    pub context: PeelContext,
}
