//! What follows a header, in one vocabulary for all protocols that carry others.

use flowpin_packet::LinkType;

/// What the bytes behind a header are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// An IPv4 packet: [`crate::ip::Ipv4Packet`].
    Ipv4,
    /// An IPv6 packet: [`crate::ip::Ipv6Packet`].
    Ipv6,
    /// An IP packet of either version, told by its first nibble.
    Ip,
    /// A frame that begins with MAC addresses: [`crate::link::EthernetFrame`].
    Ethernet,
    /// An LLC header: [`crate::link::LlcHeader`].
    Llc,
    /// A VLAN tag behind its type: [`crate::link::VlanTag`].
    Vlan,
    /// A VN-Tag behind its type: [`crate::link::VnTag`].
    VnTag,
    /// An 802.1BR E-tag behind its type: [`crate::link::ExtenderTag`].
    ExtenderTag,
    /// Cisco metadata behind its type: [`crate::link::CiscoMetadata`].
    CiscoMetadata,
    /// An 802.1ah service tag behind its type: [`crate::link::ServiceTag`].
    ServiceTag,
    /// A FabricPath tag behind its type: [`crate::link::FabricPathTag`].
    FabricPath,
    /// A label stack: [`crate::link::MplsStack`].
    Mpls,
    /// A PPPoE session header: [`crate::link::PppoeSession`].
    PppoeSession,
    /// A PPP frame: [`crate::link::PppFrame`].
    Ppp,
    /// A Network Service Header: [`crate::tunnel::NshHeader`].
    Nsh,
    /// An ERSPAN type II header: [`crate::tunnel::Erspan2Header`].
    Erspan2,
    /// An ERSPAN type III header: [`crate::tunnel::Erspan3Header`].
    Erspan3,
    /// ARP or RARP.
    Arp,
    /// A frame of another link type.
    Link(LinkType),
    /// Nothing that can be read, or nothing at all: not an error.
    Opaque,
}

impl Next {
    /// By Ethernet type; values below 0x600 are not types and give [`Next::Opaque`].
    #[inline]
    pub const fn from_ether_type(ether_type: u16) -> Self {
        match ether_type {
            ether_type::IPV4 => Self::Ipv4,
            ether_type::IPV6 => Self::Ipv6,
            ether_type::VLAN
            | ether_type::SERVICE_VLAN
            | ether_type::QINQ_9100
            | ether_type::QINQ_9200
            | ether_type::QINQ_9300 => Self::Vlan,
            ether_type::ARP | ether_type::RARP => Self::Arp,
            ether_type::MPLS | ether_type::MPLS_MULTICAST => Self::Mpls,
            ether_type::PPPOE_SESSION => Self::PppoeSession,
            ether_type::PPP => Self::Ppp,
            ether_type::BRIDGED => Self::Ethernet,
            ether_type::LLC => Self::Llc,
            ether_type::VN_TAG => Self::VnTag,
            ether_type::EXTENDER_TAG => Self::ExtenderTag,
            ether_type::CISCO_METADATA => Self::CiscoMetadata,
            ether_type::SERVICE_INSTANCE => Self::ServiceTag,
            ether_type::FABRIC_PATH => Self::FabricPath,
            ether_type::NSH => Self::Nsh,
            _ => Self::Opaque,
        }
    }

    /// By IP's own first nibble.
    #[inline]
    pub const fn from_ip_version(bytes: &[u8]) -> Self {
        match bytes {
            [0x40..=0x4f, ..] => Self::Ipv4,
            [0x60..=0x6f, ..] => Self::Ipv6,
            _ => Self::Opaque,
        }
    }
}

/// Ethernet types (IEEE 802 numbers) that are read here.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// ERSPAN type III, in GRE.
    pub const ERSPAN_3: u16 = 0x22eb;
    /// A bridged Ethernet frame ("transparent Ethernet bridging").
    pub const BRIDGED: u16 = 0x6558;
    /// Reverse ARP.
    pub const RARP: u16 = 0x8035;
    /// IEEE 802.1Q tag.
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// PPP, in GRE version 1.
    pub const PPP: u16 = 0x880b;
    /// Redirected packets of WCCP, in GRE.
    pub const WCCP: u16 = 0x883e;
    /// MPLS.
    pub const MPLS: u16 = 0x8847;
    /// MPLS with a label assigned upstream (once: multicast).
    pub const MPLS_MULTICAST: u16 = 0x8848;
    /// PPPoE session.
    pub const PPPOE_SESSION: u16 = 0x8864;
    /// LLC in a frame longer than 1,500 bytes.
    pub const LLC: u16 = 0x8870;
    /// IEEE 802.1ad service tag.
    pub const SERVICE_VLAN: u16 = 0x88a8;
    /// ERSPAN types I and II, in GRE.
    pub const ERSPAN_2: u16 = 0x88be;
    /// IEEE 802.1ah service instance tag (MAC in MAC).
    pub const SERVICE_INSTANCE: u16 = 0x88e7;
    /// Cisco FabricPath.
    pub const FABRIC_PATH: u16 = 0x8903;
    /// Cisco metadata (TrustSec).
    pub const CISCO_METADATA: u16 = 0x8909;
    /// Cisco VN-Tag.
    pub const VN_TAG: u16 = 0x8926;
    /// IEEE 802.1BR E-tag.
    pub const EXTENDER_TAG: u16 = 0x893f;
    /// Network Service Header.
    pub const NSH: u16 = 0x894f;
    /// An old type of outer VLAN tags.
    pub const QINQ_9100: u16 = 0x9100;
    /// An old type of outer VLAN tags.
    pub const QINQ_9200: u16 = 0x9200;
    /// An old type of outer VLAN tags.
    pub const QINQ_9300: u16 = 0x9300;
}
