//! Link types: how the first bytes of a frame are to be read.

/// What a frame starts with, by the registry of link-layer header types (LINKTYPE_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum LinkType {
    /// Ethernet II or IEEE 802.3 (1).
    #[default]
    Ethernet,
    /// A raw IPv4 or IPv6 packet, told apart by its version (101; 12 and 14 in old files).
    Raw,
    /// A raw IPv4 packet (228).
    Ipv4,
    /// A raw IPv6 packet (229).
    Ipv6,
    /// BSD loopback: address family in the byte order of the recording host (0).
    Null,
    /// OpenBSD loopback: address family in network byte order (108).
    Loop,
    /// Linux "cooked" capture, version 1 (113).
    LinuxSll,
    /// Linux "cooked" capture, version 2 (276).
    LinuxSll2,
    /// PPP without or with HDLC framing (9).
    Ppp,
    /// PPP in HDLC-like framing (50).
    PppSerial,
    /// PPP over Ethernet, beginning at the PPPoE header (51).
    PppEther,
    /// Cisco PPP with HDLC, cHDLC (104).
    CiscoHdlc,
    /// IEEE 802.11 (105).
    Ieee80211,
    /// IEEE 802.11 behind a radiotap header (127).
    Ieee80211Radiotap,
    /// IEEE 802.11 behind a Prism header (119).
    Ieee80211Prism,
    /// IEEE 802.11 behind an AVS header (163).
    Ieee80211Avs,
    /// Frame Relay (107).
    FrameRelay,
    /// Juniper Ethernet behind the vendor's header (178).
    JuniperEther,
    /// IEEE 802.5 token ring (6).
    TokenRing,
    /// FDDI (10).
    Fddi,
    /// IP over Fibre Channel (122).
    IpOverFc,
    /// ARCNET as BSD gives it (7).
    ArcnetBsd,
    /// ARCNET as Linux gives it (129).
    ArcnetLinux,
    /// Per-packet information header, with its own link type inside (192).
    Ppi,
    /// NFLOG: type-length-value attributes around a raw packet (239).
    Nflog,
    /// PFLOG: OpenBSD's filter log header around a raw packet (117).
    Pflog,
    /// LLC/SNAP behind RFC 1483 ATM (100).
    AtmRfc1483,
    /// A type whose frames carry no Internet packets that we read: frames are counted as
    /// `UnsupportedLink`.
    Unsupported,
}

impl LinkType {
    /// Its number in the registry, and the name that libpcap has for it; none of what is not read.
    pub const fn registered(self) -> Option<(u16, &'static str)> {
        Some(match self {
            Self::Ethernet => (1, "EN10MB"),
            Self::Raw => (101, "RAW"),
            Self::Ipv4 => (228, "IPV4"),
            Self::Ipv6 => (229, "IPV6"),
            Self::Null => (0, "NULL"),
            Self::Loop => (108, "LOOP"),
            Self::LinuxSll => (113, "LINUX_SLL"),
            Self::LinuxSll2 => (276, "LINUX_SLL2"),
            Self::Ppp => (9, "PPP"),
            Self::PppSerial => (50, "PPP_SERIAL"),
            Self::PppEther => (51, "PPP_ETHER"),
            Self::CiscoHdlc => (104, "C_HDLC"),
            Self::Ieee80211 => (105, "IEEE802_11"),
            Self::Ieee80211Radiotap => (127, "IEEE802_11_RADIO"),
            Self::Ieee80211Prism => (119, "PRISM_HEADER"),
            Self::Ieee80211Avs => (163, "IEEE802_11_RADIO_AVS"),
            Self::FrameRelay => (107, "FRELAY"),
            Self::JuniperEther => (178, "JUNIPER_ETHER"),
            Self::TokenRing => (6, "IEEE802"),
            Self::Fddi => (10, "FDDI"),
            Self::IpOverFc => (122, "IP_OVER_FC"),
            Self::ArcnetBsd => (7, "ARCNET"),
            Self::ArcnetLinux => (129, "ARCNET_LINUX"),
            Self::Ppi => (192, "PPI"),
            Self::Nflog => (239, "NFLOG"),
            Self::Pflog => (117, "PFLOG"),
            Self::AtmRfc1483 => (100, "ATM_RFC1483"),
            Self::Unsupported => return None,
        })
    }

    /// The one that has this number in the registry.
    ///
    /// ```
    /// use flowpin_packet::LinkType;
    /// assert_eq!(LinkType::of_registered(1), Some(LinkType::Ethernet));
    /// assert_eq!(LinkType::of_registered(9999), None);
    /// ```
    pub fn of_registered(number: u16) -> Option<Self> {
        let has_it = |one: &Self| one.registered().is_some_and(|(its, _)| its == number);
        Self::ALL.into_iter().find(has_it)
    }

    /// All that are read.
    const ALL: [Self; 27] = [
        Self::Ethernet,
        Self::Raw,
        Self::Ipv4,
        Self::Ipv6,
        Self::Null,
        Self::Loop,
        Self::LinuxSll,
        Self::LinuxSll2,
        Self::Ppp,
        Self::PppSerial,
        Self::PppEther,
        Self::CiscoHdlc,
        Self::Ieee80211,
        Self::Ieee80211Radiotap,
        Self::Ieee80211Prism,
        Self::Ieee80211Avs,
        Self::FrameRelay,
        Self::JuniperEther,
        Self::TokenRing,
        Self::Fddi,
        Self::IpOverFc,
        Self::ArcnetBsd,
        Self::ArcnetLinux,
        Self::Ppi,
        Self::Nflog,
        Self::Pflog,
        Self::AtmRfc1483,
    ];
}

#[cfg(test)]
mod tests {
    use super::LinkType;

    /// The list has all types but the one that is not read: by their places.
    #[test]
    fn all_types_that_are_read_are_found_by_their_numbers() {
        let all = LinkType::ALL;
        assert_eq!(all.len(), LinkType::Unsupported as usize);
        for link in all {
            let (number, _) = link.registered().unwrap();
            assert_eq!(LinkType::of_registered(number), Some(link));
        }
    }
}
