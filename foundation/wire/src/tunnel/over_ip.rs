//! Tunnels directly over IP, by protocol number.

use super::{
    EoipHeader, Erspan2Header, Erspan3Header, GreHeader, L2tpHeader, NshHeader, TunnelHeader,
};
use crate::{Next, ip_protocol};
use flowpin_packet::{Layer, Malformed, Reason, TunnelKind, bad};

/// A tunnel directly over IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpTunnel {
    /// An IPv4 packet.
    Ipv4,
    /// An IPv6 packet.
    Ipv6,
    /// [`GreHeader`], [`EoipHeader`], ERSPAN inside GRE.
    Gre,
    /// [`L2tpHeader`], version 3.
    L2tp,
    /// [`crate::link::MplsStack`].
    Mpls,
    /// [`crate::link::EthernetFrame`].
    Ethernet,
    /// [`NshHeader`].
    Nsh,
}

impl IpTunnel {
    /// All protocol numbers, and what they carry.
    pub const PROTOCOLS: &[(u8, Self)] = &[
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
        let mut rest: &[(u8, Self)] = Self::PROTOCOLS;
        while let Some((&(known, tunnel), others)) = rest.split_first() {
            if known == protocol {
                return Some(tunnel);
            }
            rest = others;
        }
        None
    }

    /// Reads the payload of an IP packet as this tunnel.
    ///
    /// # Errors
    /// [`Reason::WrongVersion`] for an IP packet of another version than the protocol says; those
    /// of the view.
    pub fn parse(self, payload: &[u8]) -> Result<TunnelHeader, Malformed> {
        match self {
            Self::Ipv4 => packet(payload, Next::Ipv4, Layer::Ipv4),
            Self::Ipv6 => packet(payload, Next::Ipv6, Layer::Ipv6),
            Self::Mpls => Ok(bare(Next::Mpls)),
            Self::Ethernet => Ok(bare(Next::Ethernet)),
            Self::Gre => gre(payload),
            Self::L2tp => L2tpHeader::parse_over_ip(payload).map(|view| TunnelHeader {
                kind: TunnelKind::L2tp,
                id: view.session_id(),
                next: view.next(),
                header_len: view.header_len(),
            }),
            Self::Nsh => NshHeader::parse(payload).map(|view| TunnelHeader {
                kind: TunnelKind::Nsh,
                id: view.service_path(),
                next: view.next(),
                header_len: view.header_len(),
            }),
        }
    }
}

/// No header of its own.
const fn bare(next: Next) -> TunnelHeader {
    TunnelHeader {
        kind: TunnelKind::Ip,
        id: 0,
        next,
        header_len: 0,
    }
}

fn packet(payload: &[u8], version: Next, layer: Layer) -> Result<TunnelHeader, Malformed> {
    if Next::from_ip_version(payload) == version {
        Ok(bare(version))
    } else {
        Err(bad(layer, Reason::WrongVersion, 0))
    }
}

/// GRE, and an ERSPAN header after it.
fn gre(payload: &[u8]) -> Result<TunnelHeader, Malformed> {
    if let Ok(view) = EoipHeader::parse(payload) {
        return Ok(TunnelHeader {
            kind: TunnelKind::Gre,
            id: u32::from(view.tunnel_id()),
            next: view.next(),
            header_len: view.header_len(),
        });
    }
    let gre = GreHeader::parse(payload)?;
    let (kind, id, next, header_len) = match gre.next() {
        Next::Erspan2 => {
            let view = Erspan2Header::parse(gre.payload())?;
            let id = u32::from(view.session_id());
            (TunnelKind::Erspan, id, view.next(), view.header_len())
        }
        Next::Erspan3 => {
            let view = Erspan3Header::parse(gre.payload())?;
            let id = u32::from(view.session_id());
            (TunnelKind::Erspan, id, view.next(), view.header_len())
        }
        next => (TunnelKind::Gre, gre.key().unwrap_or(0), next, 0),
    };
    Ok(TunnelHeader {
        kind,
        id,
        next,
        header_len: gre.header_len().saturating_add(header_len),
    })
}

#[cfg(test)]
mod tests {
    use super::IpTunnel;
    use crate::Next;
    use flowpin_packet::Reason;

    /// A second tunnel on the same number would never be tried.
    #[test]
    fn every_protocol_stands_for_one_tunnel() {
        for &(protocol, tunnel) in IpTunnel::PROTOCOLS {
            assert_eq!(IpTunnel::of_protocol(protocol), Some(tunnel));
        }
    }

    /// The protocol number says the version; the packet must agree.
    #[test]
    fn a_packet_of_the_other_version_is_refused() {
        for (tunnel, first, next) in [
            (IpTunnel::Ipv4, 0x45, Next::Ipv4),
            (IpTunnel::Ipv6, 0x60, Next::Ipv6),
        ] {
            assert_eq!(tunnel.parse(&[first]).unwrap().next, next);
            let refused = tunnel.parse(&[first ^ 0x20]).unwrap_err();
            assert_eq!(refused.reason, Reason::WrongVersion);
        }
    }
}
