//! What a tally counts by, as words: addresses, and pairs of them.

use core::fmt::Debug;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Words of a short key (of IPv4, or less), and of a long one (of IPv6).
pub(super) const SHORT: usize = 1;
pub(super) const LONG: usize = 4;

/// A key as words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Of IPv4, or less.
    Short([u64; SHORT]),
    /// Of IPv6.
    Long([u64; LONG]),
}

/// What rows are told apart by.
pub trait Key: Copy + Ord + Debug + Send {
    /// Different for different keys.
    fn words(self) -> Words;
    /// The key of these words.
    fn of(words: Words) -> Self;
}

impl Key for IpAddr {
    #[inline]
    fn words(self) -> Words {
        match self {
            Self::V4(address) => Words::Short([u64::from(address.to_bits())]),
            Self::V6(address) => {
                let [high, low] = halves(address);
                Words::Long([high, low, 0, 0])
            }
        }
    }

    fn of(words: Words) -> Self {
        match words {
            Words::Short([address]) => v4(address),
            Words::Long([high, low, ..]) => v6(high, low),
        }
    }
}

/// The two hosts of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPair {
    /// Who opened them.
    pub client: IpAddr,
    /// Whom to.
    pub server: IpAddr,
}

impl Key for HostPair {
    #[inline]
    fn words(self) -> Words {
        match (self.client, self.server) {
            (IpAddr::V4(client), IpAddr::V4(server)) => {
                let [client, server] = [client, server].map(|one| u64::from(one.to_bits()));
                Words::Short([client << 32 | server])
            }
            // A connection's hosts are of one family.
            (client, server) => {
                let [a, b] = halves(mapped(client));
                let [c, d] = halves(mapped(server));
                Words::Long([a, b, c, d])
            }
        }
    }

    fn of(words: Words) -> Self {
        match words {
            Words::Short([both]) => Self {
                client: v4(both >> 32),
                server: v4(both & u64::from(u32::MAX)),
            },
            Words::Long([a, b, c, d]) => Self {
                client: v6(a, b),
                server: v6(c, d),
            },
        }
    }
}

#[inline]
const fn halves(address: Ipv6Addr) -> [u64; 2] {
    let bits = address.to_bits();
    [(bits >> 64) as u64, bits as u64]
}

const fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

const fn v4(bits: u64) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(bits as u32))
}

const fn v6(high: u64, low: u64) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from_bits((high as u128) << 64 | low as u128))
}
