//! UDP ports and IP protocols of tunnels: the one list for all that ask.

use super::{
    AyiyaHeader, CapwapHeader, GeneveHeader, GtpuHeader, L2tpHeader, TeredoHeader, VxlanGpeHeader,
    VxlanHeader,
};
use crate::ip_protocol;

/// A tunnel over UDP that has ports of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UdpTunnel {
    /// [`L2tpHeader`].
    L2tp,
    /// [`GtpuHeader`].
    Gtpu,
    /// [`TeredoHeader`]; between clients also on other ports.
    Teredo,
    /// [`VxlanHeader`]; some senders put [`VxlanGpeHeader`] on this port, too.
    Vxlan,
    /// [`VxlanGpeHeader`].
    VxlanGpe,
    /// [`AyiyaHeader`].
    Ayiya,
    /// [`CapwapHeader`]: the data channel.
    Capwap,
    /// [`GeneveHeader`].
    Geneve,
}

impl UdpTunnel {
    /// All ports, and what runs on them.
    pub const PORTS: [(u16, Self); 9] = [
        (L2tpHeader::PORT, Self::L2tp),
        (GtpuHeader::PORT, Self::Gtpu),
        (TeredoHeader::PORT, Self::Teredo),
        (VxlanHeader::PORT, Self::Vxlan),
        (VxlanGpeHeader::PORT, Self::VxlanGpe),
        (AyiyaHeader::PORT, Self::Ayiya),
        (CapwapHeader::PORT, Self::Capwap),
        (GeneveHeader::PORT, Self::Geneve),
        (VxlanHeader::PORT_LINUX, Self::Vxlan),
    ];

    /// The tunnel that runs on a port.
    ///
    /// ```
    /// use flowpin_wire::tunnel::UdpTunnel;
    /// assert_eq!(UdpTunnel::on_port(4789), Some(UdpTunnel::Vxlan));
    /// assert_eq!(UdpTunnel::on_port(53), None);
    /// ```
    pub const fn on_port(port: u16) -> Option<Self> {
        let mut rest: &[(u16, Self)] = &Self::PORTS;
        while let Some((&(known, tunnel), others)) = rest.split_first() {
            if known == port {
                return Some(tunnel);
            }
            rest = others;
        }
        None
    }
}

/// A tunnel directly over IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpTunnel {
    /// An IPv4 packet.
    Ipv4,
    /// An IPv6 packet.
    Ipv6,
    /// [`super::GreHeader`], [`super::EoipHeader`], ERSPAN inside GRE.
    Gre,
    /// [`L2tpHeader`], version 3.
    L2tp,
    /// [`crate::link::MplsStack`].
    Mpls,
    /// [`crate::link::EthernetFrame`].
    Ethernet,
    /// [`super::NshHeader`].
    Nsh,
}

impl IpTunnel {
    /// All protocol numbers, and what they carry.
    pub const PROTOCOLS: [(u8, Self); 7] = [
        (ip_protocol::IPV4, Self::Ipv4),
        (ip_protocol::IPV6, Self::Ipv6),
        (ip_protocol::GRE, Self::Gre),
        (ip_protocol::L2TP, Self::L2tp),
        (ip_protocol::MPLS, Self::Mpls),
        (ip_protocol::ETHERNET, Self::Ethernet),
        (ip_protocol::NSH, Self::Nsh),
    ];

    /// The tunnel that a protocol number stands for.
    pub const fn of_protocol(protocol: u8) -> Option<Self> {
        let mut rest: &[(u8, Self)] = &Self::PROTOCOLS;
        while let Some((&(known, tunnel), others)) = rest.split_first() {
            if known == protocol {
                return Some(tunnel);
            }
            rest = others;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{IpTunnel, UdpTunnel};

    /// A second tunnel on the same number would never be tried.
    #[test]
    fn every_number_stands_for_one_tunnel() {
        for (port, tunnel) in UdpTunnel::PORTS {
            assert_eq!(UdpTunnel::on_port(port), Some(tunnel));
        }
        for (protocol, tunnel) in IpTunnel::PROTOCOLS {
            assert_eq!(IpTunnel::of_protocol(protocol), Some(tunnel));
        }
    }
}
