//! Messages of application protocols: each connection's parser, and what it has to hear.
//!
//! ```text
//!  verdict ──bind──► replay: bytes kept before it, in order of turns
//!                       │
//!  stream, datagrams ───┴──► parser ──message──► Outlet ──+ connection, key──► records
//! ```
//!
//! Owns what binds a connection to its parser. Guarantees that a parser hears every byte of a
//! stream once and in order, or of a gap; and that a record's key depends on the input alone.

mod carried;
mod files;
mod outlet;
mod parsers;
mod room;

pub(crate) use files::{FileError, earlier_files};
pub(super) use flowpin_http::Successor;
pub(super) use outlet::{Moment, Scene, Who};
use parsers::Kind;
pub(super) use parsers::Next;

use crate::run::memory;
use files::Files;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_fix::Dictionary;
use flowpin_flow::Peers;
use flowpin_ftp::Ends;
use flowpin_identify::ProtocolId;
use flowpin_memory::Slab;
use flowpin_packet::{Shard, Timestamp};
use flowpin_reassembly::Span;
use flowpin_record::{MessagePlace, RecordSink, ToolNames};
use outlet::{Counted, Ledger, Outlet};
use parsers::{Handle, Parsers};
use room::Room;
use std::io;
use std::sync::Arc;

/// The parsers of one worker, and the connections bound to them.
#[derive(Debug)]
pub(super) struct Parse {
    bound: Slab<Bound>,
    places: Slab<MessagePlace>,
    parsers: Parsers,
    room: Room,
    /// Which parser reads a protocol, by its number; outer `None`: nobody has asked yet.
    kinds: Vec<Option<Option<Kind>>>,
    ledger: Ledger,
}

/// What parsing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseStats {
    /// Connections that had a parser.
    pub connections: u64,
    /// Records of messages.
    pub messages: u64,
}

impl ParseStats {
    pub(crate) fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.messages += other.messages;
    }
}

/// A connection and its parser.
// PERF: what every segment needs is one cache line; what only a record needs is in `places`.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bound {
    handle: Handle,
    /// Which of `places` is its.
    place: u32,
    counted: Counted,
    /// Which offset each direction's next byte has, the client's first.
    next: [u64; 2],
    /// What it has of its shard's room.
    room: u32,
    shard: Shard,
}

const _: () = assert!(size_of::<Bound>() == 64);

/// Where a stream stands is not known: its next byte is the next one.
pub(super) const ANYWHERE: u64 = u64::MAX;

/// A bound connection's number; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Binding(u32);

impl Binding {
    #[inline]
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// What is bound.
pub(super) struct Wish {
    pub(super) kind: Kind,
    pub(super) peers: Peers,
    /// What the connection speaks.
    pub(super) app: &'static str,
    pub(super) in_tools: &'static ToolNames,
    pub(super) shard: Shard,
    /// As in [`Bound`].
    pub(super) next: [u64; 2],
}

impl Parse {
    /// For connections whose handles are below `connections_max`; none if nothing is parsed.
    pub(super) fn new(
        plan: &Plan,
        names: Option<&Arc<Dictionary>>,
        connections_max: u32,
    ) -> io::Result<Option<Self>> {
        if !plan.parse.enabled {
            return Ok(None);
        }
        let mut options = memory::parsers(plan);
        if let Some(names) = names {
            options.fix.dictionary = Arc::clone(names);
        }
        Ok(Some(Self {
            bound: Slab::with_capacity(connections_max)?,
            places: Slab::with_capacity(connections_max)?,
            parsers: Parsers::new(&options)?,
            room: Room::new(options.shard_room),
            kinds: Vec::new(),
            ledger: Ledger::new(plan.files.extract.as_deref().map(Files::new)),
        }))
    }

    /// Asks for a bound connection, then for what its parser has of it.
    #[inline]
    pub(super) fn prefetch(&self, binding: Binding, step: u8) {
        let Some(bound) = binding.0.checked_sub(1) else {
            return;
        };
        if step == 0 {
            self.bound.prefetch(bound);
        } else if let Some(bound) = self.bound.get(bound) {
            self.parsers.prefetch(bound.handle);
        }
    }

    /// Which parser reads a protocol, if any; `is_own`: a built-in rule found it.
    pub(super) fn kind(&mut self, protocol: ProtocolId, name: &str, is_own: bool) -> Option<Kind> {
        let place = usize::from(protocol.0);
        if self.kinds.len() <= place {
            self.kinds.resize(place + 1, None);
        }
        let parsers = &self.parsers;
        let known = self.kinds.get_mut(place)?;
        *known.get_or_insert_with(|| {
            let kind = parsers.kind(name, is_own);
            kind.filter(|&kind| parsers.is_wanted(kind, name))
        })
    }

    /// Binds a connection; none if the parser has no room for it, which it counts.
    pub(super) fn bind(&mut self, wish: &Wish, at: Timestamp) -> Binding {
        let ends = Ends {
            client: wish.peers.client,
            server: wish.peers.server,
        };
        let Some((handle, room)) = self.begin(wish.kind, wish.shard, ends, at) else {
            return Binding::default();
        };
        let place = MessagePlace {
            time: at,
            uid: wish.peers.uid,
            protocol: wish.peers.protocol,
            client: wish.peers.client,
            server: wish.peers.server,
            app: wish.app,
            in_tools: wish.in_tools,
            transaction: 0,
            packet_number: None,
        };
        // As many places as bound connections: there is always one.
        let place = self.places.insert(place).unwrap_or(u32::MAX);
        let bound = self.bound.insert(Bound {
            place,
            counted: Counted::default(),
            handle,
            next: wish.next,
            room,
            shard: wish.shard,
        });
        self.ledger.stats.connections += 1;
        Binding(bound.map_or(0, |bound| bound + 1))
    }

    /// Whether what was told since the last question is of the parser's protocol, where it said so.
    #[inline]
    pub(super) fn fits(&mut self) -> Option<bool> {
        self.ledger.has_proved = false;
        self.ledger.fits.take()
    }

    /// Whether what was told last is of the parser's protocol beyond doubt.
    #[inline]
    pub(super) fn has_proved(&self) -> bool {
        self.ledger.has_proved
    }

    /// The next so many bytes of one direction are nothing that a parser should hear of.
    pub(super) fn leave_out(&mut self, binding: Binding, to_server: bool, len: u64) {
        let bound = binding.0.checked_sub(1);
        if let Some(bound) = bound.and_then(|one| self.bound.get_mut(one)) {
            let [client, server] = &mut bound.next;
            let next = if to_server { client } else { server };
            *next = next.saturating_add(len);
        }
    }

    /// Whether a connection's parser, once it proved what a side says, holds the rest.
    pub(super) fn holds(&self, binding: Binding) -> bool {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.is_some_and(|bound| Parsers::holds(bound.handle))
    }

    /// What a parser that proves all else held of one direction, before the bytes that `told` tells
    /// of, goes to `to`, which is empty: the offset of its first byte.
    pub(super) fn held(
        &self,
        binding: Binding,
        to_server: bool,
        told: Span,
        to: &mut Vec<u8>,
    ) -> u64 {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        let Some(bound) = bound else {
            return 0;
        };
        let spoke = told.to_server == to_server;
        self.parsers.held(bound.handle, to_server, spoke, to);
        let [client, server] = bound.next;
        let end = match to_server {
            _ if spoke => told.offset,
            true => client,
            false => server,
        };
        end.saturating_sub(to.len() as u64)
    }

    /// Whether a grammar reads a connection.
    pub(super) fn reads_text(&self, binding: Binding) -> bool {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.is_some_and(|bound| matches!(bound.handle, Handle::Text(_)))
    }

    /// A connection of a parser, and what it has of its shard's room; none, and counted, if there
    /// is none left.
    fn begin(
        &mut self,
        kind: Kind,
        shard: Shard,
        ends: Ends,
        at: Timestamp,
    ) -> Option<(Handle, u32)> {
        let room = kind.connection_bytes();
        if !self.room.take(shard, room) {
            self.ledger.losses.count(kind.without_room(), 1);
            return None;
        }
        let handle = self.parsers.begin(kind, shard, ends, at);
        if handle.is_none() {
            self.room.give_back(shard, room);
        }
        Some((handle?, room))
    }

    /// Its parser has let go of a connection: others may have its room.
    fn give_back_room(&mut self, bound: u32) {
        if let Some(bound) = self.bound.get_mut(bound) {
            self.room
                .give_back(bound.shard, core::mem::take(&mut bound.room));
        }
    }

    /// Nobody is told anything: what the parser of another connection said is not this one's.
    #[inline]
    pub(super) fn forget_fits(&mut self) {
        self.ledger.fits = None;
        self.ledger.has_proved = false;
    }

    /// How many records a connection had so far.
    pub(super) fn counted(&self, binding: Binding) -> Counted {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.map_or(Counted::default(), |bound| bound.counted)
    }

    /// A connection that was vacated goes on as a WebSocket: what that carries is heard from here
    /// on. False if nobody can.
    pub(super) fn go_on_as_websocket(&mut self, binding: Binding, at: Timestamp) -> bool {
        let Some(number) = binding.0.checked_sub(1) else {
            return false;
        };
        let Some(&Bound { place, shard, .. }) = self.bound.get(number) else {
            return false;
        };
        let Some(told) = self.places.get(place) else {
            return false;
        };
        if !self.parsers.is_wanted(Kind::WebSocket, told.app) {
            return false;
        }
        let ends = Ends {
            client: told.client,
            server: told.server,
        };
        let Some((handle, room)) = self.begin(Kind::WebSocket, shard, ends, at) else {
            return false;
        };
        let Some(bound) = self.bound.get_mut(number) else {
            return false;
        };
        (bound.handle, bound.room) = (handle, room);
        bound.next = [ANYWHERE; 2];
        // There are no other records.
        if let Some(place) = self.places.get_mut(place) {
            place.app = "tls";
            place.in_tools = ToolNames::of("tls");
        }
        true
    }

    /// A connection that was bound before goes on counting.
    pub(super) fn count_from(&mut self, binding: Binding, counted: Counted) {
        if let Some(bound) = binding
            .0
            .checked_sub(1)
            .and_then(|one| self.bound.get_mut(one))
        {
            bound.counted = counted;
        }
    }

    /// Bytes of a stream. Those that were told before are passed over, those between are a gap.
    pub(super) fn data<S: RecordSink>(
        &mut self,
        binding: Binding,
        at: Span,
        bytes: &[u8],
        moment: &Moment,
        sink: &mut S,
    ) -> Next {
        let Some((mut bound, parsers, mut outlet)) = self.hearing(binding, moment, sink) else {
            return Next::Nothing;
        };
        let (expected, _) = bound.pass(at, bytes.len() as u64);
        let told = usize::try_from(expected.saturating_sub(at.offset)).unwrap_or(usize::MAX);
        let bytes = bytes.get(told..).unwrap_or_default();
        let missing = at.offset.saturating_sub(expected);
        if missing > 0 {
            let gone = parsers.gap(bound.handle, moment.at, at.to_server, missing, &mut outlet);
            if gone == Next::Nothing {
                return gone;
            }
        }
        if bytes.is_empty() {
            return Next::More;
        }
        match parsers.data(bound.handle, moment.at, at.to_server, bytes, &mut outlet) {
            Next::Successor(what, used) => Next::Successor(what, told.saturating_add(used)),
            next => next,
        }
    }

    /// Bytes of a stream that the capture does not have.
    pub(super) fn gap<S: RecordSink>(
        &mut self,
        binding: Binding,
        at: Span,
        len: u64,
        moment: &Moment,
        sink: &mut S,
    ) -> Next {
        let Some((mut bound, parsers, mut outlet)) = self.hearing(binding, moment, sink) else {
            return Next::Nothing;
        };
        let (expected, end) = bound.pass(at, len);
        if end <= expected {
            return Next::More;
        }
        let missing = end - expected;
        parsers.gap(bound.handle, moment.at, at.to_server, missing, &mut outlet)
    }

    /// A byte that its receiver reads out of band: no gap.
    pub(super) fn passed(&mut self, binding: Binding, at: Span) {
        let bound = binding.0.checked_sub(1);
        if let Some(bound) = bound.and_then(|bound| self.bound.get_mut(bound)) {
            let [client, server] = &mut bound.next;
            let next = if at.to_server { client } else { server };
            if *next == at.offset {
                *next += 1;
            }
        }
    }

    /// One direction of a stream has ended.
    pub(super) fn closed<S: RecordSink>(
        &mut self,
        binding: Binding,
        to_server: bool,
        moment: &Moment,
        sink: &mut S,
    ) -> Next {
        match self.hearing(binding, moment, sink) {
            Some((bound, parsers, mut outlet)) => {
                parsers.closed(bound.handle, moment.at, to_server, &mut outlet)
            }
            None => Next::Nothing,
        }
    }

    /// Whether a connection's parser has nothing of it: another one could go on from here.
    pub(super) fn is_idle(&self, binding: Binding) -> bool {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.is_some_and(|bound| self.parsers.is_idle(bound.handle))
    }

    /// A datagram, of which the capture may have cut the end.
    pub(super) fn datagram<S: RecordSink>(
        &mut self,
        binding: Binding,
        to_server: bool,
        payload: (&[u8], usize),
        moment: &Moment,
        sink: &mut S,
    ) -> Next {
        match self.hearing(binding, moment, sink) {
            Some((bound, parsers, mut outlet)) => {
                parsers.datagram(bound.handle, moment.at, to_server, payload, &mut outlet)
            }
            None => Next::Nothing,
        }
    }

    /// The connection is over, or goes on without its parser.
    pub(super) fn end<S: RecordSink>(&mut self, binding: Binding, moment: &Moment, sink: &mut S) {
        if let Some((bound, parsers, mut outlet)) = self.hearing(binding, moment, sink) {
            parsers.end(bound.handle, moment.at, &mut outlet);
        }
        self.unbind(binding);
    }

    /// A connection goes on without its parser, and may get another one.
    pub(super) fn vacate<S: RecordSink>(
        &mut self,
        binding: Binding,
        moment: &Moment,
        sink: &mut S,
    ) {
        if let Some((bound, parsers, mut outlet)) = self.hearing(binding, moment, sink) {
            parsers.end(bound.handle, moment.at, &mut outlet);
        }
        let Some(number) = binding.0.checked_sub(1) else {
            return;
        };
        self.give_back_room(number);
        if let Some(bound) = self.bound.get_mut(number) {
            bound.handle = Handle::Nobody;
        }
    }

    /// Its parser has let go of a connection.
    pub(super) fn unbind(&mut self, binding: Binding) {
        if let Some(bound) = binding.0.checked_sub(1) {
            self.give_back_room(bound);
            if let Some(&Bound { place, .. }) = self.bound.get(bound) {
                self.places.remove(place);
            }
            self.bound.remove(bound);
        }
    }

    pub(super) fn losses(&self) -> Losses {
        let mut losses = self.parsers.losses();
        losses.add(&self.ledger.losses);
        losses
    }

    pub(super) const fn stats(&self) -> ParseStats {
        self.ledger.stats
    }

    /// The first file that could not be written.
    pub(super) fn file_error(&self) -> Option<&FileError> {
        self.ledger.files.as_ref()?.error()
    }

    /// Where a connection's parser is told of something, and where its records go.
    #[inline]
    fn hearing<'a, S: RecordSink>(
        &'a mut self,
        binding: Binding,
        moment: &'a Moment,
        sink: &'a mut S,
    ) -> Option<(Hearing<'a>, &'a mut Parsers, Outlet<'a, S>)> {
        let Bound {
            place,
            handle,
            counted,
            next,
            shard,
            ..
        } = self.bound.get_mut(binding.0.checked_sub(1)?)?;
        self.ledger.fits = None;
        self.ledger.has_proved = false;
        let hearing = Hearing {
            handle: *handle,
            next,
        };
        let outlet = Outlet {
            ledger: &mut self.ledger,
            place: self.places.get_mut(*place)?,
            counted,
            shard: *shard,
            moment,
            sink,
        };
        Some((hearing, &mut self.parsers, outlet))
    }
}

/// A bound connection's part that no outlet holds.
struct Hearing<'a> {
    handle: Handle,
    next: &'a mut [u64; 2],
}

impl Hearing<'_> {
    /// `len` bytes of one direction come or are missing: which offset its parser was to hear next,
    /// and where they end.
    #[inline]
    fn pass(&mut self, at: Span, len: u64) -> (u64, u64) {
        let [client, server] = &mut *self.next;
        let next = if at.to_server { client } else { server };
        let expected = if *next == ANYWHERE { at.offset } else { *next };
        let end = at.offset.saturating_add(len);
        *next = end.max(expected);
        (expected, end)
    }
}
