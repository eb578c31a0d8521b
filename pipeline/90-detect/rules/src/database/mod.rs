//! All rules of a run, prepared once and shared by its workers.
//!
//! ```text
//!  RuleSet ─► order: pass first, who sets a bit before who asks for it
//!          ─► kinds: first packets │ packets │ streams │ messages
//!          ─► groups, by protocol and direction (messages: by buffer):
//!                fast patterns in one automaton; the others by address, or always
//! ```

mod acks;
mod addresses;
mod anchored;
mod events;
mod far;
mod fast;
mod group;
mod kind;
mod of_http;
mod order;
mod ports;
mod search;

pub(crate) use events::Events;
pub use events::Odd;
pub(crate) use far::Place;
pub(crate) use group::{Group, is_body};
pub(crate) use kind::Kind;
pub(crate) use search::{PATTERN_MAX, fold_into, fold_more};

use crate::evaluate::transform::CompiledTransform;
use crate::evaluate::{CompiledTerm, compile};
use crate::tap::PROTOCOLS;
use flowpin_record::SetAction;
use flowpin_rule::{
    Absent, Action, BufferId, BufferSource, Condition, CostLedger, EventOf, HeaderNumber, Protocol,
    Rule, RuleSet, Spoken, Term,
};
use group::Grouping;
use of_http::OfHttp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All rules of a run.
#[derive(Debug)]
pub struct Database {
    pub(crate) set: Arc<RuleSet>,
    /// In the order in which those of one packet are evaluated.
    pub(crate) rules: Vec<Compiled>,
    /// Application protocols that rules name: their numbers are bits.
    apps: Vec<String>,
    /// By transport, and by direction (to the server first).
    pub(crate) packets: [[Group; 2]; TRANSPORTS],
    /// Rules that only the first packet in each direction is compared with.
    pub(crate) first: Group,
    /// Rules about what a connection speaks, and nothing else.
    pub(crate) identified: Group,
    pub(crate) streams: [Group; 2],
    /// Rules about bodies of messages, whatever they call them: by direction.
    pub(crate) bodies: [Group; 2],
    /// Rules about other parts of messages: by buffer, and by direction.
    pub(crate) buffers: BTreeMap<BufferId, [Group; 2]>,
    /// Rules about messages without a fast pattern: by protocol.
    pub(crate) messages: BTreeMap<&'static str, [Vec<u32>; 2]>,
    /// Rules on both directions of a message: by protocol.
    pub(crate) transactions: BTreeMap<&'static str, Vec<u32>>,
    /// Buffers that rules examine.
    pub(crate) used: BTreeSet<BufferId>,
    /// Whether segments that only acknowledge may fit rules: to the server, to the client.
    pub(crate) asks_acks: [bool; 2],
    /// Of these, what is made of messages of HTTP: by direction.
    pub(crate) http: [OfHttp; 2],
    /// Whether rules read files.
    pub(crate) reads_files: bool,
    /// The bits of protocols that have messages.
    spoken: Vec<(&'static str, u64)>,
    /// Rules about what is odd.
    pub(crate) events: Events,
    /// Rules that cannot be evaluated: which of the set, and why.
    refused: Vec<(usize, String)>,
    /// Whether rules ask when a connection speaks a protocol, or who does.
    pub(crate) reads_turns: bool,
    /// Those of them that ask for nothing else: compared when a connection speaks something else.
    pub(crate) turns: Vec<Turn>,
    /// Whether rules read frames.
    pub(crate) reads_frames: bool,
    /// Bytes of what a rule fits that its alert has.
    pub(crate) payload_bytes: usize,
    /// Whether alerts have the packet that shows them.
    has_packets: bool,
    /// Who wants to know what evaluation costs.
    pub(crate) costs: Option<Arc<CostLedger>>,
    /// What its first rule is called among all that the run has had.
    first_number: u32,
}

/// TCP, UDP, ICMP, others.
pub(crate) const TRANSPORTS: usize = 4;

/// A rule, prepared.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// Its number in the set.
    pub(crate) number: u32,
    pub(crate) inspections: Vec<CompiledInspection>,
    pub(crate) kind: Kind,
    /// To the server (`true`), to the client, either.
    pub(crate) direction: Option<bool>,
    /// One of these protocols has to be spoken; 0: any, or none.
    pub(crate) apps: u64,
    /// None of these.
    pub(crate) not_apps: u64,
    /// One of these at that time, or by that side; or, where that is negated, none.
    pub(crate) of_time: Vec<(Spoken, u64, bool)>,
    /// It asks for sets that rules write, or writes them.
    pub(crate) uses_sets: bool,
    /// One of these events has to have happened since the message before; 0: none.
    pub(crate) event: u32,
}

/// A rule that is compared when what it asks for is known anew.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) rule: u32,
    /// When a side, not the connection, speaks something else.
    pub(crate) is_of_a_side: bool,
    /// It is about packets of one direction.
    pub(crate) has_direction: bool,
}

impl Turn {
    fn of(rule: u32, compiled: &Compiled) -> impl Iterator<Item = Self> {
        let is_of_side = |when| matches!(when, Spoken::ByClient | Spoken::ByServer);
        let has_direction = compiled.direction.is_some();
        [false, true]
            .into_iter()
            .filter(move |&of_a_side| {
                let mut whens = compiled.of_time.iter().map(|one| one.0);
                // A side speaks what its connection does, where nothing else is known of it; what
                // a connection spoke first stays so.
                match of_a_side {
                    true => whens.any(is_of_side),
                    false => whens.any(|when| when != Spoken::First),
                }
            })
            .map(move |is_of_a_side| Self {
                rule,
                is_of_a_side,
                has_direction,
            })
    }
}

impl Compiled {
    /// Whether it examines frames.
    pub(crate) fn is_about_frames(&self) -> bool {
        let mut inspections = self.inspections.iter();
        inspections.any(|one| matches!(one.buffer.info().source, BufferSource::Frame(_)))
    }

    /// Whether it examines files more than once: each time it may be another one, as in Suricata.
    pub(crate) fn is_across_files(&self) -> bool {
        let of_files = self.inspections.iter().filter(|one| {
            let source = one.buffer.info().source;
            matches!(source, BufferSource::File | BufferSource::OfFile(_))
        });
        of_files.count() > 1
    }

    /// Whether it examines files.
    pub(crate) fn is_about_files(&self) -> bool {
        self.inspections.iter().any(|one| {
            let source = one.buffer.info().source;
            matches!(source, BufferSource::File | BufferSource::OfFile(_))
        })
    }
}

/// What a rule asks of a buffer, prepared.
#[derive(Debug)]
pub(crate) struct CompiledInspection {
    pub(crate) buffer: BufferId,
    pub(crate) transforms: Vec<CompiledTransform>,
    pub(crate) terms: Vec<CompiledTerm>,
    pub(crate) absent: Option<Absent>,
    /// Of a rule on both directions: whose buffer it is.
    pub(crate) to_server: Option<bool>,
}

impl Database {
    /// Prepares rules.
    pub fn new(set: Arc<RuleSet>) -> Self {
        let mut apps = Vec::new();
        let mut awaited = Vec::new();
        let mut refused = Vec::new();
        let mut rules = Vec::with_capacity(set.rules.len());
        for number in order::ordered(&set) {
            let Some(rule) = set.rules.get(number) else {
                continue;
            };
            match prepare(number, rule, &mut apps, &mut awaited) {
                Ok(compiled) => rules.push(compiled),
                Err(why) => refused.push((number, why)),
            }
        }
        refused.sort();
        let mut grouping = Grouping::default();
        let mut used = BTreeSet::new();
        let mut events = Events::new(&awaited);
        let mut transactions: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (at, compiled) in (0..).zip(&rules) {
            let rule = set.rules.get(compiled.number as usize);
            let Some(rule) = rule else { continue };
            used.extend(compiled.inspections.iter().map(|one| one.buffer));
            if rule.header.transactional {
                let of_buffers = rule.inspections.iter();
                let protocol = of_buffers.map(|one| one.buffer.info().protocol).max();
                let protocol = protocol.unwrap_or_default();
                transactions.entry(protocol).or_default().push(at);
            } else if compiled.event != 0 || !events.add(at, rule) {
                grouping.add(at, compiled, rule);
            }
        }
        let grouped = grouping.finish(&set, &rules);
        let is_of_frame = |one: &BufferId| matches!(one.info().source, BufferSource::Frame(_));
        let reads_frames = used.iter().any(is_of_frame);
        let reads_files = used.iter().any(|one| {
            let source = one.info().source;
            matches!(source, BufferSource::File | BufferSource::OfFile(_))
        });
        let http = [true, false].map(|to_server| OfHttp::new(&used, &grouped.buffers, to_server));
        let of_time = |rule: &&Compiled| !rule.of_time.is_empty();
        let reads_turns = rules.iter().any(|rule| of_time(&rule));
        let turns = rules.iter().zip(0..);
        let turns = turns.filter(|(rule, _)| rule.kind.identified && of_time(rule));
        let turns = turns.flat_map(|(rule, at)| Turn::of(at, rule)).collect();
        let asks_acks = [true, false].map(|to_server| {
            let mut of_rules = rules
                .iter()
                .filter_map(|one| Some((one, set.rules.get(one.number as usize)?)));
            let asks = |one: (&Compiled, &Rule)| acks::asks(one, to_server);
            reads_frames || events.have_headers() || of_rules.any(asks)
        });
        let spoken = PROTOCOLS.map(|name| (name, bits_of(&apps, [name, ""])));
        Self {
            asks_acks,
            http,
            reads_files,
            spoken: spoken.into(),
            rules,
            apps,
            packets: grouped.packets,
            first: grouped.first,
            identified: grouped.identified,
            streams: grouped.streams,
            bodies: grouped.bodies,
            buffers: grouped.buffers,
            messages: grouped.messages,
            transactions,
            used,
            events,
            refused,
            reads_turns,
            turns,
            reads_frames,
            payload_bytes: 0,
            has_packets: false,
            costs: None,
            first_number: 0,
            set,
        }
    }

    /// Alerts have at most so many bytes of what their rule fits, and perhaps the packet that shows
    /// them.
    #[must_use]
    pub fn with_excerpts(mut self, payload_bytes: u16, packet: bool) -> Self {
        self.payload_bytes = payload_bytes.into();
        self.has_packets = packet;
        self
    }

    /// Whether alerts have the packet that shows them.
    pub const fn shows_packets(&self) -> bool {
        self.has_packets
    }

    /// What evaluation costs is added there.
    #[must_use]
    pub fn with_costs(mut self, costs: Option<Arc<CostLedger>>) -> Self {
        self.costs = costs;
        self
    }

    /// To replace `before`, whose rules' numbers stay theirs; none if there are none left.
    #[must_use]
    pub fn instead_of(mut self, before: &Self) -> Option<Self> {
        let count = u32::try_from(before.set.rules.len()).ok()?;
        self.first_number = before.first_number.checked_add(count)?;
        let count = u32::try_from(self.set.rules.len()).ok()?;
        self.first_number.checked_add(count)?;
        Some(self)
    }

    /// What its first rule is called among all that the run has had: those that are replaced while
    /// it goes on have numbers, too.
    pub const fn first_number(&self) -> u32 {
        self.first_number
    }

    /// The rules as they were read.
    pub const fn set(&self) -> &Arc<RuleSet> {
        &self.set
    }

    /// Rules that cannot be evaluated: which of the set, and why.
    pub fn refused(&self) -> &[(usize, String)] {
        &self.refused
    }

    /// The bits of the protocols that a connection speaks, by the names that rules know.
    pub fn apps(&self, names: [&str; 2]) -> u64 {
        bits_of(&self.apps, names)
    }

    /// The bits of a protocol that has messages.
    pub(crate) fn apps_of(&self, protocol: &'static str) -> u64 {
        let known = self.spoken.iter().find(|(name, _)| *name == protocol);
        known.map_or_else(|| self.apps([protocol, ""]), |known| known.1)
    }

    /// Whether rules read fields or bodies of HTTP beyond what records have.
    pub fn reads_http(&self) -> bool {
        self.used.iter().any(|buffer| {
            matches!(
                buffer.info().source,
                BufferSource::Http(_) | BufferSource::File
            )
        })
    }

    /// Whether rules ask for VLANs.
    pub fn reads_vlans(&self) -> bool {
        let reads = |one: &Condition| {
            let which = match one {
                Condition::Header(which, _) => Some(which),
                _ => None,
            };
            matches!(
                which,
                Some(HeaderNumber::Vlan(_) | HeaderNumber::VlanLayers)
            )
        };
        let mut rules = self.set.rules.iter();
        rules.any(|rule| rule.conditions.iter().any(reads))
    }

    /// Whether rules read JA3 or JA3S.
    pub fn reads_ja3(&self) -> bool {
        self.used
            .iter()
            .any(|buffer| buffer.info().name.starts_with("ja3"))
    }

    pub(crate) fn rule(&self, compiled: &Compiled) -> Option<&Rule> {
        self.set.rules.get(compiled.number as usize)
    }

    /// How a rule is grouped, for people.
    pub fn explain(&self, number: usize) -> Option<Explained> {
        let compiled = self
            .rules
            .iter()
            .find(|one| one.number as usize == number)?;
        let rule = self.set.rules.get(number)?;
        let chosen = fast::choose(rule, |one| group::is_searched(one, compiled.kind));
        let mut compared = Vec::new();
        let kind = compiled.kind;
        for (is_so, what) in [
            (kind.first, "the first packet in each direction"),
            (
                kind.identified,
                "the first packet in each direction once the protocol is known",
            ),
            (kind.segments, "packets of TCP"),
            (kind.datagrams, "packets of UDP and others"),
            (kind.streams, "streams"),
            (kind.messages, "messages"),
            (kind.events, "what is odd, by its name"),
        ] {
            compared.extend(is_so.then_some(what));
        }
        Some(Explained {
            compared,
            to_server: compiled.direction,
            fast_pattern: chosen.and_then(|fast| {
                let inspection = rule.inspections.get(fast.inspection)?;
                Some((inspection.buffer.info().name, fast.pattern))
            }),
            decided_at_merge: group::is_decided_at_merge(rule),
        })
    }
}

/// How a rule is grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// What it is compared with.
    pub compared: Vec<&'static str>,
    /// To the server, to the client, either.
    pub to_server: Option<bool>,
    /// Its fast pattern, in small letters, and the buffer that it is searched for in.
    pub fast_pattern: Option<(&'static str, Vec<u8>)>,
    /// Its alerts depend on other connections: they are decided in the order of keys.
    pub decided_at_merge: bool,
}

/// The bits of protocols by these names.
fn bits_of(apps: &[String], names: [&str; 2]) -> u64 {
    let numbered = apps.iter().zip(0_u32..);
    let is_spoken = |app: &str| names.iter().any(|&name| name == app && !name.is_empty());
    let spoken = numbered.filter(|(app, _)| is_spoken(app));
    spoken.fold(0, |bits, (_, number)| {
        bits | 1_u64.checked_shl(number).unwrap_or(0)
    })
}

fn prepare(
    number: usize,
    rule: &Rule,
    apps: &mut Vec<String>,
    awaited: &mut Vec<String>,
) -> Result<Compiled, String> {
    let mut inspections = Vec::with_capacity(rule.inspections.len());
    for one in &rule.inspections {
        inspections.push(CompiledInspection {
            buffer: one.buffer,
            transforms: CompiledTransform::all(&one.transforms)?,
            terms: compile(&one.terms)?,
            absent: one.absent,
            to_server: one.to_server,
        });
    }
    let reads_hosts = rule
        .conditions
        .iter()
        .any(|one| matches!(one, Condition::HostBit { action, .. } if action.asks()));
    let writes_connection = rule.conditions.iter().any(|one| match one {
        Condition::FlowBit(action, _) => !action.asks(),
        Condition::FlowInt { operation, .. } => !operation.asks(),
        _ => false,
    });
    let is_of_message = |one: &flowpin_rule::Inspection| {
        !matches!(
            one.buffer.info().source,
            BufferSource::Payload | BufferSource::Header(_) | BufferSource::Address { .. }
        )
    };
    let examines_message = rule.inspections.iter().any(is_of_message);
    let event = match events::event(rule).filter(|_| examines_message) {
        Some((EventOf::Message, name)) => events::bit(name, awaited)?,
        Some(_) => {
            let why = "it asks for an event of packets or segments, and examines a message";
            return Err(why.to_owned());
        }
        None => 0,
    };
    if reads_hosts && writes_connection {
        let why = "it asks for a bit of a host, and changes its connection's state by the answer";
        return Err(why.to_owned());
    }
    let of_sets: Vec<SetAction> = uses_of_sets(rule).collect();
    let reads_sets = of_sets
        .iter()
        .any(|one| matches!(one, SetAction::In | SetAction::NotIn));
    if reads_sets && (writes_connection || rule.action == Action::Pass) {
        let why = "it asks for a set that rules write, and lets pass or changes its connection's \
            state by the answer";
        return Err(why.to_owned());
    }
    let mut bits = |name: &str| -> Result<u64, String> {
        let mut all = 0;
        for name in names(name) {
            let found = apps.iter().position(|app| app == name);
            let at = found.unwrap_or_else(|| {
                apps.push((*name).to_owned());
                apps.len() - 1
            });
            let at = u32::try_from(at).ok();
            let bit = at.and_then(|at| 1_u64.checked_shl(at));
            all |= bit.ok_or("rules name more than 64 application protocols")?;
        }
        Ok(all)
    };
    let mut spoken = match &rule.header.protocol {
        Protocol::App(name) if name != "file" => bits(name)?,
        _ => 0,
    };
    let mut not_apps = 0;
    let mut of_time = Vec::new();
    for condition in &rule.conditions {
        match condition {
            Condition::AppProtocol {
                name,
                spoken,
                negated,
            } if *spoken != Spoken::Ever => of_time.push((*spoken, bits(name)?, *negated)),
            Condition::AppProtocol {
                name,
                negated: false,
                ..
            } if spoken == 0 => spoken = bits(name)?,
            Condition::AppProtocol {
                name,
                negated: false,
                ..
            } => {
                spoken &= bits(name)?;
                if spoken == 0 {
                    return Err("no connection speaks all the protocols that it names".to_owned());
                }
            }
            Condition::AppProtocol {
                name,
                negated: true,
                ..
            } => not_apps |= bits(name)?,
            _ => {}
        }
    }
    let of_buffers = rule.inspections.iter().filter(|one| one.absent.is_none());
    let mut of_buffers = of_buffers.filter_map(|one| one.buffer.info().to_server);
    Ok(Compiled {
        number: u32::try_from(number).unwrap_or(u32::MAX),
        kind: Kind::of(rule),
        direction: match rule.header.transactional {
            true => None,
            false => rule.flow.to_server.or_else(|| of_buffers.next()),
        },
        event,
        uses_sets: !of_sets.is_empty(),
        inspections,
        apps: spoken,
        not_apps,
        of_time,
    })
}

/// What a rule asks of sets that rules write, or does to them.
pub(crate) fn uses_of_sets(rule: &Rule) -> impl Iterator<Item = SetAction> {
    let terms = rule.inspections.iter().flat_map(|one| &one.terms);
    terms.filter_map(|term| match term {
        Term::Written(_, action) => Some(*action),
        _ => None,
    })
}

/// What connections are said to speak, where a rule names a protocol.
fn names(name: &str) -> Vec<&str> {
    match name {
        "http1" => vec!["http"],
        "tls" | "ssl" => vec!["tls", "quic"],
        "dns" => vec!["dns", "mdns", "llmnr"],
        name => vec![name],
    }
}
