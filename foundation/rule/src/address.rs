//! Sets of addresses and of ports, as a rule's header names them.

use core::net::IpAddr;

/// Sorted ranges that do not touch; both ends belong to a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Ranges(Vec<(u128, u128)>);

impl Ranges {
    fn contains(&self, value: u128) -> bool {
        let behind = self.0.partition_point(|&(low, _)| low <= value);
        let before = behind.checked_sub(1).and_then(|at| self.0.get(at));
        before.is_some_and(|&(_, high)| value <= high)
    }

    fn union(&self, other: &Self) -> Self {
        let mut all: Vec<(u128, u128)> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        let mut joined: Vec<(u128, u128)> = Vec::with_capacity(all.len());
        for (low, high) in all {
            match joined.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        Self(joined)
    }

    fn complement(&self, most: u128) -> Self {
        let mut rest = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some(0);
        for &(low, high) in &self.0 {
            if let Some(from) = next
                && from < low
            {
                rest.push((from, low - 1));
            }
            next = high.checked_add(1).filter(|&from| from <= most);
        }
        rest.extend(next.map(|from| (from, most)));
        Self(rest)
    }
}

macro_rules! set {
    ($(#[$about:meta])* $name:ident, $most:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(Ranges);

        impl $name {
            /// Everything.
            pub fn any() -> Self {
                Self(Ranges(vec![(0, $most)]))
            }

            /// Whether it is everything.
            pub fn is_any(&self) -> bool {
                self.0.0 == [(0, $most)]
            }

            /// Whether nothing is in it.
            pub fn is_empty(&self) -> bool {
                self.0.0.is_empty()
            }

            /// What is in the one or the other.
            #[must_use]
            pub fn union(&self, other: &Self) -> Self {
                Self(self.0.union(&other.0))
            }

            /// What is not in it.
            #[must_use]
            pub fn complement(&self) -> Self {
                Self(self.0.complement($most))
            }

            /// What is in this one but not in the other.
            #[must_use]
            pub fn without(&self, other: &Self) -> Self {
                Self(self.0.complement($most).union(&other.0).complement($most))
            }
        }
    };
}

set! {
    /// Addresses of both families.
    ///
    /// ```
    /// use flowpin_rule::AddressSet;
    ///
    /// let low = "10.0.0.0".parse().unwrap();
    /// let private = AddressSet::network(low, 8).unwrap();
    /// assert!(private.contains("10.1.2.3".parse().unwrap()));
    /// assert!(!private.complement().contains("10.1.2.3".parse().unwrap()));
    /// assert!(private.complement().contains("2001:db8::1".parse().unwrap()));
    /// ```
    AddressSet, u128::MAX
}
set! {
    /// Ports.
    PortSet, 65_535
}

impl AddressSet {
    /// The addresses of a network; none if the prefix is longer than the family's addresses.
    pub fn network(address: IpAddr, prefix: u8) -> Option<Self> {
        let bits: u32 = if address.is_ipv4() { 32 } else { 128 };
        let free = bits.checked_sub(prefix.into())?;
        let mask = 1_u128.checked_shl(free).map_or(u128::MAX, |one| one - 1);
        let low = number(address) & !mask;
        Some(Self(Ranges(vec![(low, low | mask)])))
    }

    /// The addresses of many networks; those whose prefix is too long are left out.
    pub fn networks(all: impl IntoIterator<Item = (IpAddr, u8)>) -> Self {
        let networks = all.into_iter();
        let ranges = networks.filter_map(|(address, prefix)| Self::network(address, prefix));
        let ranges = ranges.flat_map(|one| one.0.0).collect();
        Self(Ranges(ranges).union(&Ranges::default()))
    }

    /// The addresses from one to another of the same family, in order.
    pub fn range(low: IpAddr, high: IpAddr) -> Option<Self> {
        let (from, to) = (number(low), number(high));
        let is_one = low.is_ipv4() == high.is_ipv4() && from <= to;
        is_one.then(|| Self(Ranges(vec![(from, to)])))
    }

    /// Whether an address is in it.
    #[inline]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(number(address))
    }

    /// The ranges of its [numbers](Self::number), in order; both ends belong to a range.
    pub fn ranges(&self) -> impl Iterator<Item = (u128, u128)> + '_ {
        self.0.0.iter().copied()
    }

    /// An address as a number: the same order for both families.
    #[inline]
    pub fn number(address: IpAddr) -> u128 {
        number(address)
    }
}

impl PortSet {
    /// The ports from one to another.
    pub fn range(low: u16, high: u16) -> Option<Self> {
        (low <= high).then(|| Self(Ranges(vec![(low.into(), high.into())])))
    }

    /// Whether a port is in it.
    #[inline]
    pub fn contains(&self, port: u16) -> bool {
        self.0.contains(port.into())
    }

    /// How many ports are in it.
    pub fn count(&self) -> u32 {
        let ranges = self.0.0.iter();
        let lengths = ranges.map(|&(low, high)| u32::try_from(high - low + 1).unwrap_or(0));
        lengths.sum()
    }

    /// Its ports, in order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        let ranges = self.0.0.iter();
        ranges.flat_map(|&(low, high)| (low..=high).filter_map(|port| u16::try_from(port).ok()))
    }
}

/// IPv4 addresses lie where RFC 4291 §2.5.5.2 maps them.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressSet, PortSet};

    /// What is left out of everything and put back is everything again.
    #[test]
    fn sets_obey_the_laws_of_sets() {
        let some = PortSet::range(80, 90).unwrap();
        let more = PortSet::range(88, 65_535).unwrap();
        assert!(some.union(&some.complement()).is_any());
        assert!(some.without(&some).is_empty());
        assert!(PortSet::any().complement().is_empty());
        assert_eq!(some.without(&more), PortSet::range(80, 87).unwrap());
        assert_eq!(some.union(&more).count(), 65_536 - 80);
        assert!(PortSet::range(2, 1).is_none());
    }

    /// The whole of a family is one network.
    #[test]
    fn networks_have_their_addresses() {
        let all = AddressSet::network("0.0.0.0".parse().unwrap(), 0).unwrap();
        assert!(all.contains("255.255.255.255".parse().unwrap()));
        assert!(!all.contains("::1".parse().unwrap()));
        assert!(AddressSet::network("1.2.3.4".parse().unwrap(), 33).is_none());
        assert!(
            AddressSet::network("::".parse().unwrap(), 0)
                .unwrap()
                .is_any()
        );
    }
}
