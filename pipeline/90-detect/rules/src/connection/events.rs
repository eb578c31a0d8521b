//! What is odd as an occasion for rules: of a connection, and of packets that belong to none.

use super::occasion::{Occasion, Scratch};
use super::state::Connection;
use super::{Detector, Ends, Found};
use crate::alert::Candidate;
use crate::database::{Database, Odd};
use core::net::IpAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::{InterfaceId, Layer, LinkType, Malformed, Timestamp};
use flowpin_record::{
    AlertPacket, MessagePlace, NO_TRANSACTION, RecordEndpoint, RecordKey, ToolNames, Uid,
};
use flowpin_rule::{Protocol, RuleSet};
use std::sync::{Arc, Mutex, PoisonError};

impl Detector {
    /// Something odd has happened on a connection; `to_server`: where what shows it was sent.
    #[cold]
    pub fn odd(
        &mut self,
        handle: u32,
        ends: &Ends,
        odd: Odd,
        to_server: Option<bool>,
        found: &mut Vec<Found>,
    ) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        if connection.has(Connection::PASSED) {
            return;
        }
        let (scratch, losses) = (&mut self.scratch, &mut self.losses);
        evaluate(
            (&self.database, scratch, losses),
            connection,
            ends,
            (odd, to_server),
            found,
        );
    }
}

/// Where alerts of packets that belong to no connection wait for their decision.
///
/// They are there before any worker has handed over what came behind them: it has from the input
/// stage, which has put them here before. So only those of the pieces wait that are on their way,
/// and `Room` limits how many those have.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<Waiting>>);

impl Inbox {
    pub(crate) fn take(&self) -> Waiting {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = waiting.since;
        let left = Waiting {
            since,
            ..Waiting::default()
        };
        core::mem::replace(&mut waiting, left)
    }

    fn put(&self, all: impl Iterator<Item = Candidate>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.candidates.extend(all);
    }

    /// Rules that replace others: to be told before anything can fit them.
    pub fn replace(&self, database: &Database) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let set = Arc::clone(database.set());
        waiting.sets.push((database.first_number(), set));
    }

    /// From here on only rules with these numbers, or later ones, fit packets that belong to no
    /// connection.
    pub fn exchanged(&self, first_number: u32) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.since = first_number;
    }
}

/// What the decider of alerts has not seen yet.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) candidates: Vec<Candidate>,
    /// Rules, and the number of the first of them.
    pub(crate) sets: Vec<(u32, Arc<RuleSet>)>,
    /// The number of the first rule that may still fit packets that belong to no connection.
    pub(crate) since: u32,
}

/// How many alerts packets that belong to no connection may still have. By their numbers alone:
/// what is left out is the same however fast they are decided.
#[derive(Debug, Default)]
struct Room {
    /// Which packets, counted in [`ROOM_PACKETS`].
    of: u64,
    used: usize,
}

impl Room {
    /// How many of so many alerts of a packet there is room for.
    fn take(&mut self, number: u64, wanted: usize) -> usize {
        let of = number / ROOM_PACKETS;
        if of != self.of {
            *self = Self { of, used: 0 };
        }
        let taken = wanted.min(ROOM_ALERTS.saturating_sub(self.used));
        self.used += taken;
        taken
    }
}

/// Rules on packets that were refused, or that are odd: they belong to no connection.
#[derive(Debug)]
pub struct PacketEvents {
    database: Arc<Database>,
    scratch: Scratch,
    losses: Losses,
    found: Vec<Found>,
    inbox: Inbox,
    room: Room,
    /// The rules that have alerted of a packet.
    alerted: (u64, Vec<u32>),
    /// The packet that alerts were of last, and how many.
    last: (u64, u32),
}

/// When a packet was captured.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Its number in the input.
    pub number: u64,
    /// Its time.
    pub time: Timestamp,
    /// Stream time.
    pub stream_time: Timestamp,
    /// The interface that it came by.
    pub interface: InterfaceId,
}

/// A frame that was refused, or that is odd.
#[derive(Clone, Copy, Debug)]
pub struct OddFrame<'a> {
    /// What was captured of it.
    pub bytes: &'a [u8],
    /// What it starts with.
    pub link: LinkType,
}

impl PacketEvents {
    /// For the rules of a database; none if they ask for no such thing.
    pub fn new(database: &Arc<Database>, inbox: Inbox) -> Option<Self> {
        let is_asked = database.events.have_packets() || !database.first.is_empty();
        is_asked.then(|| Self {
            scratch: Scratch::new(database),
            losses: Losses::default(),
            database: Arc::clone(database),
            found: Vec::new(),
            inbox,
            room: Room::default(),
            alerted: (0, Vec::new()),
            last: (0, 0),
        })
    }

    /// A packet, and whether it was refused; its addresses, where they are legible.
    #[cold]
    pub fn packet(
        &mut self,
        (what, is_refused): (Malformed, bool),
        addresses: Option<(IpAddr, IpAddr)>,
        (seen, frame): (&Seen, &OddFrame<'_>),
    ) {
        let (from, to) = addresses.unwrap_or((NO_ADDRESS, NO_ADDRESS));
        let ends = Ends {
            protocol: protocol(what.layer),
            client: (from, 0),
            server: (to, 0),
        };
        let odd = Odd::Packet(what, from.is_ipv6());
        let by = (&*self.database, &mut self.scratch, &mut self.losses);
        let found = &mut self.found;
        evaluate(by, &mut Connection::default(), &ends, (odd, None), found);
        if is_refused && is_transport(what.layer) && addresses.is_some() {
            // What it carries is broken, not its addresses.
            let by = (&*self.database, &mut self.scratch, &mut self.losses);
            only_addresses(by, &ends, found);
        }
        let (number, alerted) = &mut self.alerted;
        if *number != seen.number {
            (*number, *alerted) = (seen.number, Vec::new());
        }
        // Each rule once for a packet, however often what it asks for is so.
        found.retain(|one| {
            let is_new = !alerted.contains(&one.rule);
            if is_new {
                alerted.push(one.rule);
            }
            is_new
        });
        if found.is_empty() {
            return;
        }
        let room = self.room.take(seen.number, found.len());
        let beyond = found.len() - room;
        self.losses.count(Loss::RulePackets, beyond as u64);
        found.truncate(room);
        let is_shown = self.database.shows_packets();
        let packet = is_shown.then(|| AlertPacket::shared(frame.bytes, frame.link));
        let end = |address| RecordEndpoint { address, port: 0 };
        let place = MessagePlace {
            time: seen.time,
            uid: Uid(0),
            protocol: protocol(what.layer),
            client: end(from),
            server: end(to),
            vlans: [NO_VLAN; 2],
            interface: seen.interface,
            app: "",
            in_tools: ToolNames::NONE,
            transaction: NO_TRANSACTION,
            packet_number: Some(seen.number),
            shown_client: None,
        };
        let last = &mut self.last;
        let first = self.database.first_number();
        self.inbox.put(found.drain(..).map(|one| {
            let before = if last.0 == seen.number { last.1 } else { 0 };
            *last = (seen.number, before + 1);
            Candidate {
                key: RecordKey {
                    time: seen.stream_time,
                    number: seen.number,
                    ordinal: ORDINAL + before,
                },
                place,
                rule: one.rule + first,
                to_server: one.to_server,
                flow: None,
                payload: None,
                packet: packet.clone(),
                sets: one.sets,
                shown: one.shown,
            }
        }));
    }

    /// What was lost.
    pub const fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Compares rules on `ip` that ask for addresses alone.
fn only_addresses(
    (database, scratch, losses): (&Database, &mut Scratch, &mut Losses),
    ends: &Ends,
    found: &mut Vec<Found>,
) {
    let occasion = Occasion::new(ends, true);
    scratch.begin();
    scratch.add_others(&database.first, &occasion);
    scratch.retain(|at| {
        let compiled = database.rules.get(at as usize);
        let rule = compiled.and_then(|compiled| database.rule(compiled));
        rule.is_some_and(|rule| {
            matches!(rule.header.protocol, Protocol::Ip | Protocol::IpVersion(_))
        })
    });
    let mut connection = Connection::default();
    scratch.evaluate(database, &mut connection, &occasion, losses, found);
}

/// Whether packets that are refused in this layer have a whole header of IP.
const fn is_transport(layer: Layer) -> bool {
    matches!(
        layer,
        Layer::Icmp | Layer::Tcp | Layer::Udp | Layer::Icmpv6 | Layer::Sctp
    )
}

/// Compares the rules that ask for what has happened: those about one direction alone where that
/// is where what shows it was sent, or where that is not known. What is odd about a message is of
/// its whole transaction, and so seen in either direction, as in Suricata.
fn evaluate(
    (database, scratch, losses): (&Database, &mut Scratch, &mut Losses),
    connection: &mut Connection,
    ends: &Ends,
    (odd, to_server): (Odd, Option<bool>),
    found: &mut Vec<Found>,
) {
    for side in [true, false] {
        scratch.begin();
        database.events.rules(odd, &mut |rule| {
            let compiled = database.rules.get(rule as usize);
            let wanted = compiled.and_then(|one| one.direction);
            let is_of_either = matches!(odd, Odd::Message(..)) || wanted.is_none();
            if wanted.or(to_server).unwrap_or(true) == side
                && (is_of_either || to_server.is_none_or(|sent| sent == side))
            {
                scratch.add(rule);
            }
        });
        if scratch.is_empty() {
            continue;
        }
        let occasion = Occasion {
            odd: Some(odd),
            ..Occasion::new(ends, side)
        };
        scratch.evaluate(database, connection, &occasion, losses, found);
    }
}

/// The protocol that rules name in their header for packets that are refused in a layer.
const fn protocol(layer: Layer) -> u8 {
    match layer {
        Layer::Icmp => 1,
        Layer::Tcp => 6,
        Layer::Udp => 17,
        Layer::Gre => 47,
        Layer::Icmpv6 => 58,
        Layer::Sctp => 132,
        _ => 0,
    }
}

/// Behind all other records of a packet but what a worker finds in it.
const ORDINAL: u32 = 5 << 29;
/// Packets that share the room for alerts, and how many those are.
const ROOM_PACKETS: u64 = 4096;
const ROOM_ALERTS: usize = 16_384;
/// No tag.
const NO_VLAN: u16 = u16::MAX;
/// Of a packet whose addresses are not legible.
const NO_ADDRESS: IpAddr = IpAddr::V4(core::net::Ipv4Addr::UNSPECIFIED);

#[cfg(test)]
mod tests {
    use super::{ROOM_ALERTS, ROOM_PACKETS, Room};

    /// Nobody fills memory by odd packets: so many alerts, and the next packets have room again.
    #[test]
    fn packets_without_a_connection_have_some_alerts() {
        let mut room = Room::default();
        assert_eq!(room.take(1, ROOM_ALERTS - 1), ROOM_ALERTS - 1);
        assert_eq!(room.take(2, 3), 1);
        assert_eq!(room.take(ROOM_PACKETS - 1, 3), 0);
        assert_eq!(room.take(ROOM_PACKETS, 3), 3);
    }
}
