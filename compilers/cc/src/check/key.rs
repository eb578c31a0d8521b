//! Which part a frame belongs to: the same function as the run-time's (`runtime/flowpin_hash.c`).

/// What packets of one part have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Both addresses, in any order.
    IpPair,
    /// Both addresses with their ports. Fragments have none: they go by addresses alone.
    FourTuple,
}

impl Key {
    /// The hash of a frame, the same for both directions; 0 for what has no addresses.
    #[must_use]
    pub fn hash(self, link_type: u32, frame: &[u8]) -> u32 {
        let packet = before_ip(link_type, frame).and_then(|at| frame.get(at..));
        let Some(hash) = packet.and_then(|packet| self.of_ip(packet)) else {
            return 0;
        };
        let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
        hash ^ hash >> 13
    }

    fn of_ip(self, ip: &[u8]) -> Option<u32> {
        match ip.first()? >> 4 {
            4 => self.of_ip4(ip, false),
            6 => self.of_ip6(ip),
            _ => None,
        }
    }

    fn of_ip4(self, ip: &[u8], is_quoted: bool) -> Option<u32> {
        let addresses = ip.get(12..20)?;
        let header = usize::from(ip.first()? & 15) * 4;
        let protocol = *ip.get(9)?;
        let is_fragment = be16(ip, 6)? & 0x3fff != 0;
        if header < 20 {
            return None;
        }
        let quoted = ip.get(header + 8..).filter(|quoted| quoted.len() >= 20);
        // RFC 792: an error quotes the packet that it is about, and belongs to its connection.
        if let (1, false, false, Some(quoted)) = (protocol, is_fragment, is_quoted, quoted) {
            let is_error = matches!(ip.get(header)?, 3 | 4 | 5 | 11 | 12);
            if is_error && quoted.first()? >> 4 == 4 {
                return self.of_ip4(quoted, true);
            }
        }
        let ports = ip.get(header..header + 4);
        let by_ports = self == Self::FourTuple && has_ports(protocol) && !is_fragment;
        of_ends(addresses.split_at(4), ports.filter(|_| by_ports))
    }

    fn of_ip6(self, ip: &[u8]) -> Option<u32> {
        let by_ports = self == Self::FourTuple && has_ports(*ip.get(6)?);
        let ports = ip.get(40..44).filter(|_| by_ports);
        of_ends(ip.get(8..40)?.split_at(16), ports)
    }
}

fn has_ports(protocol: u8) -> bool {
    matches!(protocol, 6 | 17 | 132)
}

/// Both ends in one order, whichever sent the frame.
fn of_ends(addresses: (&[u8], &[u8]), ports: Option<&[u8]>) -> Option<u32> {
    let ports = ports.map_or((&[][..], &[][..]), |ports| ports.split_at(2));
    let mut ends = [
        [addresses.0, ports.0].concat(),
        [addresses.1, ports.1].concat(),
    ];
    ends.sort();
    let bytes = ends.concat();
    let words = bytes.chunks_exact(2);
    let mut hash: u32 = 1;
    for word in words {
        hash = (hash ^ u32::from(be16(word, 0)?)).wrapping_mul(0x9e37_79b1);
        hash ^= hash >> 15;
    }
    Some(hash)
}

/// The bytes before the IP header.
fn before_ip(link_type: u32, frame: &[u8]) -> Option<usize> {
    match link_type {
        1 => {
            let mut at = 14;
            let mut ether_type = be16(frame, 12)?;
            for _ in 0..4 {
                if matches!(ether_type, 0x8100 | 0x88a8 | 0x9100) {
                    ether_type = be16(frame, at + 2)?;
                    at += 4;
                }
            }
            matches!(ether_type, 0x0800 | 0x86dd).then_some(at)
        }
        0 | 108 => Some(4),
        113 => Some(16),
        276 => Some(20),
        12 | 14 | 101 | 228 | 229 => Some(0),
        _ => None,
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes(pair.try_into().ok()?))
}
