//! Ports that servers listen on: to guess the server of a connection whose beginning was not seen.
//!
//! Source: IANA's Service Name and Transport Protocol Port Number Registry, limited to services
//! that captures commonly show. Deliberately not "all below 1024": clients of NFS and `rsh` send
//! from there.

use flowpin_packet::PacketKind;
use flowpin_wire::tunnel::{UdpTunnel, WireguardMessage};

/// Whether a port is well known as a server's.
pub(crate) fn is_server_port(kind: PacketKind, port: u16) -> bool {
    match kind {
        PacketKind::Tcp => is_tcp_server(port),
        PacketKind::Udp => is_udp_server(port),
        PacketKind::Sctp => matches!(port, 80 | 443 | 2905 | 2944 | 2945 | 3868 | 36412 | 38412),
        _ => false,
    }
}

const fn is_tcp_server(port: u16) -> bool {
    matches!(
        port,
        // Files, shells, mail, names, web, directories and their encrypted forms.
        20..=23 | 25 | 43 | 49 | 53 | 70 | 79..=81 | 88 | 102 | 110 | 111 | 113 | 119 | 135 | 139
            | 143 | 179 | 389 | 443 | 445 | 464 | 465 | 502 | 515 | 543 | 544 | 548 | 554 | 563
            | 587 | 591 | 593 | 631 | 636 | 646 | 853 | 873 | 989 | 990 | 992..=995
            // Proxies, databases, queues, remote desktops, storage, industrial control.
            | 1080 | 1194 | 1352 | 1433 | 1434 | 1521 | 1723 | 1883 | 2049 | 2181 | 2375 | 2376
            | 2404 | 2811 | 3128 | 3260 | 3268 | 3269 | 3306 | 3389 | 3690 | 4840 | 5060 | 5061
            | 5222 | 5223 | 5269 | 5432 | 5671 | 5672 | 5900 | 5938 | 5984 | 5985 | 5986 | 6000
            | 6379 | 6443 | 6666..=6669 | 6697 | 7001 | 8000 | 8008 | 8080 | 8081 | 8443 | 8883
            | 8888 | 9000 | 9042 | 9092 | 9100 | 9200 | 9300 | 9418 | 11211 | 20000 | 27017
            | 44818 | 47808
    )
}

const fn is_udp_server(port: u16) -> bool {
    matches!(
        port,
        // 68 and 546 are client ports and not listed.
        53 | 67
            | 69
            | 88
            | 111
            | 123
            | 137
            | 138
            | 161
            | 162
            | 389
            | 443
            | 464
            | 500
            | 514
            | 520
            | 547
            | 623
            | 853
            | 1194
            | 1434
            | 1645
            | 1646
            | 1812
            | 1813
            | 1900
            | 2049
            | 2123
            | 3478
            | 3702
            | 4500
            | 5004
            | 5060
            | 5061
            | 5246
            | 5349
            | 5353
            | 5355
            | 5683
            | 5684
            | 6343
            | 11211
            | 20000
            | 27015
            | 44818
            | 47808
    ) || UdpTunnel::on_port(port).is_some()
        || port == WireguardMessage::PORT
}

#[cfg(test)]
mod tests {
    use super::{UdpTunnel, is_server_port};
    use flowpin_packet::PacketKind;

    /// A client's fixed port must not reverse its connection.
    #[test]
    fn fixed_client_ports_are_not_servers() {
        assert!(is_server_port(PacketKind::Udp, 67) && !is_server_port(PacketKind::Udp, 68));
        assert!(is_server_port(PacketKind::Udp, 547) && !is_server_port(PacketKind::Udp, 546));
        assert!(is_server_port(PacketKind::Tcp, 2049) && !is_server_port(PacketKind::Tcp, 900));
        assert!(!is_server_port(PacketKind::Other, 80));
    }

    /// The list has every tunnel that dispatch opens: a reply from such a port comes from a server.
    #[test]
    fn tunnel_ports_are_servers() {
        for &(port, tunnel) in UdpTunnel::PORTS {
            assert!(is_server_port(PacketKind::Udp, port), "{tunnel:?}");
        }
    }
}
