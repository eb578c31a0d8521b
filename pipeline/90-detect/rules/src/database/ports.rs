//! What rules of few ports have, by port; and which ports rules need.

use super::far::Place;
use flowpin_rule::{Header, PortSet};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Which ports rules need: the same ones are there once.
// PERF: a pattern that is searched for although its rules are of other ports costs nothing until it
// is found; a search of its own for each port costs a look at every byte.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    known: Vec<Ends>,
    of_rules: Vec<u16>,
}

/// The ports of a header: from, to, or the other way round.
type Ends = (Arc<PortSet>, Arc<PortSet>, bool);

impl Wanted {
    /// For the headers of rules, in order.
    pub(super) fn new<'a>(headers: impl Iterator<Item = Option<&'a Header>>) -> Self {
        let mut numbers = HashMap::<Ends, u16>::new();
        let mut known = Vec::new();
        let of_rules = headers.map(|header| {
            let Some(header) = header else {
                return ANY_PORTS;
            };
            let (from, to) = (&header.source_ports, &header.destination_ports);
            if from.is_any() && to.is_any() {
                return ANY_PORTS;
            }
            let ends = (Arc::clone(from), Arc::clone(to), header.both_ways);
            if let Some(&number) = numbers.get(&ends) {
                return number;
            }
            // Those beyond are asked when their rule is evaluated.
            let Ok(number) = u16::try_from(known.len() + 1) else {
                return ANY_PORTS;
            };
            known.push(ends.clone());
            numbers.insert(ends, number);
            number
        });
        let of_rules = of_rules.collect();
        Self { known, of_rules }
    }

    /// The number of what a rule needs.
    pub(super) fn of(&self, rule: u32) -> u16 {
        let number = self.of_rules.get(rule as usize);
        number.copied().unwrap_or(ANY_PORTS)
    }

    /// Whether what is sent there has the ports of this number.
    #[inline]
    pub(super) fn are_those(&self, number: u16, place: Place) -> bool {
        let Some(at) = usize::from(number).checked_sub(1) else {
            return true;
        };
        self.known.get(at).is_none_or(|(from, to, both_ways)| {
            let (source, destination) = place.ports;
            let is_it = |one, other| from.contains(one) && to.contains(other);
            is_it(source, destination) || *both_ways && is_it(destination, source)
        })
    }
}

/// The number of rules that need no ports.
const ANY_PORTS: u16 = 0;

/// Something for each of some ports: what is the same for several is there once.
#[derive(Debug)]
pub(super) struct ByPort<L> {
    /// In order, and which of the lists is each one's.
    ports: Box<[(u16, u16)]>,
    lists: Box<[L]>,
    /// A bit for each value of a port's lowest bits: whether there is anything for it.
    // PERF: most packets are of no such port, and small enough this stays in the nearest cache.
    named: Option<Box<[u64; NAMED_WORDS]>>,
}

impl<L> Default for ByPort<L> {
    fn default() -> Self {
        Self {
            ports: Box::default(),
            lists: Box::default(),
            named: None,
        }
    }
}

/// Rules by port, while they are collected, with what is known of each.
pub(super) type Collected<I> = BTreeMap<u16, Vec<(u32, I)>>;

impl<L> ByPort<L> {
    /// What `make` makes of each port's rules.
    pub(super) fn new<I>(rules: Collected<I>, make: impl Fn(Vec<(u32, I)>) -> Option<L>) -> Self {
        let mut known = BTreeMap::<Vec<u32>, u16>::new();
        let (mut ports, mut lists) = (Vec::new(), Vec::new());
        let mut named = None;
        for (port, some) in rules {
            let numbers: Vec<u32> = some.iter().map(|one| one.0).collect();
            let list = match known.get(&numbers) {
                Some(&list) => list,
                None => {
                    let Some(made) = make(some) else { continue };
                    // At most as many as there are ports.
                    let list = u16::try_from(lists.len()).unwrap_or(u16::MAX);
                    lists.push(made);
                    known.insert(numbers, list);
                    list
                }
            };
            ports.push((port, list));
            let named = named.get_or_insert_with(|| Box::new([0; NAMED_WORDS]));
            if let Some(word) = named.get_mut(usize::from(port >> 6) % NAMED_WORDS) {
                *word |= 1 << (port & 63);
            }
        }
        Self {
            ports: ports.into(),
            lists: lists.into(),
            named,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// What there is for a port.
    #[inline]
    pub(super) fn of(&self, port: u16) -> Option<&L> {
        let named = self.named.as_ref()?;
        let word = named.get(usize::from(port >> 6) % NAMED_WORDS)?;
        if word >> (port & 63) & 1 == 0 {
            return None;
        }
        let at = self.ports.binary_search_by_key(&port, |one| one.0).ok()?;
        let (_, list) = self.ports.get(at)?;
        self.lists.get(usize::from(*list))
    }
}

/// Rules by the port of who sends, and of who receives.
#[derive(Debug)]
pub(super) struct Sorted<I> {
    pub(super) from: Collected<I>,
    pub(super) to: Collected<I>,
    /// How many more entries there may be.
    room: u32,
}

impl<I: Clone> Sorted<I> {
    pub(super) const fn new() -> Self {
        Self {
            from: BTreeMap::new(),
            to: BTreeMap::new(),
            room: ENTRIES_MAX,
        }
    }

    /// Adds a rule to its ports; false if it has none, or many, or if there is no room.
    pub(super) fn add(&mut self, rule: u32, header: &Header, what: &I) -> bool {
        let Some(ports) = of_ports(header) else {
            return false;
        };
        let entries: u32 = ports.into_iter().flatten().map(PortSet::count).sum();
        if entries > self.room {
            return false;
        }
        self.room -= entries;
        for (named, collected) in ports.into_iter().zip([&mut self.from, &mut self.to]) {
            for port in named.into_iter().flat_map(PortSet::iter) {
                let of_port = collected.entry(port).or_default();
                of_port.push((rule, what.clone()));
            }
        }
        true
    }
}

/// Ports of senders and of receivers of which a rule needs one, if they are few.
fn of_ports(header: &Header) -> Option<[Option<&PortSet>; 2]> {
    let (source, destination): (&PortSet, &PortSet) =
        (&header.source_ports, &header.destination_ports);
    let few = |ports: &PortSet| ports.count() <= PORTS_MAX;
    if header.both_ways {
        // Either end may have it.
        let fewer = [source, destination]
            .into_iter()
            .min_by_key(|one| one.count());
        return fewer
            .filter(|ports| few(ports))
            .map(|ports| [Some(ports), Some(ports)]);
    }
    match (few(source), few(destination)) {
        (true, true) if source.count() < destination.count() => Some([Some(source), None]),
        (_, true) => Some([None, Some(destination)]),
        (true, false) => Some([Some(source), None]),
        (false, false) => None,
    }
}

/// Rules of more ports than these are of any port.
const PORTS_MAX: u32 = 512;

/// How many entries the ports of one group have together. Rules come from others: without a limit,
/// some thousand of them, each of a hundred ports of its own, would take gigabytes.
const ENTRIES_MAX: u32 = 1 << 13;

const NAMED_WORDS: usize = 64;

#[cfg(test)]
mod tests {
    use super::{ENTRIES_MAX, Sorted};
    use flowpin_rule::{AddressSet, Header, PortSet, Protocol};
    use std::sync::Arc;

    /// Rules whose ports find no room are of any port: none is lost, and memory has a limit.
    #[test]
    fn what_finds_no_room_is_left_to_others() {
        let mut sorted = Sorted::new();
        let mut left = 0;
        for rule in 0..2_000_u16 {
            let low = rule * 30;
            let header = Header {
                transport: None,
                protocol: Protocol::Tcp,
                source: Arc::new(AddressSet::any()),
                source_ports: Arc::new(PortSet::any()),
                destination: Arc::new(AddressSet::any()),
                destination_ports: Arc::new(PortSet::range(low, low + 99).unwrap()),
                both_ways: false,
                transactional: false,
            };
            left += usize::from(!sorted.add(rule.into(), &header, &()));
        }
        let entries: usize = sorted.to.values().map(Vec::len).sum();
        assert!(sorted.from.is_empty());
        assert!(entries <= ENTRIES_MAX as usize, "{entries}");
        assert_eq!(entries, (2_000 - left) * 100);
        assert!(left > 1_000, "{left}");
    }
}
