//! Messages of application protocols: the connections that are bound to a parser, and its calls.
//!
//! ```text
//!  bind ──► begin                                     registry: one line a parser
//!  data, gap, closed, datagram ──► offsets ──► parser ──message──► Outlet ──► records
//!  end ──► open messages                                     + connection, key
//! ```
//!
//! Owns the binding of connections to parsers. Guarantees that a parser gets every byte of a
//! stream once and in order, or a gap; and that a record's key depends on the input alone.
//!
//! Deliberately knows neither how connections are identified nor any protocol: `registry` lists the
//! parsers, and the specifics of each are in its crate.

mod bound;
mod calls;
mod dispatch;
mod numbering;
mod outlet;
mod places;
pub(crate) mod registry;
mod shed;
mod view;

pub(super) use bound::{ANYWHERE, BindRequest, Binding};

use crate::worker::context::Context;
use bound::{BOUND_BYTES, Bindings, side};
use flowpin_capture::Shedding;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_detect::{Database, Tap};
use flowpin_identify::ProtocolId;
use flowpin_memory::{Budget, Pool};
use flowpin_output::{ExtractedFiles, FileError};
use flowpin_packet::Shard;
use flowpin_parser::{Begin, Ends, Parser, ParserSetup, Successor};
use flowpin_reassembly::Span;
use flowpin_record::ToolNames;
use numbering::Numbering;
use outlet::Ledger;
use places::{Known, Names};
use registry::{Handle, Kind, Parsers, call};
use shed::Shed;
use std::io;
use std::sync::Arc;

/// The parsers of one worker, and the connections bound to them.
#[derive(Debug)]
pub(super) struct Parse {
    bindings: Bindings,
    parsers: Parsers,
    /// The memory of the worker's shards.
    budget: Budget,
    /// The protocols of `--parse`; empty: all.
    wanted: Vec<String>,
    /// By a protocol's number; `None`: not looked up yet.
    known: Vec<Option<Known>>,
    ledger: Ledger,
}

/// The counters of parsing.
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
        rules: Option<&Arc<Database>>,
        connections_max: u32,
    ) -> io::Result<Option<Self>> {
        if !plan.parse.enabled {
            return Ok(None);
        }
        Ok(Some(Self {
            bindings: Bindings::new(connections_max)?,
            parsers: Parsers::new(setup)?,
            budget: setup.budget.clone(),
            wanted: plan.parse.protocols.clone(),
            known: Vec::new(),
            ledger: Ledger::new(
                plan.files.extract.as_deref().map(ExtractedFiles::new),
                rules.map(|rules| Tap::new(Arc::clone(rules))),
            ),
        }))
    }

    /// From here on work is shed under overload.
    pub(super) fn shed(&mut self, shedding: &Shedding) {
        self.ledger.shed = Some(Shed::new(shedding));
    }

    /// Whether a connection of this shard gets no parser now; counts it then.
    pub(super) fn sheds(&mut self, shard: Shard) -> bool {
        self.ledger.sheds_parsing(shard)
    }

    /// What parsers have said, where rules read it.
    pub(super) fn tap(&mut self) -> Option<&mut Tap> {
        self.ledger.tap.as_mut()
    }

    /// The pools of the parsers, and of the connections bound to them.
    pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.bindings.pools(visit);
        self.parsers.pools(visit);
    }

    /// Prefetches a bound connection, then its parser's state.
    #[inline]
    pub(super) fn prefetch(&self, binding: Binding, step: u8) {
        if step == 0 {
            self.bindings.prefetch(binding);
        } else if let Some(bound) = self.bindings.get(binding) {
            call!(&self.parsers, bound.handle, prefetch(), else ());
        }
    }

    /// The parser that reads a protocol, if any; `is_own`: a built-in rule has identified it.
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

    /// Binds a connection; none, and counted, if its shard has no memory left.
    pub(super) fn bind<S>(&mut self, request: &BindRequest, context: &Context<'_, S>) -> Binding {
        let connection = (request.connection, request.shard);
        let Some(begun) = self.begin(request.kind, connection, context) else {
            return Binding::default();
        };
        self.ledger.stats.connections += 1;
        self.bindings.insert(request, begun)
    }

    /// Begins a connection of a parser; returns it with the memory that it takes of its shard.
    /// None, and counted, if there is none left.
    fn begin<S>(
        &mut self,
        kind: Kind,
        (connection, shard): (u32, Shard),
        context: &Context<'_, S>,
    ) -> Option<(Handle, u32)> {
        let memory = BOUND_BYTES.saturating_add(kind.connection_bytes());
        if !self.budget.take(shard.0, memory.into()) {
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
            self.budget.give_back(shard.0, memory.into());
        }
        Some((handle?, memory))
    }

    /// Whether the input since the last call is of the parser's protocol, if the parser said so.
    #[inline]
    pub(super) fn fits(&mut self) -> Option<bool> {
        self.ledger.has_proved = false;
        self.ledger.fits.take()
    }

    /// Whether the parser has proved that its last input is of its protocol.
    #[inline]
    pub(super) fn has_proved(&self) -> bool {
        self.ledger.has_proved
    }

    /// Clears the answer of another connection's parser, when no parser is called.
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

    /// Whether a connection's parser holds input that it has not proved yet.
    pub(super) fn holds(&self, binding: Binding) -> bool {
        let bound = self.bindings.get(binding);
        bound.is_some_and(|bound| bound.handle.holds_unproved())
    }

    /// Moves the bytes of one direction that the parser holds unproved, before the bytes `at`, to
    /// `to`, which is empty; returns the offset of the first.
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
            call!(&self.parsers, bound.handle, held(to_server, spoke, to), else ());
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

    /// The numbering of a connection's records.
    pub(super) fn numbering(&self, binding: Binding) -> Numbering {
        let bound = self.bindings.get(binding);
        bound.map_or(Numbering::default(), |bound| bound.numbering)
    }

    /// Continues the numbering of a connection that was bound before.
    pub(super) fn number_from(&mut self, binding: Binding, numbering: Numbering) {
        if let Some(bound) = self.bindings.get_mut(binding) {
            bound.numbering = numbering;
        }
    }

    /// Binds a vacated connection to the parser of its successor, which reads it from here on.
    /// False if there is none.
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

    /// Whether a connection's parser has no state of it, so that another one can take over.
    pub(super) fn is_idle(&self, binding: Binding) -> bool {
        let bound = self.bindings.get(binding);
        bound.is_some_and(|bound| call!(&self.parsers, bound.handle, is_idle(), else false))
    }

    /// Removes the binding of a connection that its parser has released.
    pub(super) fn unbind(&mut self, binding: Binding) {
        self.give_back_memory(binding);
        self.bindings.remove(binding);
    }

    /// Until [`Parse::end_limit`], parsers take no more than this of a shard's memory.
    pub(super) fn limit_memory(&self, shard: Shard, most: u32) -> (u64, u64) {
        self.budget.limit(shard.0, most.into())
    }

    pub(super) fn end_limit(&self, shard: Shard, limit: (u64, u64)) {
        self.budget.end_limit(shard.0, limit);
    }

    /// Gives back what a connection took when it was bound.
    fn give_back_memory(&mut self, binding: Binding) {
        if let Some(bound) = self.bindings.get_mut(binding) {
            let memory = core::mem::take(&mut bound.memory);
            self.budget.give_back(bound.shard.0, memory.into());
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
