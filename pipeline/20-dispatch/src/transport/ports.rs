//! A quick test whether a UDP datagram may be a tunnel's.

use flowpin_wire::tunnel::UdpTunnel;

/// Whether one of the ports may be a tunnel's: never false if it is, rarely true if it is not.
#[inline]
pub(crate) fn may_be_tunnel(source: u16, destination: u16) -> bool {
    let bit = |port| MAP.get(row(port)).map_or(0, |bits| bits >> (port & 63));
    (bit(source) | bit(destination)) & 1 != 0
}

/// Whether a datagram on any port may be Teredo between two clients, whose ports are chosen by
/// their address translators (RFC 4380 §5.2): it begins like an IPv6 packet that fills it. Never
/// false if it is; true for one random datagram in a million.
#[inline]
pub(crate) const fn may_hold_ipv6(first: u8, inner_payload_len: u16, payload_len: u32) -> bool {
    first >> 4 == 6 && inner_payload_len as u32 + IPV6_HEADER_LEN == payload_len
}

const IPV6_HEADER_LEN: u32 = 40;

/// A bit for each value of a port's low 12 bits. Eight cache lines, so that the fast path neither
/// compares with every port nor drags a full table of 8 KiB through the first-level cache; each
/// tunnel's port brings the 15 others with the same low bits.
#[expect(
    clippy::indexing_slicing,
    reason = "computed when compiling: would not compile"
)]
const MAP: [u64; 64] = {
    let mut map = [0; 64];
    let mut index = 0;
    while index < UdpTunnel::PORTS.len() {
        let (port, _) = UdpTunnel::PORTS[index];
        map[row(port)] |= 1 << (port & 63);
        index += 1;
    }
    map
};

const fn row(port: u16) -> usize {
    (port as usize >> 6) & 63
}

#[cfg(test)]
mod tests {
    use super::may_be_tunnel;
    use flowpin_wire::tunnel::UdpTunnel;

    /// If the fast path took a tunnel's packet, it would keep the outer key.
    #[test]
    fn every_tunnel_port_is_found_on_either_side() {
        for &(port, _) in UdpTunnel::PORTS {
            assert!(may_be_tunnel(port, 40_000) && may_be_tunnel(40_000, port));
        }
        let accidents = (0..=u16::MAX)
            .filter(|&port| may_be_tunnel(port, 53))
            .count();
        assert_eq!(accidents, UdpTunnel::PORTS.len() * 16);
    }
}
