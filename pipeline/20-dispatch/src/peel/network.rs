//! An IP header as the peel loop stores it, and the packet after it.

use crate::pin::hash::Hasher;
use crate::pin::key::{ipv4_key, ipv6_key};
use crate::transport::fingerprint;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_packet::{PacketFlags, PacketMeta};
use flowpin_wire::checksum::PseudoHeader;

/// The facts about an IP header that a packet's key and descriptor need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    /// Where the header starts.
    pub(crate) l3: u16,
    /// Whether it is IPv6.
    pub(crate) ipv6: bool,
    /// An IPv4 address stands in the low 32 bits.
    pub(crate) source: u128,
    pub(crate) destination: u128,
    /// Where a source route ends: transport checksums cover this address.
    pub(crate) final_destination: u128,
    /// Length of the packet with its header.
    pub(crate) ip_len: u32,
    /// IPv4's identification, 0 for IPv6.
    pub(crate) identification: u16,
    /// The length field is 0: the adapter was to fill it in.
    pub(crate) unsegmented: bool,
    /// It is a fragment (only in a quote: others are reassembled), and not the first.
    pub(crate) later_fragment: bool,
}

impl Network {
    pub(crate) fn addresses(&self) -> (IpAddr, IpAddr) {
        (
            address(self.source, self.ipv6),
            address(self.destination, self.ipv6),
        )
    }

    /// The addresses that transport checksums cover.
    pub(crate) fn pseudo_header(&self) -> PseudoHeader {
        if self.ipv6 {
            PseudoHeader::v6(
                self.source.to_be_bytes(),
                self.final_destination.to_be_bytes(),
            )
        } else {
            let (source, destination) = (self.source as u32, self.final_destination as u32);
            PseudoHeader::v4(source.to_be_bytes(), destination.to_be_bytes())
        }
    }
}

/// A packet with all parts of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The descriptor, except for key and hash.
    pub(crate) meta: PacketMeta,
    /// The header whose addresses give the key.
    pub(crate) network: Network,
    /// Source and destination port, or the values in their place.
    pub(crate) ports: (u16, u16),
    /// Protocol in the key.
    pub(crate) protocol: u8,
    /// Type of an ICMP request or one-way message.
    pub(crate) subkind: u8,
}

impl Found {
    /// Stores the transport checksum.
    pub(crate) fn read_checksum(&mut self, checksum: u16) {
        self.meta.fingerprint =
            fingerprint(checksum, self.network.identification, self.meta.ip_len);
    }

    /// Computes key, hash and direction.
    pub(crate) fn seal(&mut self, hasher: &Hasher) -> &PacketMeta {
        let (network, (from, to)) = (&self.network, self.ports);
        let (protocol, subkind) = (self.protocol, self.subkind);
        let high_to_low;
        let meta = &mut self.meta;
        if network.ipv6 {
            let (low, high);
            (meta.key, high_to_low, low, high) = ipv6_key(
                network.source,
                network.destination,
                from,
                to,
                protocol,
                subkind,
            );
            meta.hash = hasher.ipv6(meta.key, low, high);
            meta.flags = meta.flags.with(PacketFlags::IPV6);
        } else {
            let (source, destination) = (network.source as u32, network.destination as u32);
            (meta.key, high_to_low) = ipv4_key(source, destination, from, to, protocol, subkind);
            meta.hash = hasher.ipv4(meta.key);
        }
        if high_to_low {
            meta.flags = meta.flags.with(PacketFlags::HIGH_TO_LOW);
        }
        meta
    }
}

fn address(bits: u128, ipv6: bool) -> IpAddr {
    if ipv6 {
        IpAddr::V6(Ipv6Addr::from_bits(bits))
    } else {
        IpAddr::V4(Ipv4Addr::from_bits(bits as u32))
    }
}
