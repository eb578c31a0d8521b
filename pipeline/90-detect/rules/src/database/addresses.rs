//! Rules by address: which of many rules with few addresses each could fit.

use core::net::IpAddr;
use flowpin_rule::AddressSet;
use std::collections::BTreeSet;

/// Rules by the ranges of addresses in their headers.
#[derive(Debug, Default)]
pub(crate) struct AddressIndex {
    /// Where each range begins, in order, and the rules that hold up to the next.
    ranges: Vec<(u128, Box<[u32]>)>,
}

impl AddressIndex {
    /// For rules and their addresses.
    pub(crate) fn new(rules: &[(u32, &AddressSet)]) -> Self {
        let mut edges: Vec<(u128, bool, u32)> = Vec::new();
        for &(rule, set) in rules {
            for (low, high) in set.ranges() {
                edges.push((low, true, rule));
                edges.extend(high.checked_add(1).map(|end| (end, false, rule)));
            }
        }
        edges.sort_unstable();
        let mut open = BTreeSet::new();
        let mut ranges: Vec<(u128, Box<[u32]>)> = Vec::new();
        let mut edges = edges.into_iter().peekable();
        while let Some((at, begins, rule)) = edges.next() {
            if begins {
                open.insert(rule);
            } else {
                open.remove(&rule);
            }
            if edges.peek().is_none_or(|next| next.0 != at) {
                ranges.push((at, open.iter().copied().collect()));
            }
        }
        Self { ranges }
    }

    /// The rules whose addresses have this one.
    pub(crate) fn rules(&self, address: IpAddr) -> &[u32] {
        let number = AddressSet::number(address);
        let next = self.ranges.partition_point(|&(begin, _)| begin <= number);
        let range = next.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.map_or(&[], |(_, rules)| rules)
    }
}

#[cfg(test)]
mod tests {
    use super::AddressIndex;
    use flowpin_rule::AddressSet;

    /// Exactly the rules whose sets have an address.
    #[test]
    fn an_address_has_its_rules() {
        let network =
            |text: &str, prefix| AddressSet::network(text.parse().unwrap(), prefix).unwrap();
        let sets = [
            network("10.0.0.0", 8),
            network("10.1.0.0", 16),
            network("10.1.2.3", 32).union(&network("::1", 128)),
        ];
        let rules: Vec<(u32, &AddressSet)> = (0..).zip(&sets).collect();
        let index = AddressIndex::new(&rules);
        for text in [
            "10.1.2.3",
            "10.1.2.4",
            "10.2.0.0",
            "11.0.0.0",
            "9.255.255.255",
            "::1",
            "::2",
        ] {
            let address = text.parse().unwrap();
            let expected: Vec<u32> = rules
                .iter()
                .filter(|(_, set)| set.contains(address))
                .map(|&(rule, _)| rule)
                .collect();
            assert_eq!(index.rules(address), expected, "{text}");
        }
    }
}
