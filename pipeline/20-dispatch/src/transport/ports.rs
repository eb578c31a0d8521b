//! UDP ports on which a tunnel may run.

/// UDP ports of tunnels: L2TP, GTP-U, Teredo, VXLAN, VXLAN-GPE, AYIYA, CAPWAP data, GENEVE,
/// VXLAN as Linux first numbered it.
pub(crate) const TUNNEL_PORTS: [u16; 9] = [
    L2TP,
    GTPU,
    TEREDO,
    VXLAN,
    VXLAN_GPE,
    AYIYA,
    CAPWAP,
    GENEVE,
    VXLAN_LINUX,
];

pub(crate) const L2TP: u16 = 1701;
pub(crate) const GTPU: u16 = 2152;
pub(crate) const TEREDO: u16 = 3544;
pub(crate) const VXLAN: u16 = 4789;
pub(crate) const VXLAN_GPE: u16 = 4790;
pub(crate) const AYIYA: u16 = 5072;
pub(crate) const CAPWAP: u16 = 5247;
pub(crate) const GENEVE: u16 = 6081;
pub(crate) const VXLAN_LINUX: u16 = 8472;

/// Whether one of the ports may be a tunnel's: never false if it is, rarely true otherwise.
#[inline]
pub(crate) fn may_be_tunnel(source: u16, destination: u16) -> bool {
    let bit = |port| MAP.get(row(port)).map_or(0, |bits| bits >> (port & 63));
    (bit(source) | bit(destination)) & 1 != 0
}

/// Whether a datagram of any port may be Teredo's between two clients, whose ports are whatever
/// their translators gave them (RFC 4380 §5.2): it begins as an IPv6 packet that fills it. Never
/// false if it is; true for one random datagram in a million.
#[inline]
pub(crate) const fn may_hold_ipv6(first: u8, inner_payload_len: u16, payload_len: u32) -> bool {
    first >> 4 == 6 && inner_payload_len as u32 + IPV6_HEADER_LEN == payload_len
}

const IPV6_HEADER_LEN: u32 = 40;

/// A bit for each value of a port's low 12 bits. Eight cache lines, so that the hot path neither
/// compares with every port nor drags a full table of 8 KiB through the first-level cache; one
/// port in 455 hits by accident.
#[expect(
    clippy::indexing_slicing,
    reason = "computed when compiling: would not compile"
)]
const MAP: [u64; 64] = {
    let mut map = [0; 64];
    let mut index = 0;
    while index < TUNNEL_PORTS.len() {
        let port = TUNNEL_PORTS[index];
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
    use super::{TUNNEL_PORTS, may_be_tunnel};

    /// A tunnel's packet that the straight line took would keep the outer key.
    #[test]
    fn every_tunnel_port_is_found_on_either_side() {
        for port in TUNNEL_PORTS {
            assert!(may_be_tunnel(port, 40_000) && may_be_tunnel(40_000, port));
        }
        let accidents = (0..=u16::MAX)
            .filter(|&port| may_be_tunnel(port, 53))
            .count();
        assert_eq!(accidents, TUNNEL_PORTS.len() * 16);
    }
}
