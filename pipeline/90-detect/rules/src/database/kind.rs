//! What a rule is compared with: packets, streams, messages, or what is odd.

use super::events;
use flowpin_rule::{BitAction, BufferId, BufferSource, Condition, Protocol, Rule, Term};

/// What a rule is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The first packet in each direction.
    pub(crate) first: bool,
    /// The first packet in each direction once it is known what the connection speaks.
    pub(crate) identified: bool,
    /// Packets of TCP.
    pub(crate) segments: bool,
    /// Packets of other transports.
    pub(crate) datagrams: bool,
    /// Streams.
    pub(crate) streams: bool,
    /// Messages.
    pub(crate) messages: bool,
    /// What is odd.
    pub(crate) events: bool,
}

impl Kind {
    /// What a rule is compared with.
    pub(super) fn of(rule: &Rule) -> Self {
        let is_message = |one: &flowpin_rule::Inspection| {
            !matches!(
                one.buffer.info().source,
                BufferSource::Payload | BufferSource::Header(_) | BufferSource::Address { .. }
            )
        };
        let examines_message = rule.inspections.iter().any(is_message);
        if events::event(rule).is_some() && !examines_message {
            return Kind {
                events: true,
                ..Kind::default()
            };
        }
        if examines_message {
            return Kind {
                messages: true,
                ..Kind::default()
            };
        }
        let protocol = &rule.header.protocol;
        let is_tcp = matches!(
            protocol,
            Protocol::Tcp | Protocol::TcpPacket | Protocol::TcpStream
        );
        let may_be_tcp = is_tcp
            || matches!(
                protocol,
                Protocol::Ip | Protocol::App(_) | Protocol::IpVersion(_)
            );
        let datagrams = !is_tcp && rule.flow.only_stream != Some(true);
        let asks_packets = rule.conditions.iter().any(is_of_packets)
            || rule
                .inspections
                .iter()
                .any(|one| one.buffer != BufferId::PAYLOAD)
            || matches!(protocol, Protocol::TcpPacket)
            || rule.flow.only_stream == Some(false);
        if rule.inspections.is_empty() {
            let is_only_header = !rule.conditions.iter().any(|one| !is_of_state(one))
                && rule.flow == flowpin_rule::FlowCheck::default()
                && !matches!(
                    protocol,
                    Protocol::App(_) | Protocol::TcpPacket | Protocol::TcpStream
                )
                && rule.header.source_ports.is_any()
                && rule.header.destination_ports.is_any();
            if is_only_app(rule) {
                return Kind {
                    identified: true,
                    ..Kind::default()
                };
            }
            return Kind {
                first: is_only_header,
                segments: may_be_tcp && !is_only_header,
                datagrams: datagrams && !is_only_header,
                ..Kind::default()
            };
        }
        let is_placed = rule
            .inspections
            .iter()
            .flat_map(|one| &one.terms)
            .any(|term| match term {
                Term::Content(content) => {
                    content.offset.is_some() || content.depth.is_some() || content.startswith
                }
                _ => false,
            });
        let only_stream = rule.flow.only_stream == Some(true) || *protocol == Protocol::TcpStream;
        Kind {
            segments: may_be_tcp && !only_stream && (asks_packets || is_placed),
            streams: may_be_tcp && !asks_packets,
            datagrams,
            ..Kind::default()
        }
    }
}

/// Whether a rule asks what a connection speaks, and for nothing of single packets: by its header
/// alone, or by `app-layer-protocol`, perhaps with what outlasts packets. One that changes a bit
/// does so with each packet, as in Suricata.
fn is_only_app(rule: &Rule) -> bool {
    let is_app = |one: &Condition| matches!(one, Condition::AppProtocol { .. });
    let asks_state = |one: &Condition| match one {
        Condition::FlowBit(action, _) => matches!(action, BitAction::IsSet | BitAction::IsNotSet),
        Condition::HostBit { .. } | Condition::Reputation { .. } => true,
        one => is_app(one),
    };
    if rule.conditions.iter().any(is_app) {
        rule.conditions.iter().all(asks_state)
            && !matches!(
                rule.header.protocol,
                Protocol::TcpPacket | Protocol::TcpStream
            )
            && rule.flow.only_stream.is_none()
            && rule.flow.only_fragments.is_none()
    } else {
        rule.conditions.is_empty() && matches!(rule.header.protocol, Protocol::App(_))
    }
}

/// Whether a condition is about single packets.
fn is_of_packets(condition: &Condition) -> bool {
    !is_of_state(condition)
        && !matches!(
            condition,
            Condition::AppProtocol { .. } | Condition::StreamSize(..)
        )
}

/// Whether a condition is about what outlasts packets: addresses, and what is remembered.
fn is_of_state(condition: &Condition) -> bool {
    matches!(
        condition,
        Condition::FlowBit(..)
            | Condition::FlowInt { .. }
            | Condition::HostBit { .. }
            | Condition::Reputation { .. }
    )
}
