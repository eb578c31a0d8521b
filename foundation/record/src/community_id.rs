//! Community ID, version 1: the same text for a connection in every tool.
//!
//! ```text
//!  0     2          2+n         2+2n  +1 +1   +2    +2
//!  │seed │lower addr│higher addr│proto│0 │port │port │  n = 4 or 16, big endian
//!  └──── SHA-1 ──► base64, behind "1:"
//! ```
//!
//! Other protocols than TCP, UDP, SCTP and ICMP have no ports there at all. ICMP uses type and
//! counterpart type (`8` and `0` for echo) as ports; a type without a counterpart makes the pair
//! (type, code) one-way: then the sender stays first.

use crate::ConnRecord;
use core::net::IpAddr;

/// A Community ID as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommunityId([u8; Self::TEXT_LEN]);

impl CommunityId {
    /// `1:` and 28 letters of base64.
    pub const TEXT_LEN: usize = 30;

    /// The ID of a connection.
    pub fn of(seed: u16, conn: &ConnRecord) -> Self {
        let (client, server) = (conn.client, conn.server);
        let ports = Ports::of(conn);
        Self::new(seed, conn.protocol, client.address, server.address, ports)
    }

    /// The ID of packets of `protocol` from `source` to `destination`.
    pub fn new(seed: u16, protocol: u8, source: IpAddr, destination: IpAddr, ports: Ports) -> Self {
        let (from, to, one_way) = match ports {
            Ports::None => (0, 0, false),
            Ports::Pair(from, to) => (from, to, false),
            Ports::OneWay(kind, code) => (kind, code, true),
        };
        let mut block = Block::default();
        block.put(seed.to_be_bytes());
        let keep = match (source, destination) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let keep = one_way || (a, from) <= (b, to);
                block.put(if keep { a } else { b }.octets());
                block.put(if keep { b } else { a }.octets());
                keep
            }
            (a, b) => {
                let (a, b) = (ipv6_octets(a), ipv6_octets(b));
                let keep = one_way || (a, from) <= (b, to);
                block.put(if keep { a } else { b });
                block.put(if keep { b } else { a });
                keep
            }
        };
        block.put([protocol, 0]);
        if !matches!(ports, Ports::None) {
            let (first, second) = if keep { (from, to) } else { (to, from) };
            block.put(first.to_be_bytes());
            block.put(second.to_be_bytes());
        }
        Self(text(block.digest()))
    }

    /// The text's bytes, all ASCII.
    #[inline]
    pub const fn bytes(&self) -> &[u8; Self::TEXT_LEN] {
        &self.0
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The text is not `1:` and 28 letters of base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotACommunityId;

impl core::fmt::Display for NotACommunityId {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("expected 1: and 28 letters of base64")
    }
}

impl core::error::Error for NotACommunityId {}

impl core::str::FromStr for CommunityId {
    type Err = NotACommunityId;

    /// ```
    /// use flowpin_record::CommunityId;
    /// let id: CommunityId = "1:wCb3OG7yAFWelaUydu0D+125CLM=".parse().unwrap();
    /// assert_eq!(id.as_str(), "1:wCb3OG7yAFWelaUydu0D+125CLM=");
    /// assert!("1:wCb3OG7yAFWelaUydu0D".parse::<CommunityId>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, NotACommunityId> {
        let bytes: [u8; Self::TEXT_LEN] =
            text.as_bytes().try_into().map_err(|_| NotACommunityId)?;
        let digits = bytes
            .strip_prefix(b"1:")
            .and_then(|rest| rest.strip_suffix(b"="))
            .ok_or(NotACommunityId)?;
        if digits.iter().any(|digit| !BASE64.contains(digit)) {
            return Err(NotACommunityId);
        }
        Ok(Self(bytes))
    }
}

/// What stands in the place of the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// The protocol has none.
    None,
    /// Source and destination port, or ICMP type and counterpart type.
    Pair(u16, u16),
    /// ICMP type and code of a message without a counterpart.
    OneWay(u16, u16),
}

impl Ports {
    /// The ports of a connection record.
    fn of(conn: &ConnRecord) -> Self {
        match conn.protocol {
            TCP | UDP | SCTP => Self::Pair(conn.client.port, conn.server.port),
            ICMP | ICMPV6 => {
                let code = conn.icmp.map_or(0, |(_, code)| code);
                Self::icmp(conn.protocol, conn.client.port, u16::from(code))
            }
            _ => Self::None,
        }
    }

    /// Type and code of an ICMP (1) or ICMPv6 (58) message.
    pub fn icmp(protocol: u8, kind: u16, code: u16) -> Self {
        let pairs: &[(u16, u16)] = if protocol == ICMP {
            &[(8, 0), (10, 9), (13, 14), (15, 16), (17, 18)]
        } else {
            &[
                (128, 129),
                (130, 131),
                (133, 134),
                (135, 136),
                (139, 140),
                (144, 145),
            ]
        };
        pairs
            .iter()
            .find_map(|&(request, reply)| match kind {
                _ if kind == request => Some(reply),
                _ if kind == reply => Some(request),
                _ => None,
            })
            .map_or(Self::OneWay(kind, code), |counterpart| {
                Self::Pair(kind, counterpart)
            })
    }
}

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const SCTP: u8 = 132;

fn ipv6_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// The input of the hash. At most 40 bytes: with the padding one block of SHA-1.
struct Block {
    bytes: [u8; 64],
    len: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            bytes: [0; 64],
            len: 0,
        }
    }
}

impl Block {
    #[inline]
    fn put<const N: usize>(&mut self, part: [u8; N]) {
        let rest = self.bytes.get_mut(self.len..).unwrap_or_default();
        if let Some(place) = rest.first_chunk_mut::<N>() {
            *place = part;
            self.len += N;
        }
    }

    /// SHA-1 of what was put (FIPS 180-4 §5.1.1 for the padding, §5.3.1 for the start).
    fn digest(mut self) -> [u8; 20] {
        let bits = self.len as u64 * 8;
        self.put([0x80]);
        if let Some(end) = self.bytes.last_chunk_mut() {
            *end = bits.to_be_bytes();
        }
        let mut state = [
            0x6745_2301,
            0xefcd_ab89,
            0x98ba_dcfe,
            0x1032_5476,
            0xc3d2_e1f0,
        ];
        sha1::compress(&mut state, &[self.bytes.into()]);
        let mut digest = [0; 20];
        for (place, word) in digest.chunks_exact_mut(4).zip(state) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }
}

/// `1:` and the digest in base64 (RFC 4648 §4): 20 bytes give 28 letters, the last a `=`.
fn text(digest: [u8; 20]) -> [u8; CommunityId::TEXT_LEN] {
    let letter = |six: u32| BASE64.get((six & 63) as usize).copied().unwrap_or(b'=');
    let mut out = [b'='; CommunityId::TEXT_LEN];
    if let Some(version) = out.first_chunk_mut() {
        *version = *b"1:";
    }
    let mut padded = [0; 21];
    if let Some(place) = padded.first_chunk_mut() {
        *place = digest;
    }
    let places = out.get_mut(2..).unwrap_or_default().chunks_exact_mut(4);
    for (place, three) in places.zip(padded.chunks_exact(3)) {
        let bits = three
            .iter()
            .fold(0, |bits, &byte| bits << 8 | u32::from(byte));
        for (place, shift) in place.iter_mut().zip([18, 12, 6, 0]) {
            *place = letter(bits >> shift);
        }
    }
    // 160 bits fill 26 letters and two thirds of one.
    if let Some(last) = out.last_mut() {
        *last = b'=';
    }
    out
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::{CommunityId, Ports};
    use core::net::IpAddr;

    const A: [u8; 4] = [1, 2, 3, 4];
    const B: [u8; 4] = [5, 6, 7, 8];

    fn id(seed: u16, protocol: u8, ports: Ports) -> String {
        let (a, b) = (IpAddr::from(A), IpAddr::from(B));
        CommunityId::new(seed, protocol, a, b, ports)
            .as_str()
            .to_owned()
    }

    /// The specification's own vectors.
    #[test]
    fn published_vectors_hold() {
        let ports = Ports::Pair(1122, 3344);
        assert_eq!(id(0, 6, ports), "1:wCb3OG7yAFWelaUydu0D+125CLM=");
        assert_eq!(id(0, 17, ports), "1:0Mu9InQx6z4ZiCZM/7HXi2WMhOg=");
        assert_eq!(id(1, 6, ports), "1:HhA1B+6CoLbiKPEs5nhNYN4XWfk=");
        assert_eq!(
            id(0, 1, Ports::icmp(1, 8, 0)),
            "1:crodRHL2FEsHjbv3UkRrfbs4bZ0="
        );
    }

    /// Both directions of a connection have one ID; one-way ICMP keeps its sender first.
    #[test]
    fn direction_counts_only_for_one_way_icmp() {
        let (a, b) = (IpAddr::from(A), IpAddr::from(B));
        let there = CommunityId::new(0, 6, a, b, Ports::Pair(1, 2));
        assert_eq!(there, CommunityId::new(0, 6, b, a, Ports::Pair(2, 1)));
        let request = CommunityId::new(0, 1, a, b, Ports::icmp(1, 8, 0));
        assert_eq!(request, CommunityId::new(0, 1, b, a, Ports::icmp(1, 0, 0)));
        let unreachable = Ports::icmp(1, 3, 1);
        let there = CommunityId::new(0, 1, a, b, unreachable);
        assert_ne!(there, CommunityId::new(0, 1, b, a, unreachable));
    }
}
