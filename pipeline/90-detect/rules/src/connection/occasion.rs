//! Something that rules are compared with: a packet, a window of a stream, a message.

use super::check::fits;
use super::costs::Measured;
use super::messages::Said;
use super::state::{Connection, Hits};
use super::{Ends, Found, Packet};
use crate::columns::{ENTROPY, SHOWN};
use crate::database::{Compiled, Database, Group, Odd, Place, fold_into, fold_more};
use crate::evaluate::{CompiledTerm, Steps, Variables, holds, transform::transform};
use core::net::IpAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_record::{SetAction, SetUse};
use flowpin_rule::{Absent, Action, BitAction, BufferId, BufferSource, Condition, Rule};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Something that rules are compared with.
pub(super) struct Occasion<'a> {
    pub(super) to_server: bool,
    pub(super) ends: &'a Ends,
    pub(super) packet: Option<&'a Packet<'a>>,
    /// A packet's payload, or a window of a stream.
    pub(super) payload: &'a [u8],
    /// Where the window begins in the stream.
    pub(super) stream: Option<u64>,
    /// Bytes of the stream that are missing right before.
    pub(super) missing: u32,
    pub(super) message: Option<&'a Message<'a>>,
    /// What is odd, if that is the occasion.
    pub(super) odd: Option<Odd>,
    /// The addresses of who sends and of who receives.
    pub(super) octets: [Octets; 2],
}

/// The bytes of an address.
#[derive(Clone, Copy)]
pub(super) struct Octets {
    bytes: [u8; 16],
    len: usize,
}

impl Octets {
    const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                let mut bytes = [0; 16];
                (bytes[0], bytes[1], bytes[2], bytes[3]) = (a, b, c, d);
                Self { bytes, len: 4 }
            }
            IpAddr::V6(address) => Self {
                bytes: address.octets(),
                len: 16,
            },
        }
    }

    fn get(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Buffers of one side, and the bytes that they lie in.
type OfSide<'a> = (&'a [(BufferId, Range<usize>)], &'a [u8]);

/// The buffers of a message in one direction.
pub(super) struct Message<'a> {
    pub(super) buffers: &'a [(BufferId, Range<usize>)],
    pub(super) arena: &'a [u8],
    /// The server's, where a rule on both directions is compared.
    pub(super) other: Option<OfSide<'a>>,
    pub(super) transaction: u32,
    pub(super) said: &'a Said<'a>,
    /// What alerts show of it, made for the first one.
    pub(super) shown: &'a OnceCell<Shown>,
}

/// Values that alerts show: columns by number.
pub(super) type Shown = Arc<[(u8, Vec<u8>)]>;

impl Message<'_> {
    fn shown(&self) -> Shown {
        let make = || {
            let mut all = self.said.shown();
            // A form's files are not columns of its message.
            for (buffer, range) in self.buffers {
                let BufferSource::OfFile(path) = buffer.info().source else {
                    continue;
                };
                let nth = SHOWN.iter().zip(0..).find(|(shown, _)| **shown == path);
                let bytes = self.arena.get(range.clone()).unwrap_or_default();
                // The length of a file that goes on is not known.
                if *path == *"fileinfo.size" && bytes.ends_with(b"+") {
                    continue;
                }
                if let Some((_, nth)) = nth.filter(|(_, nth)| all.iter().all(|one| one.0 != *nth)) {
                    all.push((nth, bytes.to_vec()));
                }
            }
            all.into()
        };
        Arc::clone(self.shown.get_or_init(make))
    }
}

impl<'a> Occasion<'a> {
    pub(super) const fn new(ends: &'a Ends, to_server: bool) -> Self {
        let (client, server) = (Octets::of(ends.client.0), Octets::of(ends.server.0));
        Self {
            to_server,
            ends,
            packet: None,
            payload: &[],
            stream: None,
            missing: 0,
            message: None,
            odd: None,
            octets: if to_server {
                [client, server]
            } else {
                [server, client]
            },
        }
    }

    /// Who sends, and who receives.
    pub(super) const fn ends(&self) -> ((IpAddr, u16), (IpAddr, u16)) {
        match self.to_server {
            true => (self.ends.client, self.ends.server),
            false => (self.ends.server, self.ends.client),
        }
    }

    /// Where what is sent belongs.
    pub(super) const fn place(&self) -> Place {
        let ((_, from), (_, to)) = self.ends();
        Place { ports: (from, to) }
    }

    /// The first bytes of its payload, and whether they are of a stream.
    fn excerpt(&self, most: usize) -> Option<(Arc<[u8]>, bool)> {
        if most == 0 || self.payload.is_empty() {
            return None;
        }
        let bytes = self.payload.get(..most).unwrap_or(self.payload);
        let is_stream = self.packet.is_none() && self.ends.protocol != UDP;
        if self.missing > 0 {
            // As Suricata writes it.
            let gap = format!("[{} bytes missing]", self.missing).into_bytes();
            let mut with_gap = [&gap, bytes].concat();
            with_gap.truncate(most);
            return Some((with_gap.into(), is_stream));
        }
        Some((bytes.into(), is_stream))
    }

    /// The buffers of a kind: none, one, or one for each value of a list; of a rule on both
    /// directions, those of the client (`true`) or of the server.
    pub(super) fn buffers(
        &self,
        buffer: BufferId,
        to_server: Option<bool>,
    ) -> impl Iterator<Item = &[u8]> {
        let one = match buffer.info().source {
            BufferSource::Address { of_sender } => {
                let [sender, receiver] = &self.octets;
                Some(if of_sender { sender } else { receiver }.get())
            }
            BufferSource::Payload => Some(self.payload).filter(|payload| !payload.is_empty()),
            BufferSource::Header(which) => self.packet.and_then(|packet| packet.header(which)),
            _ => None,
        };
        let of_message = self.message.map(|message| {
            let (buffers, arena) = match (to_server, message.other) {
                (Some(false), Some(other)) => other,
                _ => (message.buffers, message.arena),
            };
            let buffers = buffers.iter().filter(move |one| one.0 == buffer);
            buffers.filter_map(|(_, range)| arena.get(range.clone()))
        });
        one.into_iter().chain(of_message.into_iter().flatten())
    }
}

/// Space that is used again.
#[derive(Debug)]
pub(super) struct Scratch {
    /// When each rule was a candidate last.
    marks: Vec<u32>,
    round: u32,
    candidates: Vec<u32>,
    pub(super) window: Vec<u8>,
    folded: Vec<u8>,
    transformed: Vec<u8>,
    spare: Vec<u8>,
    /// The entropy that was computed last of each buffer.
    entropies: Vec<(BufferId, f64)>,
    /// What is measured, if somebody asks.
    measured: Option<Box<Measured>>,
}

impl Scratch {
    pub(super) fn new(database: &Database) -> Self {
        Self {
            marks: vec![0; database.rules.len()],
            round: 0,
            candidates: Vec::with_capacity(64),
            window: Vec::new(),
            folded: Vec::new(),
            transformed: Vec::new(),
            spare: Vec::new(),
            entropies: Vec::new(),
            measured: Measured::new(database),
        }
    }

    /// When something began, if that is measured.
    #[inline]
    fn begin_measured(&self) -> Option<Instant> {
        self.measured.is_some().then(Instant::now)
    }

    #[inline]
    fn end_search(&mut self, name: &'static str, bytes: usize, begin: Option<Instant>) {
        if let (Some(measured), Some(begin)) = (&mut self.measured, begin) {
            measured.search(name, bytes, begin);
        }
    }

    /// Forgets the candidates.
    pub(super) fn begin(&mut self) {
        self.candidates.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.marks.fill(0);
            self.round = 1;
        }
    }

    /// Whether there is no candidate.
    pub(super) const fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Leaves the candidates that are wanted.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(u32) -> bool) {
        self.candidates.retain(|&rule| is_wanted(rule));
    }

    pub(super) fn add(&mut self, rule: u32) {
        add(&mut self.marks, &mut self.candidates, self.round, rule);
    }

    /// Rules whose fast pattern stands there become candidates; `name`: what is searched.
    pub(super) fn search(&mut self, name: &'static str, group: &Group, bytes: &[u8], place: Place) {
        let begin = self.begin_measured();
        let (marks, candidates, round) = (&mut self.marks, &mut self.candidates, self.round);
        let reach = group.reach(place, bytes.len());
        if reach > 0 {
            fold_into(bytes.get(..reach).unwrap_or(bytes), &mut self.folded);
            let folded = &self.folded;
            group.search_anchored(folded, place, &mut |rule| {
                add(marks, candidates, round, rule);
            });
            group.search((folded, bytes.len()), place, 0, &mut |rule, _| {
                add(marks, candidates, round, rule);
            });
        }
        self.end_search(name, bytes.len(), begin);
    }

    /// Rules whose fast pattern ends in the next bytes of a stream become candidates, and where it
    /// begins is kept: `begun` are bytes right before, and what they follow has `before` bytes.
    pub(super) fn search_stream(
        &mut self,
        group: &Group,
        (before, begun, bytes): (usize, &[u8], &[u8]),
        place: Place,
        hits: &mut Hits,
    ) {
        let begin = self.begin_measured();
        let (marks, candidates, round) = (&mut self.marks, &mut self.candidates, self.round);
        fold_into(begun, &mut self.folded);
        fold_more(bytes, &mut self.folded);
        let text = (self.folded.as_slice(), self.folded.len());
        group.search(text, place, begun.len(), &mut |rule, at| {
            hits.add(rule, before + at);
            add(marks, candidates, round, rule);
        });
        self.end_search("streams", bytes.len(), begin);
    }

    /// Rules whose fast pattern stands at one of few places of a stream's window become candidates:
    /// its first bytes.
    pub(super) fn search_head(&mut self, group: &Group, head: &[u8], place: Place) {
        let begin = self.begin_measured();
        let (marks, candidates, round) = (&mut self.marks, &mut self.candidates, self.round);
        fold_into(head, &mut self.folded);
        group.search_anchored(&self.folded, place, &mut |rule| {
            add(marks, candidates, round, rule);
        });
        self.end_search("streams", 0, begin);
    }

    /// Rules without a fast pattern become candidates.
    pub(super) fn add_others(&mut self, group: &Group, occasion: &Occasion<'_>) {
        let (from, to) = occasion.ends();
        let (marks, candidates, round) = (&mut self.marks, &mut self.candidates, self.round);
        group.others(from, to, &mut |rule| add(marks, candidates, round, rule));
    }

    /// Evaluates the candidates, in the order of the database.
    pub(super) fn evaluate(
        &mut self,
        database: &Database,
        connection: &mut Connection,
        occasion: &Occasion<'_>,
        losses: &mut Losses,
        found: &mut Vec<Found>,
    ) {
        let mut candidates = core::mem::take(&mut self.candidates);
        let before = found.len();
        self.entropies.clear();
        let now_s = connection.now_s(occasion.packet);
        candidates.sort_unstable();
        for &at in &candidates {
            let compiled = database.rules.get(at as usize);
            let Some(compiled) = compiled else { continue };
            let Some(rule) = database.rule(compiled) else {
                continue;
            };
            let begin = self.begin_measured();
            let is_it = fits(compiled, rule, connection, occasion)
                && self.inspect(compiled, (occasion, now_s), losses);
            if let (Some(measured), Some(begin)) = (&mut self.measured, begin) {
                measured.rule(compiled, begin, is_it);
            }
            if !is_it {
                continue;
            }
            effects(rule, connection, losses);
            if rule.action == Action::Pass {
                // Rules that ask for nothing of the packet itself let the whole connection pass.
                let kind = compiled.kind;
                if occasion.packet.is_none() || kind.first || kind.identified {
                    connection.note(Connection::PASSED);
                }
                break;
            }
            let sets = compiled
                .uses_sets
                .then(|| self.set_uses(compiled, (occasion, now_s)))
                .flatten();
            let mut of_hosts = rule.conditions.iter().filter_map(|one| match one {
                Condition::HostBit { action, .. } => Some(*action),
                _ => None,
            });
            let changes_hosts = sets.is_some() || of_hosts.clone().next().is_some();
            let asks_hosts = sets.is_some()
                || of_hosts.any(|action| matches!(action, BitAction::IsSet | BitAction::IsNotSet));
            if (!rule.noalert || changes_hosts) && is_new(compiled, connection, occasion) {
                // What hosts remember is known later than the connection's record is written.
                if !rule.noalert && !asks_hosts {
                    connection.note(Connection::ALERTED);
                }
                found.push(Found {
                    rule: compiled.number,
                    to_server: occasion.to_server,
                    flow: connection.so_far(occasion.packet),
                    payload: occasion.excerpt(database.payload_bytes),
                    is_counted: occasion.packet.is_some(),
                    around: None,
                    transaction: occasion.message.map(|message| message.transaction),
                    sets,
                    shown: match occasion.message {
                        Some(message) => message.shown(),
                        None => Arc::new([]),
                    },
                });
            }
        }
        self.candidates = candidates;
        if !self.entropies.is_empty() {
            self.tell_entropies(found.get_mut(before..).unwrap_or_default());
        }
    }

    /// Alerts of one occasion tell the same of a buffer, as in Suricata: what was computed last.
    #[cold]
    fn tell_entropies(&self, found: &mut [Found]) {
        let texts = self.entropies.iter().map(|(buffer, entropy)| {
            let name = buffer.info().name.replace('.', "_");
            (ENTROPY, format!("{name} {entropy}").into_bytes())
        });
        let texts: Vec<_> = texts.collect();
        for one in found {
            let shown = one.shown.iter().chain(&texts);
            one.shown = shown.cloned().collect();
        }
    }

    /// What a rule that fits asks of sets that rules write, and does to them.
    #[cold]
    fn set_uses(
        &mut self,
        compiled: &Compiled,
        (occasion, now_s): (&Occasion<'_>, u64),
    ) -> Option<Arc<[SetUse]>> {
        let mut uses = Vec::new();
        let mut variables = Variables::default();
        let mut steps = Steps::at(now_s);
        for one in &compiled.inspections {
            let of_set = one.terms.iter().filter_map(|term| match term {
                CompiledTerm::Written(set, action) => Some((*set, *action)),
                _ => None,
            });
            let of_set: Vec<_> = of_set.collect();
            if of_set.is_empty() {
                continue;
            }
            let mut values: Vec<Vec<u8>> = Vec::new();
            for bytes in occasion.buffers(one.buffer, one.to_server) {
                let mut bytes = bytes.to_vec();
                transform(&one.transforms, &mut bytes, &mut self.spare);
                if values.len() < SET_VALUES_MAX
                    && holds(&one.terms, &bytes, &mut variables, &mut steps)
                {
                    values.push(bytes);
                }
            }
            for (set, action) in of_set {
                // As in Suricata, the first value that fits is written.
                let most = match action {
                    SetAction::Add | SetAction::Remove => 1,
                    SetAction::In | SetAction::NotIn => SET_VALUES_MAX,
                };
                uses.push(SetUse {
                    set,
                    action,
                    values: values.iter().take(most).cloned().collect(),
                });
            }
        }
        (!uses.is_empty()).then(|| uses.into())
    }

    /// Whether what a rule asks of buffers holds.
    fn inspect(
        &mut self,
        compiled: &Compiled,
        (occasion, now_s): (&Occasion<'_>, u64),
        losses: &mut Losses,
    ) -> bool {
        let mut variables = Variables::default();
        let mut steps = Steps::at(now_s);
        let holds = compiled.inspections.iter().all(|one| {
            let mut is_there = false;
            let mut fits = false;
            for bytes in occasion.buffers(one.buffer, one.to_server) {
                is_there = true;
                fits = if one.transforms.is_empty() {
                    holds(&one.terms, bytes, &mut variables, &mut steps)
                } else {
                    self.transformed.clear();
                    self.transformed.extend_from_slice(bytes);
                    let (bytes, spare) = (&mut self.transformed, &mut self.spare);
                    let is_within = transform(&one.transforms, bytes, spare);
                    losses.count(Loss::RulePcre, u64::from(!is_within));
                    holds(&one.terms, &self.transformed, &mut variables, &mut steps)
                };
                if let Some(entropy) = steps.entropy.take() {
                    self.entropies.retain(|known| known.0 != one.buffer);
                    self.entropies.push((one.buffer, entropy));
                }
                if fits {
                    break;
                }
            }
            match one.absent {
                None => fits,
                Some(Absent::Only) => !is_there,
                Some(Absent::OrElse) => !is_there || fits,
            }
        });
        losses.count(Loss::RuleSteps, u64::from(steps.is_exceeded));
        losses.count(Loss::RulePcre, u64::from(steps.is_pcre_exceeded));
        holds
    }
}

/// IP's number of UDP.
const UDP: u8 = 17;
/// Values of one message that are looked up in a set that rules write.
const SET_VALUES_MAX: usize = 64;

fn add(marks: &mut [u32], candidates: &mut Vec<u32>, round: u32, rule: u32) {
    if let Some(mark) = marks.get_mut(rule as usize)
        && *mark != round
    {
        *mark = round;
        candidates.push(rule);
    }
}

/// Of a stream: whether the rule has not alerted of bytes that this window has, too.
fn is_new(compiled: &Compiled, connection: &mut Connection, occasion: &Occasion<'_>) -> bool {
    let Some(start) = occasion.stream else {
        return true;
    };
    let side = connection.sides.get_mut(usize::from(!occasion.to_server));
    let until = start + occasion.payload.len() as u64;
    side.is_some_and(|side| side.alerts(compiled.number, start, until))
}

/// What a rule that fits changes of its connection.
fn effects(rule: &Rule, connection: &mut Connection, losses: &mut Losses) {
    for condition in &rule.conditions {
        let has_room = match condition {
            Condition::FlowBit(action, bits) => {
                bits.iter().all(|&bit| connection.change(*action, bit))
            }
            Condition::FlowInt {
                name,
                operation,
                value,
            } => connection.change_int(*name, *operation, *value),
            _ => true,
        };
        losses.count(Loss::RuleBits, u64::from(!has_room));
    }
}
