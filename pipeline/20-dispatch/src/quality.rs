//! Facts about the capture itself, learned in the in-order step.

use flowpin_counters::Refusals;
use flowpin_packet::LinkType;

/// Frames that carry no IP packet, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonIpCounts {
    /// ARP and RARP.
    pub arp: u64,
    /// Link layer discovery.
    pub lldp: u64,
    /// Spanning tree.
    pub stp: u64,
    /// PPPoE discovery and PPP's own negotiation.
    pub ppp: u64,
    /// IEEE 802.11 management, control and encrypted frames.
    pub ieee80211: u64,
    /// Everything else.
    pub other: u64,
}

impl NonIpCounts {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.arp + self.lldp + self.stp + self.ppp + self.ieee80211 + self.other
    }

    const fn add(&mut self, other: &Self) {
        let Self {
            arp,
            lldp,
            stp,
            ppp,
            ieee80211,
            other: rest,
        } = other;
        self.arp += *arp;
        self.lldp += *lldp;
        self.stp += *stp;
        self.ppp += *ppp;
        self.ieee80211 += *ieee80211;
        self.other += *rest;
    }
}

/// Counts of the in-order step. Every frame given to [`Dispatcher::dispatch`] is in exactly one
/// of `packets`, `fragments`, `non_ip`, `refused`, `headless` and `unsupported_links`.
///
/// [`Dispatcher::dispatch`]: crate::Dispatcher::dispatch
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// Frames that became a packet at once.
    pub packets: u64,
    /// Frames that hold a fragment.
    pub fragments: u64,
    /// Frames without an IP packet.
    pub non_ip: NonIpCounts,
    /// Frames refused.
    pub refused: u64,
    /// Frames that the capture cut before the network addresses.
    pub headless: u64,
    /// Frames of link types that are not read, by link type ([`Quality::unsupported_links`]).
    unsupported: [u64; LINK_TYPES],
    /// Why frames and datagrams were refused; also packets inside tunnels, though their outer
    /// packet then counts for the outer endpoints.
    pub refusals: Refusals,
    /// Tunnels that were entered and left again because the packet inside was refused.
    pub inner_refused: u64,
    /// Frames cut short by the capture.
    pub snapped: u64,
    /// Packets inside a tunnel.
    pub tunnelled: u64,
    /// Datagrams that came back from defragmentation.
    pub datagrams: u64,
    /// Packets with IP length 0, because the sender's adapter was to segment them.
    pub unsegmented: u64,
    /// Outermost IP headers whose checksum the sender's adapter was to fill in.
    pub offloaded_ip_checksums: u64,
    /// Bad transport checksums (as far as verified in this step).
    pub bad_checksums: u64,
    /// Transport checksums that the sender's adapter was to complete (likewise).
    pub offloaded_checksums: u64,
}

impl Quality {
    /// Frames of link types that are not read, by link type.
    pub fn unsupported_links(&self) -> impl Iterator<Item = (LinkType, u64)> + '_ {
        LINKS
            .iter()
            .zip(self.unsupported)
            .filter(|&(_, count)| count > 0)
            .map(|(&link, count)| (link, count))
    }

    /// Sum of [`Quality::unsupported_links`].
    pub fn unsupported_total(&self) -> u64 {
        self.unsupported.iter().sum()
    }

    /// Adds the counts of another part of the capture.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            packets,
            fragments,
            non_ip,
            refused,
            headless,
            unsupported,
            refusals,
            inner_refused,
            snapped,
            tunnelled,
            datagrams,
            unsegmented,
            offloaded_ip_checksums,
            bad_checksums,
            offloaded_checksums,
        } = other;
        self.packets += packets;
        self.fragments += fragments;
        self.non_ip.add(non_ip);
        self.refused += refused;
        self.headless += headless;
        for (sum, count) in self.unsupported.iter_mut().zip(unsupported) {
            *sum += count;
        }
        self.refusals.add(refusals);
        self.inner_refused += inner_refused;
        self.snapped += snapped;
        self.tunnelled += tunnelled;
        self.datagrams += datagrams;
        self.unsegmented += unsegmented;
        self.offloaded_ip_checksums += offloaded_ip_checksums;
        self.bad_checksums += bad_checksums;
        self.offloaded_checksums += offloaded_checksums;
    }

    pub(crate) fn count_unsupported(&mut self, link: LinkType) {
        if let Some(count) = self.unsupported.get_mut(link as usize) {
            *count += 1;
        }
    }
}

/// All link types, by their number.
pub(crate) const LINKS: [LinkType; LINK_TYPES] = [
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
    LinkType::Unsupported,
];

const LINK_TYPES: usize = LinkType::Unsupported as usize + 1;

#[cfg(test)]
mod tests {
    use super::LINKS;

    /// The table is indexed by the enum: an order that differs would name the wrong link type.
    #[test]
    fn the_table_of_link_types_is_in_order() {
        for (index, &link) in LINKS.iter().enumerate() {
            assert_eq!(link as usize, index);
        }
    }
}
