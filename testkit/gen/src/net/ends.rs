//! Who talks with whom: addresses and ports, distinct for every connection.

use crate::options::{Kind, Options};
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

/// Who scans, and from which port: each client has its share of the probes, one after the other.
pub(crate) fn scanner(nth: u64, options: &Options) -> (u32, u16) {
    // A mix's clients are those that talk.
    let scanners = match options.kind {
        Kind::Scan => options.clients,
        _ => 4,
    };
    let who = nth.saturating_mul(u64::from(scanners)) / options.connections.max(1);
    let round = nth / (u64::from(options.ports) * u64::from(options.servers));
    let port = 45_000 + low(round % 20_000);
    // 172.16/12.
    (
        0xac10_0001_u32.wrapping_add(low(who)),
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

/// Whom a flood hits, and from where the SYN `nth` claims to come: from one client after the other.
/// Where a client comes again it has another port; else the port is that of `random`.
pub(crate) fn flooded(nth: u64, random: u32, options: &Options) -> (u32, u32, u16) {
    let clients = u64::from(options.clients);
    let who = low((nth % clients) & 0x003f_ffff);
    let source = who.wrapping_mul(SHUFFLE) & 0x003f_ffff;
    let port = if options.connections > clients {
        low(nth / clients % 64_000)
    } else {
        random >> 17
    };
    let port = u16::try_from(1024 + port).unwrap_or(u16::MAX);
    (0xc612_0001, 0x6440_0000 | source, port)
}

/// The low half.
const fn low(number: u64) -> u32 {
    (number & 0xffff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::{flooded, scanner};
    use crate::options::{Kind, Options};
    use std::collections::BTreeSet;

    /// As many hosts scan, and as many are a flood's sources, as there are to be clients.
    #[test]
    fn clients_are_as_many_as_asked_for() {
        for clients in [1, 3, 40] {
            let options = |kind| Options {
                clients,
                connections: 1001,
                ..Options::new(kind)
            };
            let scan = options(Kind::Scan);
            let scanners: BTreeSet<_> = (0..1001).map(|nth| scanner(nth, &scan).0).collect();
            assert_eq!(scanners.len(), clients as usize);
            let mix = options(Kind::Mix);
            let scanners: BTreeSet<_> = (0..1001).map(|nth| scanner(nth, &mix).0).collect();
            assert_eq!(scanners.len(), 4);
            let flood = options(Kind::Flood);
            let all: BTreeSet<_> = (0..1001).map(|nth| flooded(nth, 7, &flood)).collect();
            let sources: BTreeSet<_> = all.iter().map(|&(_, source, _)| source).collect();
            assert_eq!((all.len(), sources.len()), (1001, clients as usize));
        }
    }
}
