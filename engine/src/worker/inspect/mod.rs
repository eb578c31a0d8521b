//! Which protocol each connection speaks: feeds first bytes until there is a verdict.
//!
//! ```text
//!  Looking ──verdict──► Done
//!     ▲        ├─────► Doubting ──► Done      nobody reads it: does the other side fit?
//!     │        └─────► Watching ──► Done      of protocols that may turn into TLS or DTLS
//!     └─ what begins as these do ─┘           (TLS: in a turn of the client's)
//! ```
//!
//! Sixteen bytes a connection, in step with the connection table's handles. What is over and has no
//! parser costs a packet one load and one branch.

mod beginnings;
mod bind;
mod datagrams;
mod doubt;
mod lines;
mod state;
mod taken_back;
mod trust;
mod waiting;

use crate::worker::context::Context;
use crate::worker::identification::{Identification, Names};
use crate::worker::parse::{FileError, Parse, ParseStats};
use flowpin_counters::Losses;
use flowpin_flow::{Sighting, Table};
use flowpin_identify::{GaveUp, On, SearchOptions, Searches, Step};
use flowpin_memory::Slab;
use flowpin_packet::PacketKind;
use flowpin_reassembly::{Closed, Span, StreamConsumer};
use flowpin_record::{ConnRecord, RecordSink};
use state::{NO_RULE, Phase, State};
use std::io;
use std::sync::Arc;
use waiting::{Heard, PLACES};

/// The connections of one worker.
#[derive(Debug)]
pub(super) struct Identify {
    states: Slab<State>,
    searches: Searches,
    names: Arc<Names>,
    losses: Losses,
    stats: IdentifyStats,
    parse: Option<Parse>,
    waiting: Vec<Heard>,
    /// What a parser held, while it is handed over.
    held: Vec<u8>,
}

/// What a packet that is simply the next one has to go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Neither is it looked at nor parsed.
    Nothing,
    /// It is looked at.
    Search,
    /// It has a parser, and may be looked at.
    Parser,
}

/// What identification did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentifyStats {
    /// Connections of which bytes were looked at.
    pub searched: u64,
    /// Packets whose bytes were looked at: segments in order, and datagrams.
    pub inspected: u64,
    /// Verdicts that were taken back.
    pub taken_back: u64,
}

impl IdentifyStats {
    pub(crate) fn add(&mut self, other: &Self) {
        self.searched += other.searched;
        self.inspected += other.inspected;
        self.taken_back += other.taken_back;
    }
}

impl Identify {
    /// For connections whose handles are below `connections_max`.
    pub(super) fn new(
        known: &Identification,
        options: SearchOptions,
        parse: Option<Parse>,
        connections_max: u32,
    ) -> io::Result<Self> {
        Ok(Self {
            states: Slab::with_capacity(connections_max)?,
            searches: Searches::new(Arc::clone(&known.identifier), options)?,
            names: Arc::clone(&known.names),
            losses: Losses::default(),
            stats: IdentifyStats::default(),
            parse,
            waiting: Vec::with_capacity(PLACES),
            held: Vec::new(),
        })
    }

    #[inline]
    pub(super) fn prefetch(&self, handle: u32) {
        self.states.prefetch(handle);
    }

    /// As in [`flowpin_flow::FlowObserver::prefetch_more`].
    #[inline]
    pub(super) fn prefetch_more(&self, handle: u32, step: u8) {
        if let (Some(parse), Some(state)) = (&self.parse, self.states.get(handle))
            && !state.binding.is_none()
        {
            parse.prefetch(state.binding, step);
        }
    }

    /// As [`prefetch_more`](Self::prefetch_more); also what a verdict will ask of the connection.
    #[inline]
    fn prefetch_for(&self, table: &Table, handle: u32, step: u8) {
        if let (Some(parse), Some(state)) = (&self.parse, self.states.get(handle)) {
            if !state.binding.is_none() {
                parse.prefetch(state.binding, step);
            } else if step == 0 && state.is(Phase::Looking) {
                table.prefetch_peers(handle);
            }
        }
    }

    /// What a packet that is simply the next one of a connection has to go through.
    #[inline]
    pub(super) fn way(&self, handle: u32) -> Way {
        match self.states.get(handle) {
            Some(state) if !state.is_idle() => {
                if state.binding.is_none() {
                    Way::Search
                } else {
                    Way::Parser
                }
            }
            _ => Way::Nothing,
        }
    }

    /// A connection's first packet.
    pub(super) fn begin(&mut self, sighting: &Sighting<'_>) {
        let phase = match sighting.meta.kind {
            PacketKind::Tcp | PacketKind::Udp | PacketKind::Sctp => Phase::Looking,
            _ => Phase::Done,
        };
        while self.states.high_water() <= sighting.handle {
            if self.states.insert(State::new(Phase::Done)).is_none() {
                return;
            }
        }
        if let Some(state) = self.states.get_mut(sighting.handle) {
            *state = State::new(phase);
            state.shard = sighting.meta.shard();
        }
    }

    /// Whether its bytes are neither looked at nor parsed.
    #[inline]
    fn is_idle(&self, handle: u32) -> bool {
        self.states.get(handle).is_none_or(State::is_idle)
    }

    /// A datagram: what was captured of it, and how long it was on the wire.
    fn datagram<S: RecordSink>(
        &mut self,
        on: On,
        at: Span,
        payload: (&[u8], usize),
        context: &mut Context<'_, S>,
    ) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if state.is_idle() {
            return;
        }
        let (bytes, len) = payload;
        let was_known = state.rule != NO_RULE;
        // What goes on as before may come between what it turned into.
        let is_searched = state.rule == NO_RULE || state.watch_datagram(bytes);
        if is_searched && state.is(Phase::Looking) {
            self.stats.count(state);
            let ports = context.ports(at.handle);
            let whose = state.whose(on, at.to_server, ports, 0);
            let step = self.searches.datagram(&mut state.search, whose, bytes, len);
            self.decide(at.handle, false, step, context);
            if was_known {
                return self.hear_datagram(at, payload, context);
            }
        }
        match self.states.get(at.handle) {
            Some(state) if !state.binding.is_none() => {
                self.hear_datagram(at, payload, context);
                self.weigh_datagram(on, at, payload, context);
            }
            Some(state) if was_known && state.is_doubted() => {
                self.doubt_datagram(on, at, payload, context);
            }
            _ => {}
        }
    }

    /// The next bytes of a stream.
    #[inline]
    pub(super) fn bytes<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) {
        if !self.is_idle(at.handle) && !self.was_let_go(at.handle) {
            self.look_at_bytes(at, bytes, context);
        }
    }

    fn was_let_go(&self, handle: u32) -> bool {
        self.states.get(handle).is_some_and(State::was_let_go)
    }

    fn look_at_bytes<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let begins_turn = state.has(State::SERVERS_TURN) == at.to_server;
        state.set(State::SERVERS_TURN, !at.to_server);
        if state.is(Phase::Watching) {
            if begins_turn && at.to_server && bytes.first() == Some(&TLS_HANDSHAKE) {
                state.trust.settle();
                self.searches.release(&mut state.search);
                state.go_to(Phase::Looking);
            } else if at.offset > WATCHED_BYTES {
                state.go_to(Phase::Done);
            }
        }
        if state.is(Phase::Looking) {
            if state.has(State::over(at.to_server)) {
                return;
            }
            self.stats.count(state);
            let state = *state;
            let ports = context.ports(at.handle);
            let whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
            let mut search = state.search;
            let step = self.searches.stream_bytes(&mut search, whose, bytes);
            if let Some(state) = self.states.get_mut(at.handle) {
                state.search = search;
            }
            if step == Step::Undecided {
                return;
            }
            self.decide(at.handle, true, step, context);
        }
        self.hear(at, bytes, context);
        if let Some(state) = self.states.get(at.handle)
            && state.is_doubted()
        {
            self.weigh_bytes(at, bytes, context);
        }
    }

    /// Bytes of a stream that the capture does not have: what comes behind them is not looked at.
    pub(super) fn gap<S: RecordSink>(&mut self, at: Span, len: u64, context: &mut Context<'_, S>) {
        self.side_over(at, context);
        self.hear_gap(at, len, context);
    }

    /// One side of a stream sends no more.
    pub(super) fn closed<S: RecordSink>(&mut self, at: Span, context: &mut Context<'_, S>) {
        self.side_over(at, context);
        self.hear_closed(at, context);
    }

    fn side_over<S: RecordSink>(&mut self, at: Span, context: &mut Context<'_, S>) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let side = State::over(at.to_server);
        if state.has(side) {
            return;
        }
        if state.is_done() {
            if state.is_doubted() && state.trust.is_side_refused(at.to_server) {
                self.refused_over(at, context);
            }
            return;
        }
        state.set(side, true);
        if state.is(Phase::Doubting) || state.is(Phase::Watching) {
            if state.is_doubted() && state.binding.is_none() {
                self.doubt_over(at, context);
            }
            return;
        }
        let state = *state;
        let ports = context.ports(at.handle);
        let whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
        let mut search = state.search;
        let step = self.searches.stream_ended(&mut search, whose);
        self.decide(at.handle, true, step, context);
    }

    /// Packets of a connection that were looked at.
    pub(super) fn inspected(&self, handle: u32) -> u8 {
        self.states.get(handle).map_or(0, |state| state.inspected)
    }

    /// What is known of a connection goes into its record.
    pub(super) fn tell(&self, handle: u32, record: &mut ConnRecord) {
        if let Some(state) = self.states.get(handle) {
            state.write(&self.names, &mut record.app);
        }
    }

    /// Both streams have ended: what its parser and its search had of it is free for others, while
    /// the connection table still knows it.
    fn over<S: RecordSink>(&mut self, handle: u32, context: &mut Context<'_, S>) {
        let state = self.states.get(handle);
        let had_parser = state.is_some_and(|state| !state.binding.is_none());
        self.end(handle, context);
        if had_parser && let Some(state) = self.states.get_mut(handle) {
            // If one goes on after all, it gets another parser of the kind.
            state.let_go();
        }
    }

    /// The connection has ended.
    pub(super) fn end<S: RecordSink>(&mut self, handle: u32, context: &mut Context<'_, S>) {
        let Some(state) = self.states.get_mut(handle) else {
            return;
        };
        if state.is(Phase::Looking) {
            let step = match self.searches.held(state.search) {
                Some(verdict) => Step::Verdict(verdict),
                None => Step::GaveUp(GaveUp::NothingFits),
            };
            self.decide(handle, false, step, context);
        }
        self.hear_end(handle, context);
        if let Some(state) = self.states.get_mut(handle) {
            self.searches.release(&mut state.search);
            state.go_to(Phase::Done);
        }
    }

    pub(super) fn losses(&self) -> Losses {
        let mut losses = self.losses;
        if let Some(parse) = &self.parse {
            losses.add(&parse.losses());
        }
        losses
    }

    /// The first file that could not be written.
    pub(super) fn file_error(&self) -> Option<&FileError> {
        self.parse.as_ref()?.file_error()
    }

    pub(super) fn parse_stats(&self) -> ParseStats {
        self.parse.as_ref().map(Parse::stats).unwrap_or_default()
    }

    pub(super) const fn stats(&self) -> IdentifyStats {
        self.stats
    }
}

impl IdentifyStats {
    fn count(&mut self, state: &mut State) {
        self.inspected += 1;
        self.searched += u64::from(state.inspected == 0);
        state.inspected = state.inspected.saturating_add(1);
    }
}

/// What a connection's end says about its streams.
pub(super) struct Ending<'a, 'b, S> {
    pub(super) identify: &'a mut Identify,
    pub(super) context: &'a mut Context<'b, S>,
}

impl<S: RecordSink> StreamConsumer for Ending<'_, '_, S> {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        self.identify.bytes(at, bytes, self.context);
    }

    fn gap(&mut self, at: Span, len: u64) {
        self.identify.gap(at, len, self.context);
    }

    fn urgent(&mut self, at: Span, _: u8) {
        self.identify.passed(at);
    }

    fn closed(&mut self, at: Span, _: Closed) {
        self.identify.closed(at, self.context);
    }
}

/// Content type of a TLS record with a handshake message (RFC 8446 §5.1).
const TLS_HANDSHAKE: u8 = 22;

/// So many bytes of each side are watched for a change to TLS.
const WATCHED_BYTES: u64 = 64 << 10;
