//! Fresh addresses: each host of the original gets one of its own in every replica.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A host of the original capture, by its place in [`Hosts`].
pub(crate) type HostIndex = u32;

/// The hosts of the original capture, in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    all: Vec<Address>,
    index: HashMap<Address, HostIndex>,
}

/// An address as it stands in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    /// IPv4.
    V4([u8; 4]),
    /// IPv6.
    V6([u8; 16]),
}

/// What a host becomes in one replica.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    /// The new address.
    pub(crate) address: Address,
    /// One's-complement difference of the 16-bit sums, new minus old, for checksums.
    pub(crate) checksum_delta: u16,
}

impl Hosts {
    /// The index of a host, new or known.
    pub(crate) fn intern(&mut self, address: Address) -> io::Result<HostIndex> {
        if let Some(&known) = self.index.get(&address) {
            return Ok(known);
        }
        let index = HostIndex::try_from(self.all.len()).map_err(io::Error::other)?;
        self.all.push(address);
        self.index.insert(address, index);
        Ok(index)
    }

    /// How many hosts there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The hosts' addresses in replica `replica`, by host index.
    pub(crate) fn map(&self, pool: &mut Pool, replica: u32) -> io::Result<Vec<Mapped>> {
        let mut nth_v6 = 0;
        let mut mapped = Vec::with_capacity(self.all.len());
        for &old in &self.all {
            let new = match old {
                Address::V4(bytes) => Address::V4(pool.v4(bytes)?),
                Address::V6(bytes) => {
                    nth_v6 += 1;
                    Address::V6(v6(bytes, replica, nth_v6))
                }
            };
            mapped.push(Mapped {
                address: new,
                checksum_delta: fold(u32::from(sum(new)) + u32::from(!sum(old))),
            });
        }
        Ok(mapped)
    }
}

/// IPv4 addresses that no replica has yet.
///
/// Private stays private (10/8); the rest comes from the ranges for benchmarks (198.18/15) and
/// carriers' translators (100.64/10), so that no address of the output is anybody's.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    private: u32,
    public: u32,
}

// Odd, so that multiplying by it only shuffles: neighbours get addresses far apart, as real
// hosts have, and hash tables are not flattered by consecutive numbers.
const SHUFFLE: u32 = 0x9e_3779;
const PRIVATE_COUNT: u32 = 1 << 24;
const BENCHMARK_COUNT: u32 = 1 << 17;
const CARRIER_COUNT: u32 = 1 << 22;

impl Pool {
    fn v4(&mut self, old: [u8; 4]) -> io::Result<[u8; 4]> {
        let address = Ipv4Addr::from(old);
        let [first, second, ..] = old;
        if first >= 224 || address.is_unspecified() {
            return Ok(old);
        }
        let carrier = first == 100 && (64..128).contains(&second);
        let private =
            address.is_private() || address.is_loopback() || address.is_link_local() || first == 0;
        loop {
            let new = if private || carrier {
                next(&mut self.private, PRIVATE_COUNT)?;
                0x0a00_0000 | (shuffled(self.private, PRIVATE_COUNT))
            } else {
                next(&mut self.public, BENCHMARK_COUNT + CARRIER_COUNT)?;
                match self.public.checked_sub(BENCHMARK_COUNT) {
                    None => 0xc612_0000 | shuffled(self.public, BENCHMARK_COUNT),
                    Some(nth) => 0x6440_0000 | shuffled(nth, CARRIER_COUNT),
                }
            };
            // Network and broadcast addresses would read oddly.
            if !matches!(new & 0xff, 0 | 0xff) {
                return Ok(new.to_be_bytes());
            }
        }
    }
}

fn shuffled(nth: u32, count: u32) -> u32 {
    nth.wrapping_mul(SHUFFLE) & (count - 1)
}

fn next(counter: &mut u32, count: u32) -> io::Result<()> {
    *counter += 1;
    if *counter >= count {
        return Err(io::Error::other(
            "more hosts than addresses: fewer replicas, please",
        ));
    }
    Ok(())
}

fn v6(old: [u8; 16], replica: u32, nth: u32) -> [u8; 16] {
    let address = Ipv6Addr::from(old);
    if address.is_multicast() || address.is_unspecified() {
        return old;
    }
    let prefix: u64 = if address.is_unicast_link_local() {
        0xfe80 << 48
    } else {
        0x2001_0db8 << 32 | u64::from(replica)
    };
    let tail = u64::from(replica) << 32 | u64::from(nth);
    (u128::from(prefix) << 64 | u128::from(tail)).to_be_bytes()
}

/// The one's-complement sum of an address's 16-bit words.
fn sum(address: Address) -> u16 {
    let bytes: &[u8] = match &address {
        Address::V4(bytes) => bytes,
        Address::V6(bytes) => bytes,
    };
    let words = bytes.chunks_exact(2);
    fold(words.map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum())
}

/// Folds a sum of 16-bit words into one, carries added back (RFC 1071 §1).
pub(crate) fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 0xffff here")]
    {
        sum as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Connections must not collide: no address may serve two hosts, in any replica.
    #[test]
    fn no_address_is_given_twice() {
        let mut hosts = Hosts::default();
        for last in 1..=200u8 {
            hosts.intern(Address::V4([192, 168, 1, last])).unwrap();
            hosts.intern(Address::V4([93, 184, 1, last])).unwrap();
            let mut v6 = [0x20; 16];
            v6[15] = last;
            hosts.intern(Address::V6(v6)).unwrap();
        }
        let mut pool = Pool::default();
        let mut seen = HashSet::new();
        for replica in 1..=300 {
            for mapped in hosts.map(&mut pool, replica).unwrap() {
                assert!(seen.insert(mapped.address), "{:?} twice", mapped.address);
            }
        }
    }

    /// Group addresses mean the same in every replica.
    #[test]
    fn multicast_and_broadcast_stay() {
        let mut hosts = Hosts::default();
        hosts.intern(Address::V4([255; 4])).unwrap();
        hosts.intern(Address::V4([224, 0, 0, 251])).unwrap();
        for mapped in hosts.map(&mut Pool::default(), 1).unwrap() {
            assert!(matches!(mapped.address, Address::V4([224..=255, ..])));
            assert!(matches!(mapped.checksum_delta, 0 | 0xffff));
        }
    }
}
