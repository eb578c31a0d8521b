//! What a rule asks of packets, connections and their state, beside buffers.

use crate::NumberCheck;
use flowpin_packet::NetworkMap;
use std::sync::Arc;

/// A condition that no buffer decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// TCP flags.
    Flags(FlagsCheck),
    /// Length of a packet's payload.
    PayloadSize(NumberCheck),
    /// Time to live, or hop limit.
    Ttl(NumberCheck),
    /// Type of service, or traffic class.
    Tos(NumberCheck),
    /// Identification of an IPv4 packet.
    Id(NumberCheck),
    /// IP protocol number.
    IpProtocol(NumberCheck),
    /// Both addresses are equal.
    SameIp,
    /// IPv4's fragment bits.
    Fragments(FragmentCheck),
    /// IPv4's fragment offset, in units of eight bytes.
    FragmentOffset(NumberCheck),
    /// TCP sequence number.
    Seq(NumberCheck),
    /// TCP acknowledgement number.
    Ack(NumberCheck),
    /// TCP window.
    Window(NumberCheck),
    /// ICMP type.
    IcmpType(NumberCheck),
    /// ICMP code.
    IcmpCode(NumberCheck),
    /// ICMP identifier.
    IcmpId(NumberCheck),
    /// ICMP sequence number.
    IcmpSeq(NumberCheck),
    /// Bytes that a stream has carried so far: to the server, to the client, both or either.
    StreamSize(FlowSide, NumberCheck),
    /// Packets of the connection up to this one: to the server, to the client, both or either.
    FlowPackets(FlowSide, NumberCheck),
    /// Bytes of their frames, likewise.
    FlowBytes(FlowSide, NumberCheck),
    /// Whole seconds since the connection's first packet.
    FlowAge(NumberCheck),
    /// The connection speaks this protocol, or does not.
    AppProtocol {
        /// Its name in rules.
        name: String,
        /// When, and by whom.
        spoken: Spoken,
        /// It must not be this one.
        negated: bool,
    },
    /// Something odd about a packet, a segment or a message, by Suricata's name.
    Event(EventOf, String),
    /// FTP: the argument of `PORT` is another address than the client's.
    FtpBounce,
    /// A value of TCP's or ICMPv6's header that not all packets have, or a number of tags.
    Header(HeaderNumber, NumberCheck),
    /// An IPv4 option of this kind is there.
    IpOption(Option<u8>),
    /// The version of IP.
    IpVersion(u8),
    /// The reputation of addresses.
    Reputation {
        /// Whose.
        of: ReputationOf,
        /// The scores of the category; 0: none.
        scores: Arc<NetworkMap<u8>>,
        /// What is asked of the score.
        check: NumberCheck,
    },
    /// The checksum of a header is right (`true`), or is not.
    Checksum(ChecksumOf, bool),
    /// A flowbit of the connection.
    FlowBit(BitAction, Vec<u16>),
    /// A number of the connection.
    FlowInt {
        /// The variable.
        name: u16,
        /// What is asked or done.
        operation: IntOp,
        /// The other number.
        value: Variant,
    },
    /// A bit of a pair of hosts, or of a host, that expires.
    HostBit {
        /// What is asked or done.
        action: BitAction,
        /// The bit.
        name: u16,
        /// Whose bit it is.
        track: Track,
        /// Seconds that a bit that is set lasts.
        expire_s: u32,
    },
}

/// A number in a packet that not all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderNumber {
    /// TCP's option of the maximum segment size.
    Mss,
    /// TCP's option of the window's scale.
    WindowScale,
    /// The MTU of ICMPv6's "packet too big".
    Mtu,
    /// The identifier of the VLAN at this depth: from the outside from 0, from the inside from -1;
    /// none: of any.
    Vlan(Option<i8>),
    /// How many VLAN tags there are.
    VlanLayers,
}

/// Whose reputation is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReputationOf {
    /// Of who sends, or of who receives.
    Any,
    /// Of who sends.
    Source,
    /// Of who receives.
    Destination,
    /// Of both.
    Both,
}

/// Whose checksum it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumOf {
    /// IPv4's header.
    Ipv4,
    /// A transport over IPv4, by its protocol number.
    OverIpv4(u8),
    /// A transport over IPv6, likewise.
    OverIpv6(u8),
}

/// The event that bytes of a stream are missing: `stream-event` knows it beside those of segments.
pub const SEQUENCE_GAP: &str = "reassembly_seq_gap";

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOf {
    /// A packet's headers (`decode-event`).
    Packet,
    /// A TCP segment, by what came before it (`stream-event`).
    Segment,
    /// A message (`app-layer-event`).
    Message,
}

/// The other number of `flowint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// As written.
    Value(u32),
    /// Another variable's.
    Name(u16),
}

/// An operation of `flowint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOp {
    /// It becomes this number.
    Set,
    /// This much is added.
    Add,
    /// This much is taken off; never below 0.
    Subtract,
    /// It is compared.
    Compare(crate::Comparison, bool),
    /// It has a value.
    IsSet,
    /// It has none.
    IsNotSet,
}

impl IntOp {
    /// Whether it asks, and changes nothing.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Compare(..) | Self::IsSet | Self::IsNotSet)
    }
}

/// What is done to a bit, or asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitAction {
    /// It is set.
    Set,
    /// It is cleared.
    Unset,
    /// It changes.
    Toggle,
    /// It has to be set; of several, one.
    IsSet,
    /// It has to be clear; of several, one.
    IsNotSet,
}

impl BitAction {
    /// Whether it asks, and changes nothing.
    pub const fn asks(self) -> bool {
        matches!(self, Self::IsSet | Self::IsNotSet)
    }
}

/// Whose direction a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowSide {
    /// The client's.
    Client,
    /// The server's.
    Server,
    /// Both.
    Both,
    /// The one or the other.
    Either,
}

/// When a connection speaks a protocol, and who does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// At any time.
    Ever,
    /// Before it changed to another one.
    First,
    /// Since it changed last.
    Last,
    /// What the client sends.
    ByClient,
    /// What the server sends.
    ByServer,
}

/// `flow`: the connection's state, the direction, and what is examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowCheck {
    /// The handshake is complete (`true`), or is not.
    pub established: Option<bool>,
    /// To the server (`true`), or to the client.
    pub to_server: Option<bool>,
    /// Streams alone (`true`), or packets alone.
    pub only_stream: Option<bool>,
    /// Reassembled from fragments (`true`), or not.
    pub only_fragments: Option<bool>,
}

/// `flags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlagsCheck {
    /// The bits.
    pub bits: u8,
    /// These bits do not count.
    pub ignored: u8,
    /// `+`: other bits may be set as well.
    pub plus: bool,
    /// `*`: any of them.
    pub any: bool,
    /// `!`: not so.
    pub negated: bool,
}

impl FlagsCheck {
    /// Whether these flags are as they should be.
    #[inline]
    pub const fn holds(self, flags: u8) -> bool {
        let flags = flags & !self.ignored;
        let holds = if self.any {
            flags & self.bits != 0
        } else if self.plus {
            flags & self.bits == self.bits
        } else {
            flags == self.bits
        };
        holds != self.negated
    }
}

/// `fragbits`: as [`FlagsCheck`], of reserved (4), don't fragment (2), more fragments (1).
pub type FragmentCheck = FlagsCheck;

/// What is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Track {
    /// By source address.
    Source,
    /// By destination address.
    Destination,
    /// By both addresses.
    Both,
    /// All together.
    Rule,
    /// By connection.
    Flow,
}

/// How alerts are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountKind {
    /// The first so many of each interval alert.
    Limit,
    /// Each time that so many have come, one alerts.
    Threshold,
    /// One in each interval alerts, once so many have come.
    Both,
    /// All alert after so many have come in the interval.
    DetectionFilter,
    /// The next one alerts after a time that doubles: refused by the compiler.
    Backoff,
}

/// `threshold` or `detection_filter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Count {
    /// How they are counted.
    pub kind: CountKind,
    /// What is counted together.
    pub track: Track,
    /// How many.
    pub count: u32,
    /// In how many seconds.
    pub seconds: u32,
}
