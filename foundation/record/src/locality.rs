//! Which addresses count as local: those that are not routed over the Internet.
//!
//! The blocks of IANA's special-purpose registries, as Zeek takes them by default for
//! `local_orig` and `local_resp`; an IPv4 address inside 6to4 counts as itself.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is private, link-local, loopback, reserved or for documentation.
pub fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_local_ipv4(address),
        IpAddr::V6(address) => is_local_ipv6(address),
    }
}

fn is_local_ipv4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    match a {
        // "This" network, private, loopback; reserved and broadcast (RFC 1112 §4).
        0 | 10 | 127 | 240..=255 => true,
        // Carrier-grade NAT (RFC 6598): 100.64.0.0/10.
        100 => b & 0xc0 == 64,
        169 => b == 254,
        172 => b & 0xf0 == 16,
        // Protocol assignments, TEST-NET-1 (RFC 5737), private (RFC 1918).
        192 => matches!((b, c), (0, 0 | 2) | (168, _)),
        // Benchmarking (RFC 2544), TEST-NET-2.
        198 => b & 0xfe == 18 || (b, c) == (51, 100),
        // TEST-NET-3.
        203 => (b, c) == (0, 113),
        // Multicast on the link (RFC 5771), for documentation, and of one's own scope (RFC 2365).
        224 => (b, c) == (0, 0),
        233 => (b, c) == (252, 0),
        239 => true,
        _ => false,
    }
}

fn is_local_ipv6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Unspecified and loopback.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => true,
        // Local translation (RFC 8215), discard-only (RFC 6666).
        [0x64, 0xff9b, 1, ..] | [0x100, 0, 0, 0, ..] => true,
        // Protocol assignments 2001::/23 (Teredo, benchmarking …), documentation (RFC 3849).
        [0x2001, second, ..] => second & 0xfe00 == 0 || second == 0xdb8,
        // 6to4 (RFC 3056) carries an IPv4 address.
        [0x2002, high, low, ..] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            is_local_ipv4(Ipv4Addr::new(a, b, c, d))
        }
        // Unique local fc00::/7, link-local fe80::/10.
        [first, ..] => first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80,
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;

    /// The borders of the blocks, one inside and one outside of each.
    #[test]
    fn blocks_begin_and_end_where_the_registries_say() {
        for inside in [
            "0.0.0.0",
            "224.0.0.255",
            "233.252.0.1",
            "239.255.255.250",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "169.254.0.1",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.9",
            "192.168.0.1",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.7",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "fc00::",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "2002:a00:1::",
        ] {
            assert!(is_local(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "1.1.1.1",
            "100.128.0.0",
            "128.0.0.1",
            "169.253.0.1",
            "172.15.0.1",
            "172.32.0.0",
            "192.0.1.1",
            "192.169.0.1",
            "198.20.0.0",
            "198.51.101.1",
            "203.0.114.1",
            "224.0.1.1",
            "233.253.0.1",
            "238.255.255.255",
            "::2",
            "64:ff9b::1",
            "100:0:0:1::",
            "2001:200::1",
            "2606::1",
            "fe00::1",
            "fec0::1",
            "ff02::1",
            "2002:101:101::",
        ] {
            assert!(!is_local(outside.parse().unwrap()), "{outside}");
        }
    }
}
