//! Everything that reads a connection's bytes: one queue, and its consumers side by side.
//!
//! ```text
//!  reassembly ─► Feed ─┐                   one event after another, for each consumer
//!                      ├─► queue ─flush─► Connection ─┬─► identify   until there is a verdict
//!  datagrams ──────────┘   of a batch                 ├─► parse      once a verdict bound a parser
//!                                                     └─► (consumers beside both)
//! ```
//!
//! Owns the queue, what each consumer knows of a connection ([`state::State`]), and all that
//! involves more than one consumer: binding a parser by a verdict (`bind`), and doubting a verdict
//! by what its parser says (`doubt`). Guarantees that each consumer gets the events of a connection
//! in order, each once, whatever batches they came in.
//!
//! Rules are a consumer beside both (`examine`): they get the bytes that the parser gets, before
//! it, and what it says, after it; what was sent before a verdict they have seen by then. Their
//! state has its own slab, by the same handle. Where there are none, nothing is done for them.

mod bind;
mod connection;
mod doubt;
mod events;
mod examine;
mod state;
mod view;

pub(super) use events::{Feed, Occasion};
pub(super) use state::CONNECTION_BYTES;
pub use view::{InspectView, Unread};

use crate::exchange::Exchange;
use crate::run::stage_options;
use crate::worker::context::Context;
use crate::worker::identify::IdentifyRules;
use crate::worker::identify::{Identify, IdentifyStats, Phase};
use crate::worker::parse::{Parse, ParseStats};
use crate::worker::rules::Rules;
use connection::Connection;
use events::{QUEUE_LEN, Queued};
use flowpin_capture::{Shedding, Work};
use flowpin_config::Plan;
use flowpin_counters::{Loss, Losses};
use flowpin_flow::{Sighting, Table};
use flowpin_memory::{Budget, Bytes, Pool, Slab};
use flowpin_output::FileError;
use flowpin_packet::{PacketKind, PacketMeta, Shard};
use flowpin_record::{ConnRecord, RecordSink};
use state::State;
use std::io;
use std::time::Instant;

/// The connections of one worker, and the consumers of their bytes.
#[derive(Debug)]
pub(super) struct Inspect {
    states: Slab<State>,
    queue: Vec<Queued>,
    identify: Identify,
    parse: Option<Parse>,
    rules: Option<Rules>,
    /// The memory of the worker's shards, with that of bodies.
    budget: Budget,
    /// Which connections are not looked at under overload, if any may be.
    shedding: Option<Shedding>,
    /// Connections that were not.
    shed_connections: u64,
}

/// A shard's memory while a connection ends: what others have left of it.
pub(super) struct Loan {
    shard: u8,
    left: Bytes,
}

/// How a packet that merely continues its connection reaches the consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FastPath {
    /// No consumer wants it.
    Skip,
    /// Its bytes are queued, if reassembly finds them in order.
    Push,
    /// As these, and then the packet itself.
    PushPacket,
    /// It has to take the slow path.
    Refuse,
}

impl Inspect {
    /// For the connections of a table, with the memory of its shards.
    pub(super) fn new(plan: &Plan, known: &IdentifyRules, table: &Table) -> io::Result<Self> {
        let budget = table.budget();
        let bodies = stage_options::bodies(plan, budget);
        let setup = known.parsers.with_budgets(budget.clone(), bodies);
        Ok(Self {
            states: Slab::with_capacity(table.capacity())?,
            queue: Vec::with_capacity(QUEUE_LEN),
            identify: Identify::new(budget, known, stage_options::searches(plan))?,
            parse: {
                let rules = known.detect.as_ref().map(Exchange::current);
                Parse::new(plan, &setup, rules.as_ref(), table.capacity())?
            },
            rules: match &known.detect {
                Some(rules) => Some(Rules::new(rules, budget, table.capacity())?),
                None => None,
            },
            budget: budget.clone(),
            shedding: None,
            shed_connections: 0,
        })
    }

    #[inline]
    pub(super) fn prefetch(&self, handle: u32) {
        self.states.prefetch(handle);
    }

    /// As in [`flowpin_flow::FlowObserver::prefetch_more`]; with a table also what a verdict will
    /// read of it.
    #[inline]
    pub(super) fn prefetch_more(&self, handle: u32, step: u8, table: Option<&Table>) {
        if let (Some(parse), Some(state)) = (&self.parse, self.states.get(handle)) {
            if !state.binding.is_none() {
                parse.prefetch(state.binding, step);
            } else if let Some(table) = table
                && step == 0
                && state.identity.is(Phase::Searching)
            {
                table.prefetch_peers(handle);
            }
        }
    }

    /// How a packet that merely continues its connection reaches the consumers.
    #[inline]
    pub(super) fn fast_path(&self, meta: &PacketMeta, handle: u32) -> FastPath {
        let is_tcp = meta.kind == PacketKind::Tcp;
        if self.rules.is_some() {
            return match is_tcp {
                true => FastPath::PushPacket,
                false => FastPath::Refuse,
            };
        }
        if is_tcp && meta.payload_len == 0 {
            return FastPath::Skip;
        }
        match self.states.get(handle) {
            Some(state) if state.is_idle() => FastPath::Skip,
            Some(state) if is_tcp && !state.binding.is_none() => FastPath::Push,
            Some(_) => FastPath::Refuse,
            None => FastPath::Skip,
        }
    }

    /// Takes rules that replace those at hand: the number of their first, if there are any. While
    /// no event waits.
    pub(super) fn exchange_rules(&mut self) -> Option<u32> {
        let rules = self.rules.as_mut()?;
        if !rules.is_replaced() {
            return None;
        }
        let since = Instant::now();
        let database = rules.exchange()?;
        if let Some(tap) = self.parse.as_mut().and_then(Parse::tap) {
            tap.exchange(database.clone());
        }
        rules.took(since.elapsed());
        Some(database.first_number())
    }

    /// From here on work is shed under overload.
    pub(super) fn shed(&mut self, shedding: &Shedding) {
        self.shedding = Some(shedding.clone());
        if let Some(parse) = &mut self.parse {
            parse.shed(shedding);
        }
    }

    /// Whether there are rules.
    pub(super) const fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// Whether a consumer wants a connection's events.
    #[inline]
    pub(super) fn is_wanted(&self, handle: u32) -> bool {
        self.rules.is_some()
            || self
                .states
                .get(handle)
                .is_some_and(|state| !state.is_idle())
    }

    /// A connection's first packet.
    pub(super) fn begin(&mut self, sighting: &Sighting<'_>) {
        let shard = sighting.meta.shard();
        let shedding = self.shedding.as_ref();
        let is_shed = shedding.is_some_and(|one| one.sheds(Work::Connections, shard.0));
        self.shed_connections += u64::from(is_shed);
        let phase = match sighting.meta.kind {
            PacketKind::Tcp | PacketKind::Udp | PacketKind::Sctp if !is_shed => Phase::Searching,
            _ => Phase::Done,
        };
        if let Some(rules) = &mut self.rules {
            rules.begin(sighting.handle, sighting.meta, &sighting.frames, is_shed);
        }
        while self.states.high_water() <= sighting.handle {
            if self
                .states
                .insert(State::new(Phase::Done, Shard(0)))
                .is_none()
            {
                return;
            }
        }
        if let Some(state) = self.states.get_mut(sighting.handle) {
            *state = State::new(phase, shard);
        }
    }

    /// Before a connection ends of which more may be read: bytes that were kept until there is a
    /// verdict; of a stream also those that are held, or that its parser has. It has all of its
    /// shard's memory: what its record says must not depend on when its end is noticed.
    pub(super) fn borrow_memory(&self, handle: u32, is_stream: bool) -> Option<Loan> {
        let state = self.states.get(handle)?;
        let shard = state.identity.shard.0;
        let identity = &state.identity;
        let is_read = !state.binding.is_none() || identity.is_doubted();
        let is_read = is_read || self.rules.is_some();
        let is_needed = !identity.is_done() || is_stream && is_read;
        is_needed.then(|| Loan {
            shard,
            left: self.budget.lend(shard),
        })
    }

    /// After it.
    pub(super) fn return_memory(&self, loan: Option<Loan>) {
        if let Some(Loan { shard, left }) = loan {
            self.budget.end_loan(shard, left);
        }
    }

    /// The connection has ended.
    pub(super) fn end<S: RecordSink>(&mut self, handle: u32, context: Context<'_, S>) {
        if let Some(mut connection) = self.connection(handle, context) {
            connection.end();
            connection.end_rules();
        }
    }

    /// A connection with an event at hand.
    #[inline]
    fn connection<'a, S>(
        &'a mut self,
        handle: u32,
        context: Context<'a, S>,
    ) -> Option<Connection<'a, S>> {
        Some(Connection {
            handle,
            state: self.states.get_mut(handle)?,
            identify: &mut self.identify,
            parse: self.parse.as_mut(),
            rules: self.rules.as_mut(),
            context,
        })
    }

    /// Packets of a connection that were searched.
    pub(super) fn inspected(&self, handle: u32) -> u8 {
        self.states
            .get(handle)
            .map_or(0, |state| state.identity.inspected)
    }

    /// Writes the protocol of a connection into its record.
    pub(super) fn write_app(&self, handle: u32, record: &mut ConnRecord) {
        // Where records had to leave amid a batch, later events of other connections still wait.
        debug_assert!(
            self.queue.iter().all(|queued| !queued.is_of(handle)),
            "flushed before a record is made"
        );
        if let Some(state) = self.states.get(handle) {
            self.identify.write(&state.identity, &mut record.app);
        }
        record.alerted = self
            .rules
            .as_ref()
            .is_some_and(|rules| rules.has_alerted(handle));
    }

    /// No connection has a handle of `below` or more: gives the memory of those that had back.
    pub(super) fn forget_above(&mut self, below: u32) {
        self.states.truncate(below);
        if let Some(rules) = &mut self.rules {
            rules.forget_above(below);
        }
    }

    /// The pools of everything that consumers keep of connections.
    pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.identify.pools(visit);
        if let Some(parse) = &mut self.parse {
            parse.pools(visit);
        }
        if let Some(rules) = &mut self.rules {
            rules.pools(visit);
        }
    }

    pub(super) fn losses(&self) -> Losses {
        let mut losses = self.identify.losses;
        losses.count(Loss::ShedConnections, self.shed_connections);
        if let Some(parse) = &self.parse {
            losses.add(&parse.losses());
        }
        if let Some(rules) = &self.rules {
            losses.add(rules.losses());
        }
        losses
    }

    pub(super) const fn identify_stats(&self) -> IdentifyStats {
        self.identify.stats
    }

    pub(super) fn parse_stats(&self) -> ParseStats {
        self.parse.as_ref().map(Parse::stats).unwrap_or_default()
    }

    /// The first file that could not be written.
    pub(super) fn file_error(&self) -> Option<&FileError> {
        self.parse.as_ref()?.file_error()
    }
}
