//! Rules on the connections of one worker.
//!
//! ```text
//!  packets ────┐      candidates: fast patterns, addresses
//!  streams ────┼─► Occasion ─► header, conditions, buffers ─► effects ─► Found
//!  messages ───┘      (in the order of the connection's packets)
//! ```
//!
//! Streams are compared in windows that end at multiples of 4 KiB of the stream, and where the
//! other side speaks, bytes are missing, or the stream ends: never where a segment or a batch does.
//! A window begins 4 KiB before what is new in it.

mod around;
mod bodies;
mod check;
mod costs;
mod events;
mod exchange;
mod fields;
mod forms;
mod frames;
mod headers;
mod http;
mod messages;
mod occasion;
mod packet;
mod sent;
mod state;
mod turns;

pub(crate) use events::Waiting;
pub use events::{Inbox, OddFrame, PacketEvents, Seen};
pub use packet::Packet;

use crate::Tap;
use crate::database::{Database, Odd, PATTERN_MAX};
use bodies::Bodies;
use core::net::IpAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Budget, Chains, Pool, Slab};
use flowpin_packet::{PacketFlags, PacketKind, PacketMeta, Shard, TcpFlags};
use flowpin_record::{FlowSoFar, SetUse};
use messages::Space;
use occasion::{Occasion, Scratch};
use state::{Connection, Hits, Side};
use std::io;
use std::sync::Arc;
use turns::{follow, greeting};

/// What a connection's rules take of its shard's memory when it begins.
pub const CONNECTION_BYTES: u32 = size_of::<Connection>() as u32 + 4;

/// The two sides of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// IP protocol number.
    pub protocol: u8,
    /// Who opened it: address and port.
    pub client: (IpAddr, u16),
    /// The other side.
    pub server: (IpAddr, u16),
}

/// A rule that fits: an alert, unless what outlasts connections says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The rule's number in its set.
    pub rule: u32,
    /// Whether what it fits was sent to the server.
    pub to_server: bool,
    /// The transaction that it fits.
    pub transaction: Option<u32>,
    /// The connection so far; of a message or stream, without the packet that shows it.
    pub flow: FlowSoFar,
    /// Whether the packet that shows it is counted there.
    pub is_counted: bool,
    /// The first bytes of what it fits, if alerts have them; whether they are of a stream.
    pub payload: Option<(Arc<[u8]>, bool)>,
    /// Of a packet around one of the connection: its own ends.
    pub around: Option<Ends>,
    /// What it asks of sets that rules write, and does to them.
    pub sets: Option<Arc<[SetUse]>>,
    /// Values of the message: which column of alerts, and its text.
    pub shown: Arc<[(u8, Vec<u8>)]>,
}

/// The rules of one worker.
#[derive(Debug)]
pub struct Detector {
    database: Arc<Database>,
    connections: Slab<Connection>,
    windows: Chains,
    bodies: Bodies,
    scratch: Scratch,
    space: Space,
    losses: Losses,
    /// Of what no parser says.
    silence: Tap,
}

impl Detector {
    /// For connections whose handles are below `connections_max`, with their shards' memory.
    ///
    /// # Errors
    /// Where the system refuses the address space.
    pub fn new(database: Arc<Database>, budget: &Budget, connections_max: u32) -> io::Result<Self> {
        Ok(Self {
            connections: Slab::with_capacity(connections_max)?,
            windows: Chains::new(budget, BLOCK_BYTES)?,
            bodies: Bodies::new(budget)?,
            scratch: Scratch::new(&database),
            space: Space::default(),
            losses: Losses::default(),
            silence: Tap::new(Arc::clone(&database)),
            database,
        })
    }

    /// The rules.
    pub const fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// A connection begins.
    pub fn begin(&mut self, handle: u32, shard: Shard) {
        while self.connections.high_water() <= handle {
            if self.connections.insert(Connection::default()).is_none() {
                return;
            }
        }
        if let Some(connection) = self.connections.get_mut(handle) {
            *connection = Connection::new(shard.0);
        }
    }

    /// Nothing of a connection is compared from here on.
    pub fn pass(&mut self, handle: u32) {
        if let Some(connection) = self.connections.get_mut(handle) {
            connection.note(Connection::PASSED);
        }
    }

    /// A connection's packets are mirrored from this VLAN, as the tunnel's header says.
    pub fn mirrored(&mut self, handle: u32, vlan: u16) {
        if let Some(connection) = self.connections.get_mut(handle) {
            connection.mirrored_vlan = Some(vlan);
        }
    }

    /// The VLAN that a connection is mirrored from.
    pub fn mirrored_vlan(&self, handle: u32) -> Option<u16> {
        self.connections.get(handle)?.mirrored_vlan
    }

    /// What a connection speaks, as rules name it, by a verdict: later ones may say more.
    pub fn identified(&mut self, handle: u32, names: [&str; 2], verdict: u16) {
        if let Some(connection) = self.connections.get_mut(handle) {
            connection.speaks(self.database.apps(names));
            connection.verdict = verdict;
        }
    }

    /// Whether it is known what a connection speaks by this verdict.
    pub fn is_identified(&self, handle: u32, verdict: u16) -> bool {
        self.connections.get(handle).is_none_or(|connection| {
            connection.has(Connection::KNOWN) && connection.verdict == verdict
        })
    }

    /// Whether a packet only acknowledges, and no rule asks for such packets: then it is counted,
    /// and need not be [compared](Self::packet).
    // PERF: every second packet of a capture, with a third of what comparing one takes.
    pub fn passes_over(&mut self, handle: u32, meta: &PacketMeta, to_server: bool) -> bool {
        let side = usize::from(!to_server);
        let is_plain = meta.kind == PacketKind::Tcp
            && meta.tcp_flags == TcpFlags::ACK
            && meta.payload_len == 0
            && !meta.flags.has(PacketFlags::TUNNELLED);
        let asks = self.database.asks_acks.get(side).copied().unwrap_or(true);
        if !is_plain || asks {
            return false;
        }
        let Some(connection) = self.connections.get_mut(handle) else {
            return false;
        };
        if !connection.goes_on(side) {
            return false;
        }
        connection.count(side, meta.stream_time.0, meta.wire_len);
        if let Some(theirs) = connection.sides.get_mut(side ^ 1) {
            theirs.acknowledged = Some(meta.ack);
        }
        true
    }

    /// A packet of a connection.
    pub fn packet(
        &mut self,
        handle: u32,
        packet: &Packet<'_>,
        ends: &Ends,
        to_server: bool,
        found: &mut Vec<Found>,
    ) {
        if self.database.reads_frames {
            self.frames(handle, ends, false, found);
            if packet.meta.kind == PacketKind::Udp {
                self.frames_of_datagram(handle, ends, to_server, packet.payload, found);
            }
        }
        if self.database.events.have_headers() {
            // Each once for a packet, however many options are so.
            let mut told = Vec::new();
            headers::oddities(packet, &mut |name| {
                if !told.contains(&name) {
                    told.push(name);
                    self.odd(handle, ends, Odd::Header(name), Some(to_server), found);
                }
            });
        }
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let was_established = connection.has(Connection::ESTABLISHED);
        follow(connection, packet, to_server);
        // The segment that completes the handshake and does nothing else is one of the handshake.
        let completes = packet.meta.kind == PacketKind::Tcp && packet.payload.is_empty();
        if completes && !was_established && connection.has(Connection::ESTABLISHED) {
            connection.forget(Connection::ESTABLISHED);
            self.compare_packet(handle, packet, ends, to_server, found);
            if let Some(connection) = self.connections.get_mut(handle) {
                connection.note(Connection::ESTABLISHED);
            }
        } else {
            self.compare_packet(handle, packet, ends, to_server, found);
        }
    }

    fn compare_packet(
        &mut self,
        handle: u32,
        packet: &Packet<'_>,
        ends: &Ends,
        to_server: bool,
        found: &mut Vec<Found>,
    ) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let transport = match packet.meta.kind {
            PacketKind::Tcp => 0,
            PacketKind::Udp => 1,
            PacketKind::Icmp => 2,
            PacketKind::IcmpError => return self.icmp_error(handle, packet, found),
            PacketKind::Sctp | PacketKind::Other => 3,
        };
        let side = usize::from(!to_server);
        connection.count(side, packet.meta.stream_time.0, packet.meta.wire_len);
        let first = Connection::FIRST.get(side).copied().unwrap_or(0);
        let is_first = !connection.has(first);
        connection.note(first);
        if connection.has(Connection::PASSED) {
            return;
        }
        let group = self
            .database
            .packets
            .get(transport)
            .and_then(|both| both.get(side));
        let Some(group) = group else { return };
        let is_first = is_first && !self.database.first.is_empty();
        let known = Connection::FIRST_KNOWN.get(side).copied().unwrap_or(0);
        let is_known = connection.has(Connection::KNOWN) && !connection.has(known);
        if is_known {
            connection.note(known);
        }
        let is_known = is_known && !self.database.identified.is_empty();
        let is_turned = connection.has(Connection::KNOWN);
        let mut turned = |which: [u32; 2]| {
            let [own, other] = if to_server {
                which
            } else {
                [which[1], which[0]]
            };
            let has = is_turned && connection.has(own);
            if has {
                connection.forget(own);
            }
            // Rules on both directions once: with the first packet since, whoever sends it.
            (has && !is_known && self.database.reads_turns).then(|| connection.has(other))
        };
        let of_connection = turned(Connection::TURNED);
        let of_side = turned(Connection::SIDE_TURNED);
        let has_turned = of_connection.is_some() || of_side.is_some();
        if group.is_empty() && !is_first && !is_known && !has_turned {
            return;
        }
        let occasion = Occasion {
            packet: Some(packet),
            payload: packet.payload,
            ..Occasion::new(ends, to_server)
        };
        let scratch = &mut self.scratch;
        scratch.begin();
        // Application data of TLS is encrypted: from there on a side says nothing. Before, records
        // may come in clear behind the hellos: heartbeats are found so.
        let sealed = Connection::SEALED.get(side).copied().unwrap_or(0);
        if connection.has(Connection::ENCRYPTED)
            && packet.payload.starts_with(&TLS_APPLICATION_DATA)
        {
            connection.note(sealed);
        }
        if !packet.payload.is_empty() && !connection.has(sealed) {
            scratch.search("packets", group, packet.payload, occasion.place());
        }
        scratch.add_others(group, &occasion);
        if is_first {
            scratch.add_others(&self.database.first, &occasion);
        }
        if is_known {
            scratch.add_others(&self.database.identified, &occasion);
        } else if has_turned {
            for turn in &self.database.turns {
                let of = match turn.is_of_a_side {
                    true => of_side,
                    false => of_connection,
                };
                if of.is_some_and(|is_first| is_first || turn.has_direction) {
                    scratch.add(turn.rule);
                }
            }
        }
        if scratch.is_empty() {
            return;
        }
        let before = found.len();
        scratch.evaluate(
            &self.database,
            connection,
            &occasion,
            &mut self.losses,
            found,
        );
        // What a packet alerts of, its stream need not alert of again.
        if transport == 0 && found.len() > before {
            let side = connection.sides.get_mut(side);
            let Some(side) = side else { return };
            let end = side.end();
            for one in found.iter().skip(before) {
                side.alerts(one.rule, end, end + packet.payload.len() as u64);
            }
        }
    }

    /// The next bytes of a stream.
    pub fn bytes(
        &mut self,
        handle: u32,
        ends: &Ends,
        (to_server, offset): (bool, u64),
        mut bytes: &[u8],
        found: &mut Vec<Found>,
    ) {
        let side = usize::from(!to_server);
        let is_searched = self.database.streams.iter().any(|group| !group.is_empty());
        let is_searched = is_searched || self.database.reads_turns || self.database.reads_frames;
        if !is_searched && self.database.payload_bytes == 0 {
            return;
        }
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        if connection.has(Connection::ENCRYPTED) || connection.has(Connection::PASSED) {
            return;
        }
        if offset == 0 && self.database.reads_turns {
            let apps = greeting(bytes).map_or(0, |name| self.database.apps([name, ""]));
            if apps != 0 {
                connection.side_speaks(side, apps);
            }
        }
        let others = connection
            .sides
            .get(side ^ 1)
            .is_some_and(|other| other.fresh > 0);
        if others {
            self.compare(handle, ends, !to_server, found);
        }
        let expected = self.side(handle, side).map(Side::end);
        let Some(expected) = expected else { return };
        if offset > expected {
            self.compare(handle, ends, to_server, found);
            self.forget(handle, side, offset);
            let missing = u32::try_from(offset - expected).unwrap_or(u32::MAX);
            if let Some(connection) = self.connections.get_mut(handle)
                && let Some(one) = connection.sides.get_mut(side)
            {
                one.missing = missing;
            }
        } else {
            let known = usize::try_from(expected - offset).unwrap_or(usize::MAX);
            bytes = bytes.get(known..).unwrap_or_default();
        }
        self.keep_for_frames(handle, side, bytes);
        while !bytes.is_empty() {
            let Some(connection) = self.connections.get_mut(handle) else {
                return;
            };
            let shard = connection.shard;
            let Some(one) = connection.sides.get_mut(side) else {
                return;
            };
            let end = one.end();
            let room = STEP - end % STEP;
            let len = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(len);
            let group = self.database.streams.get(side);
            if let Some(group) = group.filter(|group| group.has_far() && !one.hits.is_full()) {
                // A pattern may have begun before.
                let before = one.len().saturating_sub(PATTERN_MAX - 1);
                let mut kept = core::mem::take(&mut self.scratch.window);
                kept.clear();
                one.read(&self.windows, before, usize::MAX, &mut kept);
                let place = Occasion::new(ends, to_server).place();
                let text = (before, kept.as_slice(), now);
                self.scratch
                    .search_stream(group, text, place, &mut one.hits);
                self.scratch.window = kept;
            }
            if !self.windows.append(shard, &mut one.window, now) {
                self.losses.count(Loss::RuleStreamBytes, bytes.len() as u64);
                let next = end + bytes.len() as u64;
                self.compare(handle, ends, to_server, found);
                return self.forget(handle, side, next);
            }
            one.fresh += u32::try_from(len).unwrap_or(u32::MAX);
            bytes = later;
            if len as u64 == room {
                self.compare(handle, ends, to_server, found);
            }
        }
    }

    /// Bytes of a stream are missing, or it has ended.
    pub fn stop(&mut self, handle: u32, ends: &Ends, to_server: bool, found: &mut Vec<Found>) {
        self.compare(handle, ends, to_server, found);
    }

    /// A side has reset the connection. What the other side has not acknowledged until then may
    /// never have reached it: that is compared when the connection is over.
    pub fn reset(&mut self, handle: u32, ends: &Ends, found: &mut Vec<Found>) {
        for to_server in [true, false] {
            let side = self.side(handle, usize::from(!to_server));
            if side.is_some_and(|side| !side.is_unacknowledged()) {
                self.compare(handle, ends, to_server, found);
            }
        }
    }

    /// A connection ends: what waits is compared, and its memory given back.
    pub fn end(&mut self, handle: u32, ends: &Ends, found: &mut Vec<Found>) {
        for to_server in [true, false] {
            self.compare(handle, ends, to_server, found);
        }
        self.frames(handle, ends, true, found);
        for side in [0, 1] {
            self.forget(handle, side, 0);
        }
        if let Some(connection) = self.connections.get_mut(handle) {
            for side in &mut connection.frames {
                self.windows.release(connection.shard, &mut side.kept);
            }
            self.bodies.end(handle, connection);
        }
    }

    /// Whether a rule has alerted of a connection: also where a threshold leaves the alert out, and
    /// without alerts that hosts or sets decide, later than the connection's own record.
    pub fn has_alerted(&self, handle: u32) -> bool {
        let connection = self.connections.get(handle);
        connection.is_some_and(|connection| connection.has(Connection::ALERTED))
    }

    /// No connection has a handle of `below` or more: gives the memory of those that had back.
    pub fn forget_above(&mut self, below: u32) {
        self.connections.truncate(below);
    }

    /// The pools of everything that is kept of connections.
    pub fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(self.windows.pool());
        self.bodies.pools(visit);
    }

    /// What was lost.
    pub const fn losses(&self) -> &Losses {
        &self.losses
    }

    fn side(&self, handle: u32, side: usize) -> Option<&Side> {
        self.connections.get(handle)?.sides.get(side)
    }

    /// Compares the window of a stream, if there is anything new in it, and keeps its end.
    fn compare(&mut self, handle: u32, ends: &Ends, to_server: bool, found: &mut Vec<Found>) {
        let side = usize::from(!to_server);
        let connection = self.connections.get_mut(handle);
        let Some(connection) = connection.filter(|one| !one.has(Connection::PASSED)) else {
            return;
        };
        let Some(one) = connection.sides.get_mut(side).filter(|one| one.fresh > 0) else {
            return;
        };
        one.fresh = 0;
        let (start, missing) = (one.start, one.missing);
        let mut window = core::mem::take(&mut self.scratch.window);
        window.clear();
        let occasion = Occasion::new(ends, to_server);
        let group = self.database.streams.get(side);
        if let Some(group) = group.filter(|group| !group.is_empty()) {
            let (scratch, place) = (&mut self.scratch, occasion.place());
            scratch.begin();
            if one.hits.is_full() {
                one.hits = Hits::default();
                one.read(&self.windows, 0, usize::MAX, &mut window);
                scratch.search_stream(group, (0, &[], &window), place, &mut one.hits);
            }
            one.hits.known().iter().for_each(|hit| scratch.add(hit.0));
            scratch.add_others(group, &occasion);
            if window.is_empty() {
                one.read(&self.windows, 0, group.anchored_reach(), &mut window);
            }
            scratch.search_head(group, &window, place);
            // PERF: of most windows no rule is a candidate: their bytes are not read again.
            window.clear();
            if !scratch.is_empty() {
                one.read(&self.windows, 0, usize::MAX, &mut window);
            }
        } else {
            self.scratch.begin();
        }
        let keep = usize::try_from(STEP).unwrap_or(usize::MAX);
        if let Some(cut) = one.len().checked_sub(keep).filter(|&cut| cut > 0) {
            one.cut(&mut self.windows, connection.shard, cut);
        }
        if !self.scratch.is_empty() {
            let occasion = Occasion {
                payload: &window,
                stream: Some(start),
                missing,
                ..occasion
            };
            let (database, losses) = (&self.database, &mut self.losses);
            self.scratch
                .evaluate(database, connection, &occasion, losses, found);
        }
        self.scratch.window = window;
    }

    /// Forgets the window of a stream, which goes on at `next`.
    fn forget(&mut self, handle: u32, side: usize, next: u64) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let shard = connection.shard;
        if let Some(one) = connection.sides.get_mut(side) {
            self.windows.release(shard, &mut one.window);
            (one.start, one.past) = (next, 0);
            one.missing = 0;
            one.fresh = 0;
            one.hits = Hits::default();
        }
    }
}

/// A window ends at the latest after so many bytes, and begins so many before.
const STEP: u64 = 4096;
/// How a record of application data begins (RFC 8446 §5.1): its type, and the major version.
const TLS_APPLICATION_DATA: [u8; 2] = [23, 3];
/// Most requests fit into one block or two.
pub(crate) const BLOCK_BYTES: usize = 512;
