//! Who talks with whom: addresses and ports, distinct for every connection.

use crate::options::Options;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    pub(crate) v6: bool,
    /// IPv4 addresses; over IPv6 the last 32 bits behind 2001:db8::/96.
    pub(crate) client: u32,
    pub(crate) server: u32,
    pub(crate) client_port: u16,
    pub(crate) server_port: u16,
}

/// The first 96 bits of all IPv6 addresses: for documentation (RFC 3849).
pub(super) const PREFIX_V6: [u8; 12] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0];

/// Odd: multiplying by it only shuffles, and neighbours get addresses far apart.
const SHUFFLE: u32 = 0x9e_3779;
/// The lowest port of clients.
const PORT_MIN: u32 = 10_000;
const PORTS: u32 = 50_000;

impl Ends {
    /// The ends of connection `nth`: of the connections to one port, no two of 50,000 times the
    /// number of clients have the same.
    pub(crate) fn nth(nth: u64, server: u32, port: u16, v6: bool, options: &Options) -> Self {
        let clients = u64::from(options.clients);
        let client = low(nth % clients);
        let client_port = PORT_MIN + low(nth / clients % u64::from(PORTS));
        Self {
            v6,
            // 10/8.
            client: 0x0a00_0000 | client.wrapping_add(1).wrapping_mul(SHUFFLE) & 0x00ff_ffff,
            // 198.18/15, for benchmarks (RFC 2544).
            server: 0xc612_0001 + server % options.servers,
            client_port: u16::try_from(client_port).unwrap_or(u16::MAX),
            server_port: port,
        }
    }

    pub(crate) fn address(&self, host: u32) -> IpAddr {
        if self.v6 {
            let [a, b, c, d] = host.to_be_bytes();
            let mut octets = [0; 16];
            octets[..12].copy_from_slice(&PREFIX_V6);
            octets[12..].copy_from_slice(&[a, b, c, d]);
            return Ipv6Addr::from(octets).into();
        }
        Ipv4Addr::from(host).into()
    }
}

/// Who scans, and from which port.
pub(crate) fn scanner(nth: u64, options: &Options) -> (u32, u16) {
    // One after the other has its share of the ports of all hosts.
    let every = (options.connections / 4).max(1);
    let round = nth / (u64::from(options.ports) * u64::from(options.servers));
    let port = 45_000 + low(round % 20_000);
    // 172.16/12.
    (
        0xac10_0001 + low(nth / every),
        u16::try_from(port).unwrap_or(45_000),
    )
}

/// Which host and port a scan tries, one host after the other.
pub(crate) fn scanned(nth: u64, options: &Options) -> (u32, u16) {
    let ports = u64::from(options.ports);
    let host = low(nth / ports % u64::from(options.servers));
    let port = 1 + nth % ports;
    (0xc612_0001 + host, u16::try_from(port).unwrap_or(1))
}

/// Whom a flood hits, and from where the SYN `nth` claims to come.
pub(crate) fn flooded(nth: u64) -> (u32, u32) {
    let source = low(nth & 0x003f_ffff).wrapping_mul(SHUFFLE) & 0x003f_ffff;
    (0xc612_0001, 0x6440_0000 | source)
}

/// The low half.
const fn low(number: u64) -> u32 {
    (number & 0xffff_ffff) as u32
}
