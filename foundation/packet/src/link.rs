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

    /// The type that a LINKTYPE_ number stands for.
    ///
    /// ```
    /// use flowpin_packet::LinkType;
    /// assert_eq!(LinkType::of_number(1), LinkType::Ethernet);
    /// assert_eq!(LinkType::of_number(9999), LinkType::Unsupported);
    /// ```
    pub const fn of_number(number: u16) -> Self {
        match number {
            0 => Self::Null,
            1 => Self::Ethernet,
            6 => Self::TokenRing,
            7 => Self::ArcnetBsd,
            9 => Self::Ppp,
            10 => Self::Fddi,
            // 11, 12 and 14 are DLT_ numbers that old programs wrote.
            11 | 100 => Self::AtmRfc1483,
            12 | 14 | 101 => Self::Raw,
            50 => Self::PppSerial,
            51 => Self::PppEther,
            104 => Self::CiscoHdlc,
            105 => Self::Ieee80211,
            107 => Self::FrameRelay,
            108 => Self::Loop,
            113 => Self::LinuxSll,
            117 => Self::Pflog,
            119 => Self::Ieee80211Prism,
            122 => Self::IpOverFc,
            127 => Self::Ieee80211Radiotap,
            129 => Self::ArcnetLinux,
            163 => Self::Ieee80211Avs,
            178 => Self::JuniperEther,
            192 => Self::Ppi,
            228 => Self::Ipv4,
            229 => Self::Ipv6,
            239 => Self::Nflog,
            276 => Self::LinuxSll2,
            _ => Self::Unsupported,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LinkType;

    /// What is written must be read back as the same type.
    #[test]
    fn every_type_that_can_be_written_is_read_back() {
        let mut types = std::collections::HashSet::new();
        for link in (0..=u16::MAX).map(LinkType::of_number) {
            if let Some((written, _)) = link.registered() {
                assert_eq!(LinkType::of_number(written), link);
                types.insert(link);
            }
        }
        assert_eq!(types.len(), LinkType::Unsupported as usize);
    }
}
