//! Why the fast path refuses a frame.
//!
//! The fast path is generic over what its refusals say: `()` in a run, so that the reason is
//! neither computed nor stored, and [`SlowReason`] in an explanation. One code decides for both.

/// Which check of the fast path refuses a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowReason {
    /// The link type is not Ethernet.
    Link,
    /// It is too short for the headers of an ordinary packet.
    Short,
    /// Neither IPv4 nor IPv6 follows after at most two VLAN tags: the type that does.
    EtherType(u16),
    /// IPv4 with options, or a version that differs from the type before it.
    IpHeader,
    /// The IP header claims more bytes than the frame has.
    IpLength,
    /// An IPv4 fragment.
    Fragment,
    /// Neither TCP nor UDP follows the IP header: this protocol or extension header does.
    Protocol(u8),
    /// The transport header is cut, or one of its lengths is impossible.
    TransportHeader,
    /// A UDP port of a tunnel.
    TunnelPort,
    /// A UDP payload that may be an IPv6 packet: Teredo.
    TunnelPayload,
    /// The checksum of the IPv4 header does not hold, or was left to the network adapter.
    HeaderChecksum,
}

/// What a refusal says.
pub(crate) trait Refusal {
    /// A refusal for this reason.
    fn because(reason: SlowReason) -> Self;
}

impl Refusal for () {
    #[inline(always)]
    fn because(_: SlowReason) {}
}

impl Refusal for SlowReason {
    fn because(reason: SlowReason) -> Self {
        reason
    }
}
