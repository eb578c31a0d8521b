//! Link types.

use super::check_payload;
use crate::medium::LinkFrame;
use flowpin_packet::LinkType;

/// Every link type over the same bytes.
pub fn fuzz_medium(data: &[u8]) {
    for link in LINK_TYPES {
        if let Ok(view) = LinkFrame::parse(link, data) {
            check_payload(data, view.header_len(), view.payload());
        }
    }
}

/// All link types that have frames.
pub(super) const LINK_TYPES: [LinkType; 27] = [
    LinkType::Ethernet,
    LinkType::Raw,
    LinkType::Ipv4,
    LinkType::Ipv6,
    LinkType::Null,
    LinkType::Loop,
    LinkType::LinuxSll,
    LinkType::LinuxSll2,
    LinkType::Ppp,
    LinkType::PppSerial,
    LinkType::PppEther,
    LinkType::CiscoHdlc,
    LinkType::Ieee80211,
    LinkType::Ieee80211Radiotap,
    LinkType::Ieee80211Prism,
    LinkType::Ieee80211Avs,
    LinkType::FrameRelay,
    LinkType::JuniperEther,
    LinkType::TokenRing,
    LinkType::Fddi,
    LinkType::IpOverFc,
    LinkType::ArcnetBsd,
    LinkType::ArcnetLinux,
    LinkType::Ppi,
    LinkType::Nflog,
    LinkType::Pflog,
    LinkType::AtmRfc1483,
];
