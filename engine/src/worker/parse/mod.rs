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
pub(crate) use flowpin_parser::Successor;
use parsers::Kind;
pub(crate) use parsers::Next;

use crate::run::memory;
use crate::worker::context::Context;
use files::Files;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_fix::Dictionary;
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
pub(crate) struct Parse {
    bound: Slab<Bound>,
    places: Slab<MessagePlace>,
    parsers: Parsers,
    room: Room,
    /// By a protocol's number; `None`: not asked for yet.
    known: Vec<Option<Known>>,
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
// PERF: what every segment needs is one cache line; what only a record needs is in `places`, and
// made for the first record that is read. FIX in short connections, records not read: 12 MB less
// is touched.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bound {
    handle: Handle,
    /// Which of `places` is its; [`NIL`] before its first record.
    place: u32,
    /// Its handle in the connection table.
    connection: u32,
    counted: Counted,
    /// Which offset each direction's next byte has, the client's first.
    next: [u64; 2],
    /// What it has of its shard's room.
    room: u32,
    /// What it speaks.
    protocol: ProtocolId,
    shard: Shard,
}

const _: () = assert!(size_of::<Bound>() == 64);

/// No place yet.
const NIL: u32 = u32::MAX;

/// What is known of a protocol.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Which parser reads it, if any.
    kind: Option<Kind>,
    speaks: Speaks,
}

/// As what records show a protocol.
#[derive(Clone, Copy, Debug)]
struct Speaks {
    app: &'static str,
    in_tools: &'static ToolNames,
}

/// Where a stream stands is not known: its next byte is the next one.
pub(crate) const ANYWHERE: u64 = u64::MAX;

/// A bound connection's number; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binding(u32);

impl Binding {
    #[inline]
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// What is bound.
pub(crate) struct Wish {
    pub(super) kind: Kind,
    /// The connection's handle in the connection table.
    pub(super) connection: u32,
    /// What it speaks; [`Parse::kind`] was asked for it.
    pub(super) protocol: ProtocolId,
    pub(super) shard: Shard,
    /// As in [`Bound`].
    pub(super) next: [u64; 2],
}

impl Parse {
    /// For connections whose handles are below `connections_max`; none if nothing is parsed.
    pub(crate) fn new(
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
            known: Vec::new(),
            ledger: Ledger::new(plan.files.extract.as_deref().map(Files::new)),
        }))
    }

    /// Asks for a bound connection, then for what its parser has of it.
    #[inline]
    pub(crate) fn prefetch(&self, binding: Binding, step: u8) {
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
    pub(crate) fn kind(
        &mut self,
        protocol: ProtocolId,
        (app, in_tools): (&'static str, &'static ToolNames),
        is_own: bool,
    ) -> Option<Kind> {
        let number = usize::from(protocol.0);
        if self.known.len() <= number {
            self.known.resize(number + 1, None);
        }
        let parsers = &self.parsers;
        let known = self.known.get_mut(number)?.get_or_insert_with(|| {
            let kind = parsers.kind(app, is_own);
            Known {
                kind: kind.filter(|&kind| parsers.is_wanted(kind, app)),
                speaks: Speaks { app, in_tools },
            }
        });
        known.kind
    }

    /// Binds a connection; none if the parser has no room for it, which it counts.
    pub(crate) fn bind<S>(&mut self, wish: &Wish, context: &Context<'_, S>) -> Binding {
        let who = (context, wish.connection);
        let Some((handle, room)) = self.begin(wish.kind, wish.shard, who) else {
            return Binding::default();
        };
        let bound = self.bound.insert(Bound {
            place: NIL,
            connection: wish.connection,
            counted: Counted::default(),
            handle,
            next: wish.next,
            room,
            protocol: wish.protocol,
            shard: wish.shard,
        });
        self.ledger.stats.connections += 1;
        Binding(bound.map_or(0, |bound| bound + 1))
    }

    /// Whether what was told since the last question is of the parser's protocol, where it said so.
    #[inline]
    pub(crate) fn fits(&mut self) -> Option<bool> {
        self.ledger.has_proved = false;
        self.ledger.fits.take()
    }

    /// Whether what was told last is of the parser's protocol beyond doubt.
    #[inline]
    pub(crate) fn has_proved(&self) -> bool {
        self.ledger.has_proved
    }

    /// The next so many bytes of one direction are nothing that a parser should hear of.
    pub(crate) fn leave_out(&mut self, binding: Binding, to_server: bool, len: u64) {
        let bound = binding.0.checked_sub(1);
        if let Some(bound) = bound.and_then(|one| self.bound.get_mut(one)) {
            let [client, server] = &mut bound.next;
            let next = if to_server { client } else { server };
            *next = next.saturating_add(len);
        }
    }

    /// Whether a connection's parser, once it proved what a side says, holds the rest.
    pub(crate) fn holds(&self, binding: Binding) -> bool {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.is_some_and(|bound| Parsers::holds(bound.handle))
    }

    /// What a parser that proves all else held of one direction, before the bytes that `told` tells
    /// of, goes to `to`, which is empty: the offset of its first byte.
    pub(crate) fn held(
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
    pub(crate) fn reads_text(&self, binding: Binding) -> bool {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.is_some_and(|bound| matches!(bound.handle, Handle::Text(_)))
    }

    /// A connection of a parser, and what it has of its shard's room; none, and counted, if there
    /// is none left.
    fn begin<S>(
        &mut self,
        kind: Kind,
        shard: Shard,
        (context, connection): (&Context<'_, S>, u32),
    ) -> Option<(Handle, u32)> {
        let room = kind.connection_bytes();
        if !self.room.take(shard, room) {
            self.ledger.losses.count(kind.without_room(), 1);
            return None;
        }
        let handle = self.parsers.begin(kind, shard, context.cause.time, || {
            let peers = context.peers(connection);
            Ends {
                client: peers.client,
                server: peers.server,
            }
        });
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
    pub(crate) fn forget_fits(&mut self) {
        self.ledger.fits = None;
        self.ledger.has_proved = false;
    }

    /// How many records a connection had so far.
    pub(crate) fn counted(&self, binding: Binding) -> Counted {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.map_or(Counted::default(), |bound| bound.counted)
    }

    /// A connection that was vacated goes on as a WebSocket: what that carries is heard from here
    /// on. False if nobody can.
    pub(crate) fn go_on_as_websocket<S>(
        &mut self,
        binding: Binding,
        context: &Context<'_, S>,
    ) -> bool {
        let Some(number) = binding.0.checked_sub(1) else {
            return false;
        };
        let Some(&bound) = self.bound.get(number) else {
            return false;
        };
        let app = speaks(&self.known, bound.protocol).app;
        if !self.parsers.is_wanted(Kind::WebSocket, app) {
            return false;
        }
        let who = (context, bound.connection);
        let Some((handle, room)) = self.begin(Kind::WebSocket, bound.shard, who) else {
            return false;
        };
        // There are no other records: those that follow are of what it carries.
        self.places.remove(bound.place);
        let Some(bound) = self.bound.get_mut(number) else {
            return false;
        };
        (bound.handle, bound.room) = (handle, room);
        (bound.place, bound.protocol) = (NIL, CARRIED);
        bound.next = [ANYWHERE; 2];
        true
    }

    /// A connection that was bound before goes on counting.
    pub(crate) fn count_from(&mut self, binding: Binding, counted: Counted) {
        if let Some(bound) = binding
            .0
            .checked_sub(1)
            .and_then(|one| self.bound.get_mut(one))
        {
            bound.counted = counted;
        }
    }

    /// Bytes of a stream. Those that were told before are passed over, those between are a gap.
    pub(crate) fn data<S: RecordSink>(
        &mut self,
        binding: Binding,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) -> Next {
        let Some((mut bound, parsers, mut outlet)) = self.hearing(binding, context) else {
            return Next::Nothing;
        };
        let (expected, _) = bound.pass(at, bytes.len() as u64);
        let told = usize::try_from(expected.saturating_sub(at.offset)).unwrap_or(usize::MAX);
        let bytes = bytes.get(told..).unwrap_or_default();
        let missing = at.offset.saturating_sub(expected);
        if missing > 0 {
            let gone = parsers.gap(bound.handle, bound.time, at.to_server, missing, &mut outlet);
            if gone == Next::Nothing {
                return gone;
            }
        }
        if bytes.is_empty() {
            return Next::More;
        }
        match parsers.data(bound.handle, bound.time, at.to_server, bytes, &mut outlet) {
            Next::Successor(what, used) => Next::Successor(what, told.saturating_add(used)),
            next => next,
        }
    }

    /// Bytes of a stream that the capture does not have.
    pub(crate) fn gap<S: RecordSink>(
        &mut self,
        binding: Binding,
        at: Span,
        len: u64,
        context: &mut Context<'_, S>,
    ) -> Next {
        let Some((mut bound, parsers, mut outlet)) = self.hearing(binding, context) else {
            return Next::Nothing;
        };
        let (expected, end) = bound.pass(at, len);
        if end <= expected {
            return Next::More;
        }
        let missing = end - expected;
        parsers.gap(bound.handle, bound.time, at.to_server, missing, &mut outlet)
    }

    /// A byte that its receiver reads out of band: no gap.
    pub(crate) fn passed(&mut self, binding: Binding, at: Span) {
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
    pub(crate) fn closed<S: RecordSink>(
        &mut self,
        binding: Binding,
        to_server: bool,
        context: &mut Context<'_, S>,
    ) -> Next {
        match self.hearing(binding, context) {
            Some((bound, parsers, mut outlet)) => {
                parsers.closed(bound.handle, bound.time, to_server, &mut outlet)
            }
            None => Next::Nothing,
        }
    }

    /// Whether a connection's parser has nothing of it: another one could go on from here.
    pub(crate) fn is_idle(&self, binding: Binding) -> bool {
        let bound = binding.0.checked_sub(1).and_then(|one| self.bound.get(one));
        bound.is_some_and(|bound| self.parsers.is_idle(bound.handle))
    }

    /// A datagram, of which the capture may have cut the end.
    pub(crate) fn datagram<S: RecordSink>(
        &mut self,
        binding: Binding,
        to_server: bool,
        payload: (&[u8], usize),
        context: &mut Context<'_, S>,
    ) -> Next {
        match self.hearing(binding, context) {
            Some((bound, parsers, mut outlet)) => {
                parsers.datagram(bound.handle, bound.time, to_server, payload, &mut outlet)
            }
            None => Next::Nothing,
        }
    }

    /// The connection is over, or goes on without its parser.
    pub(crate) fn end<S: RecordSink>(&mut self, binding: Binding, context: &mut Context<'_, S>) {
        if let Some((bound, parsers, mut outlet)) = self.hearing(binding, context) {
            parsers.end(bound.handle, bound.time, &mut outlet);
        }
        self.unbind(binding);
    }

    /// A connection goes on without its parser, and may get another one.
    pub(crate) fn vacate<S: RecordSink>(&mut self, binding: Binding, context: &mut Context<'_, S>) {
        if let Some((bound, parsers, mut outlet)) = self.hearing(binding, context) {
            parsers.end(bound.handle, bound.time, &mut outlet);
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
    pub(crate) fn unbind(&mut self, binding: Binding) {
        if let Some(bound) = binding.0.checked_sub(1) {
            self.give_back_room(bound);
            if let Some(&Bound { place, .. }) = self.bound.get(bound) {
                self.places.remove(place);
            }
            self.bound.remove(bound);
        }
    }

    pub(crate) fn losses(&self) -> Losses {
        let mut losses = self.parsers.losses();
        losses.add(&self.ledger.losses);
        losses
    }

    pub(super) const fn stats(&self) -> ParseStats {
        self.ledger.stats
    }

    /// The first file that could not be written.
    pub(crate) fn file_error(&self) -> Option<&FileError> {
        self.ledger.files.as_ref()?.error()
    }

    /// Where a connection's parser is told of something, and where its records go.
    #[inline]
    fn hearing<'a, 't, S: RecordSink>(
        &'a mut self,
        binding: Binding,
        context: &'a mut Context<'t, S>,
    ) -> Option<(Hearing<'a>, &'a mut Parsers, Outlet<'a, 't, S>)> {
        let Bound {
            place,
            connection,
            handle,
            counted,
            next,
            protocol,
            shard,
            ..
        } = self.bound.get_mut(binding.0.checked_sub(1)?)?;
        self.ledger.fits = None;
        self.ledger.has_proved = false;
        let hearing = Hearing {
            handle: *handle,
            next,
            time: context.cause.time,
        };
        let outlet = Outlet {
            ledger: &mut self.ledger,
            places: Places {
                all: &mut self.places,
                place,
                connection: *connection,
                protocol: *protocol,
                known: &self.known,
            },
            counted,
            shard: *shard,
            context,
        };
        Some((hearing, &mut self.parsers, outlet))
    }
}

/// As what records show a protocol.
fn speaks(known: &[Option<Known>], protocol: ProtocolId) -> Speaks {
    if protocol == CARRIED {
        return Speaks {
            app: "tls",
            in_tools: ToolNames::of("tls"),
        };
    }
    let known = known.get(usize::from(protocol.0)).and_then(Option::as_ref);
    known.map_or(
        Speaks {
            app: "",
            in_tools: ToolNames::NONE,
        },
        |known| known.speaks,
    )
}

/// The TLS that a WebSocket carries.
const CARRIED: ProtocolId = ProtocolId(u16::MAX);

/// A connection's place among all.
struct Places<'a> {
    all: &'a mut Slab<MessagePlace>,
    /// [`NIL`] before its first record.
    place: &'a mut u32,
    connection: u32,
    protocol: ProtocolId,
    known: &'a [Option<Known>],
}

impl Places<'_> {
    /// What its records have in common.
    fn get<S>(&mut self, context: &Context<'_, S>) -> Option<&mut MessagePlace> {
        if *self.place == NIL {
            let (peers, speaks) = (
                context.peers(self.connection),
                speaks(self.known, self.protocol),
            );
            // As many places as bound connections: there is always one.
            *self.place = self.all.insert(MessagePlace {
                time: context.cause.time,
                uid: peers.uid,
                protocol: peers.protocol,
                client: peers.client,
                server: peers.server,
                app: speaks.app,
                in_tools: speaks.in_tools,
                transaction: 0,
                packet_number: None,
            })?;
        }
        self.all.get_mut(*self.place)
    }
}

/// A bound connection's part that no outlet holds.
struct Hearing<'a> {
    handle: Handle,
    next: &'a mut [u64; 2],
    time: Timestamp,
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
