//! Rules about what is odd, by what it is.

use flowpin_packet::{Layer, Malformed, Reason};
use flowpin_record::{
    Sender, header_event, is_packet_event, messages_of_event, packets_of_event, segment_of_event,
};
use flowpin_rule::{Condition, EventOf, Rule, SEQUENCE_GAP};
use std::collections::HashMap;

/// Something odd that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// A packet was refused, or is odd; whether it is IPv6.
    Packet(Malformed, bool),
    /// A header of a packet that was accepted, by Suricata's name.
    Header(&'static str),
    /// So is a TCP segment, by what came before it.
    Segment(Reason),
    /// Bytes of a stream are missing.
    Gap,
    /// A message, by our name; where what shows it was sent.
    Message(&'static str, Option<bool>),
}

impl Odd {
    /// Whether rules call it so.
    pub(crate) fn is(self, of: EventOf, name: &str) -> bool {
        match (self, of) {
            (Self::Packet(what, is_ipv6), EventOf::Packet) => is_packet_event(name, what, is_ipv6),
            (Self::Header(own), EventOf::Packet) => own == name,
            (Self::Segment(reason), EventOf::Segment) => segment_of_event(name) == Some(reason),
            (Self::Gap, EventOf::Segment) => name == SEQUENCE_GAP,
            (Self::Message(own, to_server), EventOf::Message) => {
                messages_of_event(name).any(|(one, sender)| one == own && sender.is(to_server))
            }
            _ => false,
        }
    }
}

/// Whether a rule is about IPv6 alone, or about all else alone; and its place.
type OfPackets = (Option<bool>, u32);

/// Rules about what is odd, by what has happened: a flood of odd packets compares no names.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// By layer and reason; whether IPv6 alone, or all else alone.
    packets: HashMap<(Layer, Reason), Vec<OfPackets>>,
    /// By Suricata's names.
    headers: HashMap<&'static str, Vec<u32>>,
    segments: HashMap<Reason, Vec<u32>>,
    gaps: Vec<u32>,
    /// By our names.
    messages: HashMap<&'static str, Vec<(Sender, u32)>>,
    /// Those that rules about messages ask for, by our names: whose, and their bit.
    awaited: HashMap<&'static str, Vec<(Sender, u32)>>,
}

/// The bit of an event that rules about messages ask for.
///
/// # Errors
/// Where they ask for too many.
pub(super) fn bit(name: &str, awaited: &mut Vec<String>) -> Result<u32, String> {
    let known = awaited.iter().position(|one| one == name);
    let at = known.unwrap_or_else(|| {
        awaited.push(name.to_owned());
        awaited.len() - 1
    });
    let bit = u32::try_from(at).ok().and_then(|at| 1_u32.checked_shl(at));
    bit.ok_or_else(|| "rules about messages ask for more than 32 events".to_owned())
}

impl Events {
    /// With the events that rules about messages ask for, in the order of their bits.
    pub(super) fn new(awaited: &[String]) -> Self {
        let mut events = Self::default();
        for (name, at) in awaited.iter().zip(0..u32::BITS) {
            for (own, sender) in messages_of_event(name) {
                let bits = events.awaited.entry(own).or_default();
                bits.push((sender, 1 << at));
            }
        }
        events
    }

    /// The bits of an event.
    pub(crate) fn awaited(&self, own: &str, to_server: Option<bool>) -> u32 {
        let known = self.awaited.get(own).into_iter().flatten();
        let known = known.filter(|one| one.0.is(to_server));
        known.fold(0, |bits, one| bits | one.1)
    }

    /// Adds a rule, if it asks for an event: the first that it asks for.
    pub(super) fn add(&mut self, at: u32, rule: &Rule) -> bool {
        let Some((of, name)) = event(rule) else {
            return false;
        };
        match of {
            EventOf::Packet => {
                if let Some(own) = header_event(name) {
                    self.headers.entry(own).or_default().push(at);
                }
                for (layer, reason, is_ipv6) in packets_of_event(name) {
                    let rules = self.packets.entry((layer, reason)).or_default();
                    rules.push((is_ipv6, at));
                }
            }
            EventOf::Segment if name == SEQUENCE_GAP => self.gaps.push(at),
            EventOf::Segment => {
                if let Some(reason) = segment_of_event(name) {
                    self.segments.entry(reason).or_default().push(at);
                }
            }
            EventOf::Message => {
                for (own, sender) in messages_of_event(name) {
                    self.messages.entry(own).or_default().push((sender, at));
                }
            }
        }
        true
    }

    /// Whether rules ask for what is odd about packets.
    pub(crate) fn have_packets(&self) -> bool {
        !self.packets.is_empty()
    }

    /// Whether rules ask for what is odd about headers of packets that were accepted.
    pub(crate) fn have_headers(&self) -> bool {
        !self.headers.is_empty()
    }

    /// Whether rules ask for something that is odd about messages.
    pub(crate) fn knows_message(&self, own: &str) -> bool {
        self.messages.contains_key(own) || self.awaited.contains_key(own)
    }

    /// The rules that ask for what has happened; a rule may come twice.
    pub(crate) fn rules(&self, odd: Odd, hit: &mut impl FnMut(u32)) {
        match odd {
            Odd::Packet(what, is_ipv6) => {
                let rules = self.packets.get(&(what.layer, what.reason));
                let rules = rules.into_iter().flatten();
                let rules = rules.filter(|one| one.0.is_none_or(|only| only == is_ipv6));
                rules.for_each(|one| hit(one.1));
            }
            Odd::Header(own) => {
                let rules = self.headers.get(own);
                rules.into_iter().flatten().for_each(|rule| hit(*rule));
            }
            Odd::Segment(reason) => {
                let rules = self.segments.get(&reason);
                rules.into_iter().flatten().for_each(|rule| hit(*rule));
            }
            Odd::Gap => self.gaps.iter().for_each(|rule| hit(*rule)),
            Odd::Message(own, to_server) => {
                let rules = self.messages.get(own).into_iter().flatten();
                let rules = rules.filter(|one| one.0.is(to_server));
                rules.for_each(|one| hit(one.1));
            }
        }
    }
}

/// The first event that a rule asks for.
pub(super) fn event(rule: &Rule) -> Option<(EventOf, &str)> {
    rule.conditions.iter().find_map(|one| match one {
        Condition::Event(of, name) => Some((*of, name.as_str())),
        _ => None,
    })
}
