//! One packet of the original, taken apart once: what to patch in each replica, and where.

use super::addresses::{Address, HostIndex, Hosts, Mapped, fold};
use std::io;

/// What to patch in one frame. Offsets are from the start of the frame.
#[derive(Debug, Default)]
pub(crate) struct Patches {
    /// Ethernet addresses follow the IP addresses (the outermost header's).
    mac: bool,
    /// The addresses of the IP header and of the one an ICMP error quotes: offset of the source
    /// (the destination follows), both hosts.
    pairs: [Option<Pair>; 2],
    /// Checksums that cover the addresses.
    checksums: [Option<Checksum>; 3],
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    at: usize,
    source: HostIndex,
    destination: HostIndex,
}

#[derive(Clone, Copy, Debug)]
struct Checksum {
    at: usize,
    /// Which of the pairs it covers, as a bit set.
    pairs: u8,
    /// UDP: 0 means "none", so a sum that comes out 0 is sent as 0xffff (RFC 768).
    udp: bool,
}

const ETHERNET_LEN: usize = 14;

impl Patches {
    /// Takes an Ethernet frame apart. A frame that is not IP gets no patches.
    pub(crate) fn of(frame: &[u8], hosts: &mut Hosts) -> io::Result<Self> {
        let mut patches = Self::default();
        let mut at = ETHERNET_LEN;
        let mut ether_type = be16(frame, 12);
        while let Some(0x8100 | 0x88a8) = ether_type {
            ether_type = be16(frame, at + 2);
            at += 4;
        }
        match ether_type {
            Some(0x0800) => patches.ipv4(frame, at, hosts)?,
            Some(0x86dd) => patches.ipv6(frame, at, hosts)?,
            _ => return Ok(patches),
        }
        patches.mac = patches.pairs[0].is_some();
        Ok(patches)
    }

    /// Whether the frame differs between replicas.
    pub(crate) fn any(&self) -> bool {
        self.pairs[0].is_some()
    }

    fn ipv4(&mut self, frame: &[u8], at: usize, hosts: &mut Hosts) -> io::Result<()> {
        let Some(header) = ipv4_header(frame, at) else {
            return Ok(());
        };
        self.pairs[0] = Some(header.pair(frame, at + 12, hosts)?);
        self.checksums[0] = Some(Checksum::new(at + 10, 1));
        let transport = at + header.len;
        // RFC 791 §3.1: only the fragment at offset 0 has the transport header.
        let first = be16(frame, at + 6).is_some_and(|word| word & 0x1fff == 0);
        if !first {
            return Ok(());
        }
        match header.protocol {
            6 => self.checksums[1] = Checksum::within(frame, transport + 16, 1),
            17 => self.udp(frame, transport),
            1 => self.icmp_quote(frame, transport, hosts)?,
            _ => {}
        }
        Ok(())
    }

    fn udp(&mut self, frame: &[u8], transport: usize) {
        if be16(frame, transport + 6).is_some_and(|sum| sum != 0) {
            self.checksums[1] = Some(Checksum {
                at: transport + 6,
                pairs: 1,
                udp: true,
            });
        }
    }

    /// ICMP has no pseudo-header, and the quoted header's own checksum takes up the change of
    /// its addresses: so the ICMP checksum stays as it is.
    fn icmp_quote(&mut self, frame: &[u8], icmp: usize, hosts: &mut Hosts) -> io::Result<()> {
        let quoted = icmp + 8;
        let is_error = matches!(frame.get(icmp), Some(3 | 4 | 5 | 11 | 12));
        if let (true, Some(header)) = (is_error, ipv4_header(frame, quoted)) {
            self.pairs[1] = Some(header.pair(frame, quoted + 12, hosts)?);
            self.checksums[2] = Some(Checksum::new(quoted + 10, 2));
        }
        Ok(())
    }

    fn ipv6(&mut self, frame: &[u8], at: usize, hosts: &mut Hosts) -> io::Result<()> {
        let Some(pair) = ipv6_pair(frame, at, hosts)? else {
            return Ok(());
        };
        self.pairs[0] = Some(pair);
        let mut next = frame.get(at + 6).copied();
        let mut offset = at + 40;
        // RFC 8200 §4: hop-by-hop, routing, destination options, fragment.
        for _ in 0..8 {
            match next {
                Some(0 | 43 | 60) => {
                    next = frame.get(offset).copied();
                    offset += 8 + 8 * frame.get(offset + 1).copied().map_or(0, usize::from);
                }
                Some(44) => {
                    if be16(frame, offset + 2).is_some_and(|word| word & 0xfff8 != 0) {
                        return Ok(());
                    }
                    next = frame.get(offset).copied();
                    offset += 8;
                }
                _ => break,
            }
        }
        match next {
            Some(6) => self.checksums[1] = Checksum::within(frame, offset + 16, 1),
            Some(17) => self.udp(frame, offset),
            Some(58) => self.icmpv6(frame, offset, hosts)?,
            _ => {}
        }
        Ok(())
    }

    fn icmpv6(&mut self, frame: &[u8], icmp: usize, hosts: &mut Hosts) -> io::Result<()> {
        // RFC 4443 §2.1: errors are types 1 to 127; their checksum covers the quoted addresses.
        let mut covered = 1;
        if matches!(frame.get(icmp), Some(1..=4)) {
            self.pairs[1] = ipv6_pair(frame, icmp + 8, hosts)?;
            covered |= u8::from(self.pairs[1].is_some()) << 1;
        }
        self.checksums[1] = Checksum::within(frame, icmp + 2, covered);
        Ok(())
    }

    /// Gives the frame the addresses of a replica.
    pub(crate) fn apply(&self, frame: &mut [u8], mapped: &[Mapped]) {
        let mut deltas = [0u32; 2];
        for (pair, delta) in self.pairs.iter().zip(&mut deltas) {
            let Some(pair) = pair else { continue };
            let hosts = (
                mapped.get(pair.source as usize),
                mapped.get(pair.destination as usize),
            );
            let (Some(source), Some(destination)) = hosts else {
                continue;
            };
            let after = put(frame, pair.at, source.address);
            put(frame, after, destination.address);
            *delta = u32::from(source.checksum_delta) + u32::from(destination.checksum_delta);
        }
        for checksum in self.checksums.iter().flatten() {
            let covered = (0..2).filter(|pair| checksum.pairs & 1 << pair != 0);
            checksum.update(frame, covered.map(|pair: usize| deltas[pair]).sum());
        }
        if let (true, Some(pair)) = (self.mac, self.pairs[0]) {
            for (at, host) in [(0, pair.destination), (6, pair.source)] {
                if let Some(mapped) = mapped.get(host as usize) {
                    put_mac(frame, at, mapped.address);
                }
            }
        }
    }
}

impl Checksum {
    const fn new(at: usize, pairs: u8) -> Self {
        Self {
            at,
            pairs,
            udp: false,
        }
    }

    /// None where the capture was cut before the field.
    fn within(frame: &[u8], at: usize, pairs: u8) -> Option<Self> {
        be16(frame, at).map(|_| Self::new(at, pairs))
    }

    /// RFC 1624 §3: HC' = ~(~HC + ~m + m'). A wrong checksum stays wrong.
    fn update(self, frame: &mut [u8], delta: u32) {
        let Some(old) = be16(frame, self.at) else {
            return;
        };
        let new = match !fold(u32::from(!old) + delta) {
            0 if self.udp => 0xffff,
            new => new,
        };
        if let Some(field) = frame.get_mut(self.at..self.at + 2) {
            field.copy_from_slice(&new.to_be_bytes());
        }
    }
}

struct Ipv4Header {
    len: usize,
    protocol: u8,
}

impl Ipv4Header {
    #[expect(
        clippy::unused_self,
        reason = "a header was found, so the addresses are there"
    )]
    fn pair(&self, frame: &[u8], at: usize, hosts: &mut Hosts) -> io::Result<Pair> {
        let address = |at: usize| {
            let bytes = frame.get(at..).and_then(|rest| rest.first_chunk());
            Address::V4(bytes.copied().unwrap_or_default())
        };
        Ok(Pair {
            at,
            source: hosts.intern(address(at))?,
            destination: hosts.intern(address(at + 4))?,
        })
    }
}

fn ipv4_header(frame: &[u8], at: usize) -> Option<Ipv4Header> {
    let header: &[u8; 20] = frame.get(at..)?.first_chunk()?;
    let len = usize::from(header[0] & 15) * 4;
    (header[0] >> 4 == 4 && len >= 20).then_some(Ipv4Header {
        len,
        protocol: header[9],
    })
}

fn ipv6_pair(frame: &[u8], at: usize, hosts: &mut Hosts) -> io::Result<Option<Pair>> {
    let header: Option<&[u8; 40]> = frame.get(at..).and_then(|rest| rest.first_chunk());
    let Some(header) = header.filter(|header| header[0] >> 4 == 6) else {
        return Ok(None);
    };
    let mut address = [0; 16];
    address.copy_from_slice(&header[8..24]);
    let source = hosts.intern(Address::V6(address))?;
    address.copy_from_slice(&header[24..40]);
    let destination = hosts.intern(Address::V6(address))?;
    Ok(Some(Pair {
        at: at + 8,
        source,
        destination,
    }))
}

/// Writes an address; the offset behind it.
fn put(frame: &mut [u8], at: usize, address: Address) -> usize {
    let bytes: &[u8] = match &address {
        Address::V4(bytes) => bytes,
        Address::V6(bytes) => bytes,
    };
    let end = at + bytes.len();
    if let Some(field) = frame.get_mut(at..end) {
        field.copy_from_slice(bytes);
    }
    end
}

/// A locally administered Ethernet address made from the IP address, or its group's.
fn put_mac(frame: &mut [u8], at: usize, address: Address) {
    let mac = match address {
        Address::V4([255, 255, 255, 255]) => [0xff; 6],
        // RFC 1112 §6.4: the low 23 bits of the group.
        Address::V4([224..=255, b, c, d]) => [0x01, 0x00, 0x5e, b & 0x7f, c, d],
        Address::V4([a, b, c, d]) => [0x02, 0x00, a, b, c, d],
        // RFC 2464 §7.
        Address::V6([0xff, .., a, b, c, d]) => [0x33, 0x33, a, b, c, d],
        Address::V6([.., r, s, a, b, c, d]) => [0x02, 0x06, r ^ a, s ^ b, c, d],
    };
    if let Some(field) = frame.get_mut(at..at + 6) {
        field.copy_from_slice(&mac);
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|&word| u16::from_be_bytes(word))
}
