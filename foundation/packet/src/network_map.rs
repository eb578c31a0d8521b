//! Networks, and what is set for the addresses in them.
//!
//! ```text
//!  10.0.0.0/8 → A         starts   0.0.0.0  10.0.0.0  10.1.0.0  10.2.0.0  11.0.0.0
//!  10.1.0.0/16 → B   ──►  values   default     A         B         A      default
//! ```
//!
//! Nested networks are flattened once into ranges that do not overlap, so a look-up is one binary
//! search, and none at all where nothing is set. Does not change after it was made.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

/// An IPv4 or IPv6 network: an address and how many of its bits are fixed.
///
/// ```
/// use flowpin_packet::Network;
/// let network: Network = "10.0.0.0/8".parse().unwrap();
/// assert_eq!(network.to_string(), "10.0.0.0/8");
/// assert!("10.0.0.1/8".parse::<Network>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    address: IpAddr,
    prefix_len: u8,
}

/// Why a text is no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// It is not an address, or the prefix is not a number that fits.
    Unreadable(String),
    /// Bits behind the prefix are set; the network that was probably meant is told.
    HostBits(String, Network),
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(text) => write!(
                f,
                "`{text}` is not a network, such as 10.0.0.0/8 or 2001:db8::/32"
            ),
            Self::HostBits(text, meant) => write!(
                f,
                "`{text}` has bits set after its prefix: write {meant} or a longer prefix"
            ),
        }
    }
}

impl core::error::Error for NetworkError {}

impl FromStr for Network {
    type Err = NetworkError;

    /// An address alone is a network of one.
    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let unreadable = || NetworkError::Unreadable(text.to_owned());
        let (address, prefix_len) = text
            .split_once('/')
            .map_or((text, None), |(address, len)| (address, Some(len)));
        let address: IpAddr = address.parse().map_err(|_| unreadable())?;
        let bits = bits_of(address);
        let prefix_len = match prefix_len {
            None => bits,
            // `parse` alone would take `+8`.
            Some(len) if len.bytes().all(|byte| byte.is_ascii_digit()) => {
                len.parse().map_err(|_| unreadable())?
            }
            Some(_) => return Err(unreadable()),
        };
        if prefix_len > bits {
            return Err(unreadable());
        }
        let network = Self {
            address,
            prefix_len,
        };
        let meant = network.at_its_start();
        if meant != network {
            return Err(NetworkError::HostBits(text.to_owned(), meant));
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_len)
    }
}

impl Network {
    /// Whether it is an IPv6 network.
    pub const fn is_ipv6(&self) -> bool {
        self.address.is_ipv6()
    }

    /// Whether `address` is of this network.
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv6() == self.is_ipv6() && (self.first()..=self.last()).contains(&word(address))
    }

    fn at_its_start(self) -> Self {
        let first = self.first() & !self.host_mask();
        let address = match self.address {
            IpAddr::V4(_) => Ipv4Addr::from_bits(u32::try_from(first).unwrap_or(0)).into(),
            IpAddr::V6(_) => Ipv6Addr::from_bits(first).into(),
        };
        Self { address, ..self }
    }

    fn first(&self) -> u128 {
        word(self.address)
    }

    fn last(&self) -> u128 {
        self.first() | self.host_mask()
    }

    fn host_mask(&self) -> u128 {
        let free = u32::from(bits_of(self.address).saturating_sub(self.prefix_len));
        1u128.checked_shl(free).map_or(u128::MAX, |bit| bit - 1)
    }
}

/// A value for each address: that of the longest network which contains it, or the default.
///
/// ```
/// use flowpin_packet::NetworkMap;
/// let networks = [("10.0.0.0/8", 'A'), ("10.1.0.0/16", 'B')];
/// let map = NetworkMap::new('-', networks.map(|(text, value)| (text.parse().unwrap(), value)));
/// assert_eq!(map.of([10, 1, 2, 3].into()), 'B');
/// assert_eq!(map.of([10, 2, 2, 3].into()), 'A');
/// assert_eq!(map.of([11, 0, 0, 1].into()), '-');
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkMap<T> {
    ipv4: Ranges<u32, T>,
    ipv6: Ranges<u128, T>,
}

impl<T: Copy> NetworkMap<T> {
    /// A map of `networks`; every other address has `default`. Of a network that is there twice,
    /// the last one counts.
    pub fn new(default: T, networks: impl IntoIterator<Item = (Network, T)>) -> Self {
        Self::with_defaults(default, default, networks)
    }

    /// As [`NetworkMap::new`], with a default for each family.
    pub fn with_defaults(
        ipv4: T,
        ipv6: T,
        networks: impl IntoIterator<Item = (Network, T)>,
    ) -> Self {
        let (six, four): (Vec<_>, Vec<_>) = networks
            .into_iter()
            .partition(|(network, _)| network.is_ipv6());
        Self {
            ipv4: Ranges::new(ipv4, four),
            ipv6: Ranges::new(ipv6, six),
        }
    }

    /// The value of an address.
    #[inline]
    pub fn of(&self, address: IpAddr) -> T {
        match address {
            IpAddr::V4(address) => self.of_ipv4(address.to_bits()),
            IpAddr::V6(address) => self.of_ipv6(address.to_bits()),
        }
    }

    /// The value of all addresses of a family; none if they differ by network.
    #[inline]
    pub fn of_all(&self, ipv6: bool) -> Option<T> {
        let (is_plain, before) = if ipv6 {
            (self.ipv6.starts.is_empty(), self.ipv6.before)
        } else {
            (self.ipv4.starts.is_empty(), self.ipv4.before)
        };
        is_plain.then_some(before)
    }

    /// The value of an IPv4 address, its first byte the highest.
    #[inline]
    pub fn of_ipv4(&self, address: u32) -> T {
        self.ipv4.of(address)
    }

    /// The value of an IPv6 address, its first byte the highest.
    #[inline]
    pub fn of_ipv6(&self, address: u128) -> T {
        self.ipv6.of(address)
    }
}

/// Ranges of addresses that lie end to end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranges<A, T> {
    /// The value of what lies before the first start.
    before: T,
    starts: Vec<A>,
    values: Vec<T>,
}

impl<A: Copy + Ord + TryFrom<u128>, T: Copy> Ranges<A, T> {
    fn new(default: T, mut networks: Vec<(Network, T)>) -> Self {
        // The widest first: each narrower one is then laid over those that contain it. Stable,
        // so that of two equal ones the last wins.
        networks.sort_by_key(|(network, _)| network.prefix_len);
        let mut borders: Vec<u128> = networks
            .iter()
            .flat_map(|(network, _)| [Some(network.first()), network.last().checked_add(1)])
            .flatten()
            .collect();
        borders.sort_unstable();
        borders.dedup();
        let mut values = vec![default; borders.len()];
        for (network, value) in &networks {
            let from = borders.partition_point(|border| *border < network.first());
            let to = borders.partition_point(|border| *border <= network.last());
            if let Some(covered) = values.get_mut(from..to) {
                covered.fill(*value);
            }
        }
        // A border behind the greatest IPv4 address starts nothing.
        let starts: Vec<A> = borders
            .into_iter()
            .map_while(|border| A::try_from(border).ok())
            .collect();
        values.truncate(starts.len());
        Self {
            before: default,
            starts,
            values,
        }
    }

    #[inline]
    fn of(&self, address: A) -> T {
        if self.starts.is_empty() {
            return self.before;
        }
        let after = self.starts.partition_point(|start| *start <= address);
        let range = after
            .checked_sub(1)
            .and_then(|index| self.values.get(index));
        range.copied().unwrap_or(self.before)
    }
}

const fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv6() { 128 } else { 32 }
}

fn word(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    /// A mask is easily mistyped; what the text may mean is told, not guessed.
    #[test]
    fn what_is_no_network_is_refused() {
        for text in [
            "",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/129",
            "::/+8",
            "a/8",
            "10.0.0.0/8/8",
        ] {
            assert_eq!(
                text.parse::<Network>(),
                Err(NetworkError::Unreadable(text.to_owned()))
            );
        }
        let error = "10.1.2.3/16".parse::<Network>().unwrap_err();
        assert_eq!(
            error,
            NetworkError::HostBits("10.1.2.3/16".to_owned(), network("10.1.0.0/16"))
        );
        assert!(error.to_string().contains("10.1.0.0/16"));
        assert_eq!(network("10.1.2.3").to_string(), "10.1.2.3/32");
        assert_eq!(network("::1").to_string(), "::1/128");
    }

    /// The whole range of addresses may be one network: no border lies behind it.
    #[test]
    fn networks_may_reach_to_the_last_address() {
        let map = NetworkMap::new(
            0,
            [
                (network("0.0.0.0/0"), 4),
                (network("255.255.255.255"), 5),
                (network("::/0"), 6),
                (network("ffff::/16"), 7),
            ],
        );
        assert_eq!(map.of_ipv4(0), 4);
        assert_eq!(map.of_ipv4(u32::MAX - 1), 4);
        assert_eq!(map.of_ipv4(u32::MAX), 5);
        assert_eq!(map.of_ipv6(0), 6);
        assert_eq!(map.of_ipv6(u128::MAX), 7);
    }

    /// The law: the longest network that contains an address decides, the last of two equal ones;
    /// families do not mix. Checked at every border of every network, and beside it.
    #[test]
    fn the_longest_network_decides() {
        let mut state = 7u32;
        let mut random = move |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for _ in 0..300 {
            let networks: Vec<(Network, u32)> = (0..random(12))
                .map(|value| {
                    let ipv6 = random(2) == 1;
                    let bits: u8 = if ipv6 { 128 } else { 32 };
                    let prefix_len = bits - random(6).min(5) as u8 * 3;
                    let low = u128::from(random(1 << 16));
                    let address = if ipv6 {
                        Ipv6Addr::from_bits(low).into()
                    } else {
                        Ipv4Addr::from_bits(low as u32).into()
                    };
                    let network = Network {
                        address,
                        prefix_len,
                    };
                    (network.at_its_start(), value)
                })
                .collect();
            let map = NetworkMap::with_defaults(100, 200, networks.clone());
            for (network, _) in &networks {
                for bits in [
                    network.first(),
                    network.last(),
                    network.first().saturating_sub(1),
                    network.last() + 1,
                ] {
                    let address: IpAddr = if network.is_ipv6() {
                        Ipv6Addr::from_bits(bits).into()
                    } else {
                        Ipv4Addr::from_bits(bits as u32).into()
                    };
                    let expected = networks
                        .iter()
                        .filter(|(network, _)| network.contains(address))
                        .max_by_key(|(network, _)| network.prefix_len)
                        .map_or(if address.is_ipv6() { 200 } else { 100 }, |found| found.1);
                    assert_eq!(map.of(address), expected, "{address} in {networks:?}");
                }
            }
        }
    }
}
