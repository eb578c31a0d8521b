//! A rule, and all rules of a run.

use crate::{AddressSet, Condition, Count, FlowCheck, Inspection, PortSet, ValueSet};
use std::sync::Arc;

/// Where something is written: file, line and column, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// The line that the rule begins in.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// What a rule that fits does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It alerts.
    Alert,
    /// What it fits does not alert.
    Pass,
    /// An inline device would drop the packet: it alerts, and says so.
    Drop,
    /// An inline device would refuse the connection: likewise.
    Reject,
}

/// The protocol of a rule's header.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Any packet.
    Ip,
    /// TCP, both packets and streams.
    Tcp,
    /// TCP, packets alone (`tcp-pkt`).
    TcpPacket,
    /// TCP, streams alone (`tcp-stream`).
    TcpStream,
    /// UDP.
    Udp,
    /// ICMP and ICMPv6.
    Icmp,
    /// SCTP.
    Sctp,
    /// IPv4 or IPv6 alone, with its version number.
    IpVersion(u8),
    /// An application protocol, by its name in rules.
    App(String),
}

/// Who sends to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What carries it, as IP numbers it, if the rule asks for that beside the protocol of its
    /// buffers.
    pub transport: Option<u8>,
    /// What is spoken.
    pub protocol: Protocol,
    /// Who sends.
    pub source: Arc<AddressSet>,
    /// From which ports.
    pub source_ports: Arc<PortSet>,
    /// Who receives.
    pub destination: Arc<AddressSet>,
    /// At which ports.
    pub destination_ports: Arc<PortSet>,
    /// `<>`: or the other way round.
    pub both_ways: bool,
    /// `=>`: a request and its response are compared together.
    pub transactional: bool,
}

/// A class of rules, from `classification.config`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// What `classtype` calls it.
    pub name: String,
    /// What alerts call it (EVE's `category`).
    pub text: String,
    /// Its rules' priority, from 1, the highest.
    pub priority: u8,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Generator; 1 if the rule names none.
    pub gid: u32,
    /// Its number.
    pub sid: u32,
    /// Its revision.
    pub rev: u32,
    /// What it does.
    pub action: Action,
    /// Who sends to whom.
    pub header: Header,
    /// What alerts say.
    pub message: String,
    /// Its class; empty if it names none.
    pub class: Arc<Class>,
    /// From 1, the highest.
    pub priority: u8,
    /// Systems and identifiers.
    pub references: Vec<(String, String)>,
    /// Keys and values, in order.
    pub metadata: Vec<(String, String)>,
    /// `target`: whether the source is the target.
    pub target_is_source: Option<bool>,
    /// The connection's state.
    pub flow: FlowCheck,
    /// What is asked of packet and connection.
    pub conditions: Vec<Condition>,
    /// What is asked of buffers.
    pub inspections: Vec<Inspection>,
    /// How alerts are counted, at most one of each kind.
    pub counts: Vec<Count>,
    /// It has effects, but does not alert.
    pub noalert: bool,
    /// Variables that its terms read numbers into.
    pub variables: u8,
    /// Where it is written.
    pub place: Place,
    /// As it is written, in one line.
    pub text: Arc<str>,
}

/// All rules of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// In the order in which they were read.
    pub rules: Vec<Rule>,
    /// Names of flowbits and flowints, by their numbers.
    pub bits: Vec<String>,
    /// Names of the bits of hosts, by their numbers.
    pub host_bits: Vec<String>,
    /// Alerts that are left out.
    pub suppressions: Vec<Suppression>,
    /// Sets that rules write, by their numbers: what was loaded.
    pub written: Vec<Arc<ValueSet>>,
    /// What alerts do with the client that a proxy names, if they show it.
    pub forwarded: Option<(ForwardedAs, ForwardedHop)>,
}

impl RuleSet {
    /// Tells rules that were read from other files apart: the number of a rule means something
    /// among the same rules only (FNV-1a).
    pub fn fingerprint(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325;
        let mut add = |bytes: &[u8]| {
            for &byte in bytes.iter().chain(&[0xff]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        };
        for rule in &self.rules {
            for number in [rule.gid, rule.sid, rule.rev] {
                add(&number.to_le_bytes());
            }
            add(rule.text.as_bytes());
        }
        let names = self.bits.iter().chain(&self.host_bits);
        names.for_each(|name| add(name.as_bytes()));
        hash
    }

    /// Whether a rule asks whether connections speak this protocol.
    pub fn names_protocol(&self, name: &str) -> bool {
        self.rules.iter().any(|rule| {
            let mut conditions = rule.conditions.iter();
            matches!(&rule.header.protocol, Protocol::App(one) if *one == *name)
                || conditions.any(|one| match one {
                    Condition::AppProtocol { name: one, .. } => *one == *name,
                    _ => false,
                })
        })
    }
}

/// What alerts about HTTP do with the client that a proxy names (`X-Forwarded-For`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardedAs {
    /// They have its address beside the connection's.
    Extra,
    /// Its address stands in place of the connection's client.
    Overwrite,
}

/// Which address of several that proxies name counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardedHop {
    /// The first: the sensor stands before a proxy of the clients.
    First,
    /// The last: it stands behind a proxy of the servers, which alone is trusted.
    #[default]
    Last,
}

/// Alerts that are left out (`suppress` in `threshold.config`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Of this generator; 0: any.
    pub gid: u32,
    /// Of this rule; 0: any.
    pub sid: u32,
    /// Of these sources (`true`) or destinations; none: all.
    pub of: Option<(SuppressedSide, AddressSet)>,
}

/// Whose address is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressedSide {
    /// That of the source.
    Source,
    /// That of the destination.
    Destination,
    /// Either.
    Either,
}
