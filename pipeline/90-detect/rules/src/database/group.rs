//! Groups of rules that are searched for together.

use super::addresses::AddressIndex;
use super::anchored::Anchored;
use super::far::{Far, Means, Place};
use super::fast::{Fast, choose, choose_datagram, choose_near, is_anchored};
use super::ports::{ByPort, Sorted, Wanted};
use super::{Compiled, Kind, TRANSPORTS};
use core::net::IpAddr;
use flowpin_rule::{
    AddressSet, BufferId, BufferSource, Condition, HttpPart, Inspection, Protocol, Rule, RuleSet,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rules that are compared with the same bytes.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Fast patterns that begin at few places.
    anchored: Option<Anchored>,
    /// Other ones.
    far: Far,
    /// Rules without a fast pattern: by the sender's address, by the receiver's; by their ports; or
    /// always.
    by_source: AddressIndex,
    by_destination: AddressIndex,
    has_addressed: bool,
    from_ports: ByPort<Box<[u32]>>,
    to_ports: ByPort<Box<[u32]>>,
    always: Vec<u32>,
}

impl Group {
    /// Whether it has no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.anchored.is_none()
            && self.far.is_empty()
            && self.always.is_empty()
            && self.from_ports.is_empty()
            && self.to_ports.is_empty()
            && !self.has_addressed
    }

    /// How many of the first bytes of a text of `len` there have to be folded for its patterns.
    pub(crate) fn reach(&self, place: Place, len: usize) -> usize {
        let of_few = self.anchored.as_ref().map_or(0, Anchored::reach);
        self.far.reach(place, len).max(of_few.min(len))
    }

    /// Whether there are patterns that may stand anywhere.
    pub(crate) const fn has_far(&self) -> bool {
        !self.far.is_empty()
    }

    /// How many bytes patterns that begin at few places need.
    pub(crate) fn anchored_reach(&self) -> usize {
        self.anchored.as_ref().map_or(0, Anchored::reach)
    }

    /// Calls `hit` with each rule that may fit there and whose fast pattern stands at one of few
    /// places in the folded text.
    pub(crate) fn search_anchored(&self, folded: &[u8], place: Place, hit: &mut dyn FnMut(u32)) {
        if let Some(anchored) = &self.anchored {
            anchored.search(folded, place, hit);
        }
    }

    /// Calls `hit` with each other rule whose fast pattern ends behind `from` in the text, and
    /// where the pattern begins. Of its `len` bytes, as many have to be there as
    /// [`reach`](Self::reach) says.
    pub(crate) fn search(
        &self,
        text: (&[u8], usize),
        place: Place,
        from: usize,
        hit: &mut dyn FnMut(u32, usize),
    ) {
        self.far.search(text, place, from, hit);
    }

    /// Calls `hit` with each rule without a fast pattern that may fit a sender and a receiver.
    pub(crate) fn others(&self, from: (IpAddr, u16), to: (IpAddr, u16), hit: &mut dyn FnMut(u32)) {
        self.always.iter().for_each(|&rule| hit(rule));
        let ports = [self.from_ports.of(from.1), self.to_ports.of(to.1)];
        let of_ports = ports.into_iter().flatten().flatten();
        of_ports.for_each(|&rule| hit(rule));
        if self.has_addressed {
            let sources = self.by_source.rules(from.0).iter();
            let both = sources.chain(self.by_destination.rules(to.0));
            both.for_each(|&rule| hit(rule));
        }
    }
}

/// A group while rules are added.
#[derive(Debug, Default)]
struct Draft {
    patterns: Vec<(u32, Fast)>,
    others: Vec<u32>,
}

impl Draft {
    fn add(&mut self, rule: u32, fast: Option<&Fast>) {
        match fast {
            Some(fast) => self.patterns.push((rule, fast.clone())),
            None => self.others.push(rule),
        }
    }

    fn finish(self, of: &Prepared<'_>, means: Means) -> Group {
        let Prepared { set, rules, wanted } = *of;
        let patterns = self.patterns.into_iter();
        let (anchored, far): (Vec<_>, Vec<_>) =
            patterns.partition(|(_, fast)| is_anchored(&fast.places));
        let (mut by_source, mut by_destination, mut always) = (Vec::new(), Vec::new(), Vec::new());
        let rule = |at: u32| {
            let rule = rules.get(at as usize)?;
            set.rules.get(rule.number as usize)
        };
        let mut by_port = Sorted::new();
        for at in self.others {
            let Some(rule) = rule(at) else { continue };
            let header = &rule.header;
            if means.ports && by_port.add(at, header, &()) {
                continue;
            }
            // PERF: by its source, `$HOME_NET any -> [few addresses] any` would be compared with
            // all that the network sends.
            let (sends, receives) = (size(&header.source), size(&header.destination));
            if header.both_ways || sends.min(receives) >= SELECTIVE {
                always.push(at);
            } else if sends <= receives {
                by_source.push((at, &*header.source));
            } else {
                by_destination.push((at, &*header.destination));
            }
        }
        let numbers = |some: Vec<(u32, ())>| Some(some.into_iter().map(|one| one.0).collect());
        Group {
            from_ports: ByPort::new(by_port.from, numbers),
            to_ports: ByPort::new(by_port.to, numbers),
            anchored: Anchored::new(&anchored, wanted, means.ports),
            far: Far::new(far, means, rule, wanted),
            has_addressed: !by_source.is_empty() || !by_destination.is_empty(),
            by_source: AddressIndex::new(&by_source),
            by_destination: AddressIndex::new(&by_destination),
            always,
        }
    }
}

/// All rules, and which ports they need.
#[derive(Clone, Copy)]
struct Prepared<'a> {
    set: &'a RuleSet,
    rules: &'a [Compiled],
    wanted: &'a Arc<Wanted>,
}

/// How many addresses are in a set, roughly: half as many.
fn size(set: &AddressSet) -> u128 {
    set.ranges().map(|(low, high)| (high - low) / 2).sum()
}

/// A set with fewer addresses tells rules apart: it is not all, nor nearly all.
const SELECTIVE: u128 = u128::MAX >> 8;

/// Whether what is asked of a buffer can have the fast pattern of a rule of this kind.
pub(crate) fn is_searched(inspection: &Inspection, kind: Kind) -> bool {
    match inspection.buffer.info().source {
        BufferSource::Payload => !kind.messages,
        BufferSource::Header(_)
        | BufferSource::Address { .. }
        | BufferSource::Number(..)
        | BufferSource::Time(..) => false,
        BufferSource::Column(..)
        | BufferSource::Columns(..)
        | BufferSource::Word(..)
        | BufferSource::Http(_)
        | BufferSource::File
        | BufferSource::OfFile(_)
        | BufferSource::Said(..)
        | BufferSource::Frame(_)
        | BufferSource::Certificate => kind.messages,
    }
}

/// Whether a buffer is a message's body, by whatever name.
pub(crate) fn is_body(buffer: BufferId) -> bool {
    matches!(
        buffer.info().source,
        BufferSource::File | BufferSource::Http(HttpPart::RequestBody | HttpPart::ResponseBody)
    )
}

/// Whether a rule's alerts depend on other connections.
pub(crate) fn is_decided_at_merge(rule: &Rule) -> bool {
    !rule.counts.is_empty()
        || super::uses_of_sets(rule).next().is_some()
        || rule
            .conditions
            .iter()
            .any(|one| matches!(one, Condition::HostBit { .. }))
}

/// All groups while rules are added.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    packets: [[Draft; 2]; TRANSPORTS],
    first: Draft,
    identified: Draft,
    streams: [Draft; 2],
    bodies: [Draft; 2],
    buffers: BTreeMap<BufferId, [Draft; 2]>,
    messages: BTreeMap<&'static str, [Vec<u32>; 2]>,
}

/// All groups.
pub(super) struct Grouped {
    pub(super) packets: [[Group; 2]; TRANSPORTS],
    pub(super) first: Group,
    pub(super) identified: Group,
    pub(super) streams: [Group; 2],
    pub(super) bodies: [Group; 2],
    pub(super) buffers: BTreeMap<BufferId, [Group; 2]>,
    pub(super) messages: BTreeMap<&'static str, [Vec<u32>; 2]>,
}

impl Grouping {
    pub(super) fn add(&mut self, at: u32, compiled: &Compiled, rule: &Rule) {
        let kind = compiled.kind;
        let chosen = choose(rule, |one| is_searched(one, kind));
        let pattern = chosen.as_ref();
        let sides = [true, false].map(|side| compiled.direction.is_none_or(|one| one == side));
        let sides = || {
            sides
                .iter()
                .zip(0_usize..)
                .filter(|(is_in, _)| **is_in)
                .map(|(_, side)| side)
        };
        if kind.messages {
            let searched = chosen.as_ref();
            let buffer = searched.and_then(|fast| rule.inspections.get(fast.inspection));
            match buffer {
                Some(inspection) if is_body(inspection.buffer) => {
                    sides().for_each(|side| self.bodies[side].add(at, pattern));
                }
                Some(inspection) => {
                    let of_buffer = self.buffers.entry(inspection.buffer).or_default();
                    sides().for_each(|side| of_buffer[side].add(at, pattern));
                }
                None => {
                    let of_buffers = rule
                        .inspections
                        .iter()
                        .map(|one| one.buffer.info().protocol);
                    let protocol = of_buffers.max().unwrap_or_default();
                    let all = self.messages.entry(protocol).or_default();
                    sides().for_each(|side| all[side].push(at));
                }
            }
            return;
        }
        if kind.first {
            self.first.add(at, None);
        }
        if kind.identified {
            self.identified.add(at, None);
        }
        if kind.streams {
            sides().for_each(|side| self.streams[side].add(at, pattern));
        }
        let may_be = transports(rule, kind);
        let of_segments = choose_near(rule, |one| is_searched(one, kind));
        let of_datagrams = choose_datagram(rule, |one| is_searched(one, kind));
        for (transport, _) in (0..).zip(may_be).filter(|(_, may_be)| *may_be) {
            let groups: Option<&mut [Draft; 2]> = self.packets.get_mut(transport);
            if let Some(groups) = groups {
                let fast = match transport {
                    0 => of_segments.as_ref(),
                    _ => of_datagrams.as_ref(),
                };
                sides().for_each(|side| groups[side].add(at, fast));
            }
        }
    }

    pub(super) fn finish(self, set: &RuleSet, rules: &[Compiled]) -> Grouped {
        let of_rules = rules.iter().map(|one| set.rules.get(one.number as usize));
        let headers = of_rules.map(|rule| rule.map(|rule| &rule.header));
        let wanted = &Arc::new(Wanted::new(headers));
        let of = &Prepared { set, rules, wanted };
        let both = |drafts: [Draft; 2], means: Means| drafts.map(|draft| draft.finish(of, means));
        let [tcp, udp, icmp, other] = self.packets;
        let anyhow = Means::default();
        let (ports, packets) = (true, true);
        let by_ports = Means {
            ports,
            packets: false,
        };
        let buffers = self.buffers.into_iter();
        let buffers = buffers.map(|(buffer, drafts)| (buffer, both(drafts, by_ports)));
        Grouped {
            packets: [
                both(tcp, Means { ports, packets }),
                both(udp, Means { ports, packets }),
                both(icmp, anyhow),
                both(other, anyhow),
            ],
            first: self.first.finish(of, anyhow),
            identified: self.identified.finish(of, anyhow),
            streams: both(self.streams, by_ports),
            bodies: both(self.bodies, by_ports),
            buffers: buffers.collect(),
            messages: self.messages,
        }
    }
}

/// Packets of which transports a rule is compared with.
// PERF: rules on `ip` for one rare protocol were compared with every packet.
pub(super) fn transports(rule: &Rule, kind: Kind) -> [bool; TRANSPORTS] {
    let only = rule.conditions.iter().find_map(|one| match one {
        Condition::IpProtocol(check) => check.only(),
        _ => None,
    });
    let fits = match only {
        None => [true; TRANSPORTS],
        Some(6) => [true, false, false, false],
        Some(17) => [false, true, false, false],
        Some(1 | 58) => [false, false, true, false],
        Some(_) => [false, false, false, true],
    };
    let datagrams = match rule.header.protocol {
        Protocol::Udp => [true, false, false],
        Protocol::Icmp => [false, true, false],
        Protocol::Sctp => [false, false, true],
        Protocol::App(_) => [true, false, false],
        _ => [true; 3],
    };
    let [udp, icmp, other] = datagrams.map(|may_be| may_be && kind.datagrams);
    let of_kind = [kind.segments, udp, icmp, other];
    let mut both = of_kind
        .into_iter()
        .zip(fits)
        .map(|(one, other)| one && other);
    core::array::from_fn(|_| both.next().unwrap_or(false))
}
