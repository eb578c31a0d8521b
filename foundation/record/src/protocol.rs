//! Names of transport protocols.

/// The protocol's name in EVE JSON: IANA's keyword as Suricata spells it, none if unknown.
pub const fn eve_protocol_name(protocol: u8) -> Option<&'static str> {
    Some(match protocol {
        0 => "HOPOPT",
        1 => "ICMP",
        2 => "IGMP",
        3 => "GGP",
        4 => "IP-in-IP",
        5 => "ST",
        6 => "TCP",
        8 => "EGP",
        9 => "IGP",
        12 => "PUP",
        17 => "UDP",
        27 => "RDP",
        33 => "DCCP",
        41 => "IPv6",
        43 => "IPv6-Route",
        44 => "IPv6-Frag",
        46 => "RSVP",
        47 => "GRE",
        50 => "ESP",
        51 => "AH",
        58 => "IPv6-ICMP",
        59 => "IPv6-NoNxt",
        60 => "IPv6-Opts",
        88 => "EIGRP",
        89 => "OSPFIGP",
        94 => "IPIP",
        97 => "ETHERIP",
        103 => "PIM",
        108 => "IPComp",
        112 => "VRRP",
        115 => "L2TP",
        132 => "SCTP",
        135 => "Mobility-Header",
        136 => "UDPLite",
        137 => "MPLS-in-IP",
        _ => return None,
    })
}

/// The protocol's name in Zeek's `proto`, which knows three of them.
pub const fn zeek_protocol_name(protocol: u8) -> &'static str {
    match protocol {
        1 | 58 => "icmp",
        6 => "tcp",
        17 => "udp",
        _ => "unknown_transport",
    }
}

/// Whether the protocol's header begins with two ports.
pub const fn has_ports(protocol: u8) -> bool {
    matches!(protocol, 6 | 17 | 33 | 132 | 136)
}
