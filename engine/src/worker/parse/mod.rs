//! Messages of application protocols: the connections that are bound to a parser, and its calls.
//!
//! ```text
//!  bind ──► begin                                     registry: one line a parser
//!  data, gap, closed, datagram ──► offsets ──► parser ──message──► Outlet ──► records
//!  end ──► what is open                                      + connection, key
//! ```
//!
//! Owns what binds a connection to its parser. Guarantees that a parser gets every byte of a
//! stream once and in order, or a gap; and that a record's key depends on the input alone.
//!
//! Deliberately knows neither how connections are identified nor any protocol: which parsers there
//! are is in `registry`, and what is special about one in its crate.

mod bound;
mod calls;
mod dispatch;
mod numbering;
mod outlet;
mod places;
pub(crate) mod registry;
mod room;

pub(super) use bound::{ANYWHERE, BindRequest, Binding};

use crate::worker::context::Context;
use bound::{Bindings, side};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_identify::ProtocolId;
use flowpin_output::{ExtractedFiles, FileError};
use flowpin_packet::Shard;
use flowpin_parser::{Begin, Ends, ParserSetup, Successor};
use flowpin_reassembly::Span;
use flowpin_record::ToolNames;
use numbering::Numbering;
use outlet::Ledger;
use places::{Known, Names};
use registry::{Handle, Kind, Parsers};
use room::Room;
use std::io;

/// Files that connections carry.
mod files {
    pub(super) use flowpin_output::ExtractedFiles as Files;
}

/// The parsers of one worker, and the connections bound to them.
#[derive(Debug)]
pub(super) struct Parse {
    bindings: Bindings,
    parsers: Parsers,
    room: Room,
    /// The protocols whose messages are wanted; none named: all.
    wanted: Vec<String>,
    /// By a protocol's number; `None`: not looked up yet.
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

impl Parse {
    /// For connections whose handles are below `connections_max`; none if nothing is parsed.
    pub(super) fn new(
        plan: &Plan,
        setup: &ParserSetup,
        connections_max: u32,
    ) -> io::Result<Option<Self>> {
        if !plan.parse.enabled {
            return Ok(None);
        }
        Ok(Some(Self {
            bindings: Bindings::new(connections_max)?,
            parsers: Parsers::new(setup)?,
            room: Room::new(setup.memory.shard_room()),
            wanted: plan.parse.protocols.clone(),
            known: Vec::new(),
            ledger: Ledger::new(plan.files.extract.as_deref().map(ExtractedFiles::new)),
        }))
    }

    /// Prefetches a bound connection, then what its parser has of it.
    #[inline]
    pub(super) fn prefetch(&self, binding: Binding, step: u8) {
        if step == 0 {
            self.bindings.prefetch(binding);
        } else if let Some(bound) = self.bindings.get(binding) {
            self.parsers.prefetch(bound.handle);
        }
    }

    /// Which parser reads a protocol, if any; `is_own`: a built-in rule has identified it.
    pub(super) fn kind(
        &mut self,
        protocol: ProtocolId,
        (app, in_tools): (&'static str, &'static ToolNames),
        is_own: bool,
    ) -> Option<Kind> {
        let number = usize::from(protocol.0);
        if self.known.len() <= number {
            self.known.resize(number + 1, None);
        }
        let (parsers, wanted) = (&self.parsers, &self.wanted);
        let known = self.known.get_mut(number)?.get_or_insert_with(|| {
            let kind = parsers.kind(app, is_own);
            Known {
                kind: kind.filter(|kind| is_wanted(wanted, kind.messages(app))),
                names: Names { app, in_tools },
            }
        });
        known.kind
    }

    /// Binds a connection; none if the parser has no room for it, which is counted.
    pub(super) fn bind<S>(&mut self, request: &BindRequest, context: &Context<'_, S>) -> Binding {
        let connection = (request.connection, request.shard);
        let Some(begun) = self.begin(request.kind, connection, context) else {
            return Binding::default();
        };
        self.ledger.stats.connections += 1;
        self.bindings.insert(request, begun)
    }

    /// A connection of a parser, and what it takes of its shard's room; none, and counted, if
    /// there is none left.
    fn begin<S>(
        &mut self,
        kind: Kind,
        (connection, shard): (u32, Shard),
        context: &Context<'_, S>,
    ) -> Option<(Handle, u32)> {
        let room = kind.connection_bytes();
        if !self.room.take(shard, room) {
            self.ledger.losses.count(kind.without_room(), 1);
            return None;
        }
        let begin = Begin {
            protocol: 0,
            shard,
            at: context.cause.time,
        };
        let handle = self.parsers.begin(kind, begin, || {
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

    /// Whether what the parser got since the last question is of its protocol, where it said so.
    #[inline]
    pub(super) fn fits(&mut self) -> Option<bool> {
        self.ledger.has_proved = false;
        self.ledger.fits.take()
    }

    /// Whether what the parser got last is of its protocol beyond doubt.
    #[inline]
    pub(super) fn has_proved(&self) -> bool {
        self.ledger.has_proved
    }

    /// No parser is called: what that of another connection said is not this one's.
    #[inline]
    pub(super) fn forget_fits(&mut self) {
        self.ledger.fits = None;
        self.ledger.has_proved = false;
    }

    /// The next `len` bytes of one direction are not for the parser.
    pub(super) fn leave_out(&mut self, binding: Binding, to_server: bool, len: u64) {
        if let Some(bound) = self.bindings.get_mut(binding) {
            let next = side(&mut bound.next, to_server);
            *next = next.saturating_add(len);
        }
    }

    /// Whether a connection's parser, once it proved what a side says, holds the rest.
    pub(super) fn holds(&self, binding: Binding) -> bool {
        let bound = self.bindings.get(binding);
        bound.is_some_and(|bound| bound.handle.holds_unproved())
    }

    /// What a parser that proves all else held of one direction, before the bytes `at` hand, goes
    /// to `to`, which is empty: the offset of its first byte.
    pub(super) fn held(
        &self,
        binding: Binding,
        to_server: bool,
        at: Span,
        to: &mut Vec<u8>,
    ) -> u64 {
        let Some(bound) = self.bindings.get(binding) else {
            return 0;
        };
        let spoke = at.to_server == to_server;
        if bound.handle.holds_unproved() {
            self.parsers.held(bound.handle, to_server, spoke, to);
        }
        let end = match spoke {
            true => at.offset,
            false => *side(&mut { bound.next }, to_server),
        };
        end.saturating_sub(to.len() as u64)
    }

    /// The parser that a connection is bound to.
    pub(super) fn parser(&self, binding: Binding) -> Option<&'static str> {
        self.bindings.get(binding)?.handle.parser()
    }

    /// Whether a connection's parser accepts lines that other protocols know as well.
    pub(super) fn accepts_others(&self, binding: Binding) -> bool {
        let bound = self.bindings.get(binding);
        bound.is_some_and(|bound| bound.handle.accepts_others())
    }

    /// How many records a connection had so far.
    pub(super) fn numbering(&self, binding: Binding) -> Numbering {
        let bound = self.bindings.get(binding);
        bound.map_or(Numbering::default(), |bound| bound.numbering)
    }

    /// A connection that was bound before goes on with its numbers.
    pub(super) fn number_from(&mut self, binding: Binding, numbering: Numbering) {
        if let Some(bound) = self.bindings.get_mut(binding) {
            bound.numbering = numbering;
        }
    }

    /// A connection that was vacated goes on as its successor: a parser reads it from here on.
    /// False if none can.
    pub(super) fn go_on_as<S>(
        &mut self,
        binding: Binding,
        successor: Successor,
        context: &Context<'_, S>,
    ) -> bool {
        let (Some((kind, app)), Some(bound)) = (Kind::after(successor), self.bindings.get(binding))
        else {
            return false;
        };
        let connection = (bound.connection, bound.shard);
        if !is_wanted(&self.wanted, app) {
            return false;
        }
        let Some(begun) = self.begin(kind, connection, context) else {
            return false;
        };
        self.bindings.replace(binding, begun);
        true
    }

    /// Whether a connection's parser has nothing of it: another one could go on from here.
    pub(super) fn is_idle(&self, binding: Binding) -> bool {
        let bound = self.bindings.get(binding);
        bound.is_some_and(|bound| self.parsers.is_idle(bound.handle))
    }

    /// Its parser has released a connection.
    pub(super) fn unbind(&mut self, binding: Binding) {
        self.give_back_room(binding);
        self.bindings.remove(binding);
    }

    fn give_back_room(&mut self, binding: Binding) {
        if let Some(bound) = self.bindings.get_mut(binding) {
            self.room
                .give_back(bound.shard, core::mem::take(&mut bound.room));
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
}

/// Whether messages of this name are among the wanted ones.
fn is_wanted(wanted: &[String], messages: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| one == messages)
}
