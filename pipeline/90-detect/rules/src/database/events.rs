//! Rules about what is odd, by what it is.

use flowpin_packet::{Malformed, Reason};
use flowpin_record::{Sender, is_packet_event, messages_of_event, segment_of_event};
use flowpin_rule::{Condition, EventOf, Rule, SEQUENCE_GAP};

/// Something odd that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// A packet was refused, or is odd; whether it is IPv6.
    Packet(Malformed, bool),
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
            (Self::Segment(reason), EventOf::Segment) => segment_of_event(name) == Some(reason),
            (Self::Gap, EventOf::Segment) => name == SEQUENCE_GAP,
            (Self::Message(own, to_server), EventOf::Message) => {
                messages_of_event(name).any(|(one, sender)| one == own && sender.is(to_server))
            }
            _ => false,
        }
    }
}

/// Rules about what is odd.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The first event that each of these rules asks for.
    rules: Vec<(EventOf, String, u32)>,
    /// Our names of what is odd about messages: all that rules ask for.
    messages: Vec<(&'static str, Sender)>,
}

impl Events {
    /// Adds a rule, if it asks for an event.
    pub(super) fn add(&mut self, at: u32, rule: &Rule) -> bool {
        let Some((of, name)) = event(rule) else {
            return false;
        };
        if of == EventOf::Message {
            self.messages.extend(messages_of_event(name));
        }
        self.rules.push((of, name.to_owned(), at));
        true
    }

    /// Whether rules ask for what is odd about packets.
    pub(crate) fn have_packets(&self) -> bool {
        self.rules.iter().any(|one| one.0 == EventOf::Packet)
    }

    /// Whether rules ask for something that is odd about messages.
    pub(crate) fn knows_message(&self, own: &str) -> bool {
        self.messages.iter().any(|one| one.0 == own)
    }

    /// The rules that ask for what has happened.
    pub(crate) fn rules(&self, odd: Odd) -> impl Iterator<Item = u32> {
        let asked = self.rules.iter();
        let asked = asked.filter(move |(of, name, _)| odd.is(*of, name));
        asked.map(|one| one.2)
    }
}

/// The first event that a rule asks for.
pub(super) fn event(rule: &Rule) -> Option<(EventOf, &str)> {
    rule.conditions.iter().find_map(|one| match one {
        Condition::Event(of, name) => Some((*of, name.as_str())),
        _ => None,
    })
}
