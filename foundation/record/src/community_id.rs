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
use core::net::{IpAddr, Ipv4Addr};
use flowpin_cpu::sha1_block;

/// A Community ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommunityId([u32; 5]);

impl CommunityId {
    /// How long the text is: `1:` and 28 letters of base64.
    pub const TEXT_LEN: usize = 30;

    /// The ID of a connection.
    pub fn of(seed: u16, conn: &ConnRecord) -> Self {
        let (client, server) = (conn.client, conn.server);
        let ports = Ports::of(conn);
        Self::new(seed, conn.protocol, client.address, server.address, ports)
    }

    /// The ID of packets of `protocol` from `source` to `destination`.
    pub fn new(seed: u16, protocol: u8, source: IpAddr, destination: IpAddr, ports: Ports) -> Self {
        let (text, bits) = match (source, destination) {
            (IpAddr::V4(a), IpAddr::V4(b)) => hashed_ipv4(seed, protocol, a, b, ports),
            (a, b) => hashed_ipv6(seed, protocol, ipv6_bits(a), ipv6_bits(b), ports),
        };
        Self(sha1_block(text, bits))
    }

    /// The text behind its first two letters, `1:`: base64 of the digest (RFC 4648 §4).
    // PERF: in pieces that come out of registers, to be stored as they are: a text that lies in
    // memory is written by halves and read back in one, which takes longer than to make it.
    #[inline]
    pub fn letters(&self) -> ([[u8; 8]; 3], [u8; 4]) {
        let [a, b, c, d, e] = self.0.map(u64::from);
        let eights = [a << 16 | b >> 16, (b & 0xffff) << 32 | c, d << 16 | e >> 16];
        // 160 bits fill 26 letters and two thirds of one.
        let [first, second, third, _] = four((e as u32 & 0xffff) << 8);
        (eights.map(eight), [first, second, third, b'='])
    }

    /// The hash that the text spells.
    pub fn digest(&self) -> [u8; 20] {
        let mut bytes = [0; 20];
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.0) {
            *place = word.to_be_bytes();
        }
        bytes
    }

    /// The ID with this hash.
    pub fn from_digest(digest: [u8; 20]) -> Self {
        let (words, _) = digest.as_chunks();
        let mut words = words.iter().map(|&word| u32::from_be_bytes(word));
        Self(core::array::from_fn(|_| words.next().unwrap_or_default()))
    }

    /// The text, all ASCII.
    pub fn text(&self) -> [u8; Self::TEXT_LEN] {
        let (eights, last) = self.letters();
        let mut letters = b"1:".iter().chain(eights.as_flattened()).chain(&last);
        core::array::from_fn(|_| letters.next().copied().unwrap_or(b'='))
    }
}

impl core::fmt::Display for CommunityId {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str(core::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

/// Eight letters for the lower 48 bits.
#[inline]
fn eight(bits: u64) -> [u8; 8] {
    let [high, low] = [(bits >> 24) as u32, bits as u32].map(|bits| u32::from_be_bytes(four(bits)));
    (u64::from(high) << 32 | u64::from(low)).to_be_bytes()
}

/// Four letters for the lower 24 bits.
#[inline]
fn four(bits: u32) -> [u8; 4] {
    let letter = |shift: u32| BASE64[(bits >> shift & 63) as usize];
    [letter(18), letter(12), letter(6), letter(0)]
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
    /// assert_eq!(id.to_string(), "1:wCb3OG7yAFWelaUydu0D+125CLM=");
    /// assert!("1:wCb3OG7yAFWelaUydu0D".parse::<CommunityId>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, NotACommunityId> {
        let letters = text
            .strip_prefix("1:")
            .and_then(|rest| rest.strip_suffix('='))
            .filter(|letters| letters.len() == LETTERS)
            .ok_or(NotACommunityId)?;
        // 27 letters have 162 bits: two more than the digest.
        let (mut words, mut bits, mut waiting) = ([0; 5], 0_u64, 0);
        let mut places = words.iter_mut();
        for letter in letters.bytes() {
            let six = BASE64.iter().position(|&known| known == letter);
            bits = bits << 6 | six.ok_or(NotACommunityId)? as u64;
            waiting += 6;
            if waiting >= 32 {
                waiting -= 32;
                if let Some(place) = places.next() {
                    *place = (bits >> waiting) as u32;
                }
            }
        }
        // Others would be a second text of the same digest.
        if bits & 3 != 0 {
            return Err(NotACommunityId);
        }
        Ok(Self(words))
    }
}

/// Letters that carry bits.
const LETTERS: usize = 27;

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
        let pair = (conn.client.port, conn.server.port);
        Self::new(conn.protocol, pair, conn.icmp.unwrap_or_default())
    }

    /// What stands there for `protocol`: the ports of client and server, or, of ICMP, what type and
    /// code say.
    pub fn new(protocol: u8, ports: (u16, u16), (icmp_type, icmp_code): (u8, u8)) -> Self {
        match protocol {
            TCP | UDP | SCTP => Self::Pair(ports.0, ports.1),
            ICMP | ICMPV6 => Self::icmp(protocol, icmp_type.into(), icmp_code.into()),
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

fn ipv6_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// What is hashed, and how many bits it has: one block in all cases.
fn hashed_ipv4(
    seed: u16,
    protocol: u8,
    a: Ipv4Addr,
    b: Ipv4Addr,
    ports: Ports,
) -> ([u128; 3], u64) {
    let ((a, from), (b, to)) = in_order(a, b, ports);
    let head = u128::from(seed) << 112
        | u128::from(a.to_bits()) << 80
        | u128::from(b.to_bits()) << 48
        | u128::from(protocol) << 40;
    match ports {
        Ports::None => ([head | u128::from(END) << 24, 0, 0], 12 * 8),
        _ => {
            let ports = u128::from(from) << 16 | u128::from(to);
            ([head | ports, u128::from(END) << 120, 0], 16 * 8)
        }
    }
}

fn hashed_ipv6(seed: u16, protocol: u8, a: u128, b: u128, ports: Ports) -> ([u128; 3], u64) {
    let ((a, from), (b, to)) = in_order(a, b, ports);
    let head = u128::from(seed) << 112 | a >> 16;
    let middle = a << 112 | b >> 16;
    let rest = b << 112 | u128::from(protocol) << 104;
    match ports {
        Ports::None => ([head, middle, rest | u128::from(END) << 88], 36 * 8),
        _ => {
            let ports = u128::from(from) << 80 | u128::from(to) << 64;
            let rest = rest | ports | u128::from(END) << 56;
            ([head, middle, rest], 40 * 8)
        }
    }
}

/// Both ends with their ports, the lower one first; the sender first if it goes one way only.
fn in_order<A: Ord>(a: A, b: A, ports: Ports) -> ((A, u16), (A, u16)) {
    let (from, to, one_way) = match ports {
        Ports::None => (0, 0, false),
        Ports::Pair(from, to) => (from, to, false),
        Ports::OneWay(kind, code) => (kind, code, true),
    };
    let (a, b) = ((a, from), (b, to));
    if one_way || a <= b { (a, b) } else { (b, a) }
}

/// A bit 1 behind the input (FIPS 180-4 §5.1.1).
const END: u8 = 0x80;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::{CommunityId, Ports};
    use core::net::IpAddr;

    const A: [u8; 4] = [1, 2, 3, 4];
    const B: [u8; 4] = [5, 6, 7, 8];

    fn id(seed: u16, protocol: u8, ports: Ports) -> String {
        let (a, b) = (IpAddr::from(A), IpAddr::from(B));
        CommunityId::new(seed, protocol, a, b, ports).to_string()
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
