//! From a verdict to a parser: what is bound, replayed, handed over.
//!
//! ```text
//!  verdict ──► bind ──► replay of what was kept ──► the bytes at hand, and all later ones
//!    ▲                                                   │
//!    └── looked at anew ◄── CONNECT, upgrades ◄──────────┘
//! ```

use super::state::{NO_RULE, Phase, State, take};
use super::{Identify, Way};
use crate::worker::context::Context;
use crate::worker::parse::{ANYWHERE, Binding, Next, Successor, Wish};
use flowpin_counters::Loss;
use flowpin_identify::{GaveUp, ProtocolId, Step, Verdict};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl Identify {
    /// What a step of a search comes to: a verdict binds a parser, and what was kept is replayed.
    pub(super) fn decide<S: RecordSink>(
        &mut self,
        handle: u32,
        is_stream: bool,
        step: Step,
        context: &mut Context<'_, S>,
    ) {
        let Some(state) = self.states.get_mut(handle) else {
            return;
        };
        let before = *state;
        match step {
            Step::Undecided => return,
            Step::Verdict(verdict) => {
                if take(state, verdict, &self.names) {
                    if is_stream && before.rule != NO_RULE && !before.has(State::TUNNEL) {
                        // The server has to agree.
                        state.trust.begin();
                    }
                    self.bind(handle, &before, verdict, context);
                }
            }
            Step::GaveUp(why) => {
                if why == GaveUp::Memory {
                    self.losses.count(Loss::IdentifyMemory, 1);
                }
                state.give_up();
            }
        }
        self.replay(handle, 0, context);
        if is_stream && before.rule == NO_RULE {
            self.look_at_replayed(handle, context);
        }
        if !self.begins_doubt(handle, is_stream)
            && let Some(state) = self.states.get_mut(handle)
        {
            self.searches.release(&mut state.search);
        }
    }

    /// Gives a connection the parser of what it turned out to speak, in the place of another.
    pub(super) fn bind<S: RecordSink>(
        &mut self,
        handle: u32,
        before: &State,
        verdict: Verdict,
        context: &mut Context<'_, S>,
    ) {
        let first = if before.rule == NO_RULE { 0 } else { ANYWHERE };
        self.bind_to(handle, before.binding, (verdict.protocol, first), context);
    }

    /// Gives a connection the parser of a protocol, in the place of `before`, from an offset on.
    fn bind_to<S: RecordSink>(
        &mut self,
        handle: u32,
        before: Binding,
        (protocol, first): (ProtocolId, u64),
        context: &mut Context<'_, S>,
    ) {
        let (app, in_tools) = (self.names.protocol(protocol), self.names.in_tools(protocol));
        let is_own = self.names.is_own(protocol);
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(handle)) else {
            return;
        };
        let counted = parse.counted(before);
        parse.end(before, context);
        state.binding = Default::default();
        let Some(kind) = parse.kind(protocol, (app, in_tools), is_own) else {
            return;
        };
        let wish = Wish {
            kind,
            connection: handle,
            protocol,
            shard: state.shard,
            next: [first; 2],
        };
        state.binding = parse.bind(&wish, context);
        parse.count_from(state.binding, counted);
    }

    /// Tells a connection's parser what was kept before the verdict; of the client's stream what
    /// lies at `first` or behind.
    pub(super) fn replay<S: RecordSink>(
        &mut self,
        handle: u32,
        first: u64,
        context: &mut Context<'_, S>,
    ) {
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(handle)) else {
            return;
        };
        if state.binding.is_none() {
            return;
        }
        // Junk that the replay leaves out is not missing.
        for (to_server, junk) in [true, false]
            .into_iter()
            .zip(self.searches.junk(state.search))
        {
            if junk > 0 {
                parse.leave_out(state.binding, to_server, junk.into());
            }
        }
        let mut next = Next::More;
        self.searches
            .replay(state.search, |to_server, offset, bytes| {
                let before = if to_server {
                    first.saturating_sub(offset)
                } else {
                    0
                };
                let rest = usize::try_from(before)
                    .ok()
                    .and_then(|one| bytes.get(one..));
                let bytes = rest.unwrap_or_default();
                if next == Next::More && !bytes.is_empty() {
                    let at = Span {
                        handle,
                        to_server,
                        offset: offset.saturating_add(before),
                    };
                    next = parse.data(state.binding, at, bytes, context);
                    match parse.fits() {
                        Some(true) => state.trust.fit(to_server),
                        Some(false) => state.trust.refuse_side(to_server),
                        None => {}
                    }
                }
            });
        let cut = u64::from(self.searches.cut(state.search));
        self.losses.count(Loss::IdentifyFirstBytes, cut);
        let unkept = self.searches.replay_datagrams(state.search, |one| {
            if next == Next::More {
                let payload = (one.bytes, one.wire_len);
                next = parse.datagram(state.binding, one.to_server, payload, context);
            }
        });
        self.losses
            .count(Loss::IdentifyDatagrams, u64::from(unkept));
        match next {
            Next::More => {}
            Next::Nothing => parse.unbind(core::mem::take(&mut state.binding)),
            // What came behind it is among what is replayed: too late to be looked at anew.
            Next::Successor(..) => {
                let binding = core::mem::take(&mut state.binding);
                parse.end(binding, context);
            }
        }
    }

    /// Tells a connection's parser, if it has one, the next bytes of a stream.
    #[inline]
    pub(super) fn hear<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) {
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(at.handle)) else {
            return;
        };
        if state.binding.is_none() {
            parse.forget_fits();
            return;
        }
        match parse.data(state.binding, at, bytes, context) {
            Next::More => {}
            Next::Nothing => parse.unbind(core::mem::take(&mut state.binding)),
            Next::Successor(what, used) => self.hand_over(at, bytes, (what, used), context),
        }
    }

    /// The connection goes on as something else: in a tunnel as anything.
    #[cold]
    fn hand_over<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        (what, used): (Successor, usize),
        context: &mut Context<'_, S>,
    ) {
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(at.handle)) else {
            return;
        };
        parse.vacate(state.binding, context);
        state.trust.settle();
        self.searches.release(&mut state.search);
        let goes_on_as = match what {
            Successor::WebSocket => self.names.websocket(),
            Successor::Http2 => self.names.http2(),
            _ if !state.turns_into_another() => {
                self.losses.count(Loss::IdentifyChanges, 1);
                None
            }
            Successor::Tunnel | Successor::Tls | Successor::Other => {
                state.go_to(Phase::Looking);
                state.set(State::TUNNEL, true);
                let rest = bytes.get(used..).unwrap_or_default();
                let at = Span {
                    offset: at.offset.saturating_add(used as u64),
                    ..at
                };
                if !rest.is_empty() {
                    self.bytes(at, rest, context);
                }
                return;
            }
        };
        state.go_to(Phase::Done);
        let is_heard =
            what == Successor::WebSocket && parse.go_on_as_websocket(state.binding, context);
        if !is_heard {
            parse.unbind(core::mem::take(&mut state.binding));
        }
        if let Some(rule) = goes_on_as
            && self.names.protocol_of(rule) != self.names.protocol_of(state.rule)
        {
            state.original = self.names.protocol_of(state.rule);
            state.rule = rule;
        }
        if let Some(rest) = bytes
            .get(used..)
            .filter(|rest| is_heard && !rest.is_empty())
        {
            let offset = at.offset.saturating_add(used as u64);
            self.hear(Span { offset, ..at }, rest, context);
        }
    }

    pub(super) fn hear_datagram<S: RecordSink>(
        &mut self,
        at: Span,
        payload: (&[u8], usize),
        context: &mut Context<'_, S>,
    ) {
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(at.handle)) else {
            return;
        };
        if state.binding.is_none() {
            parse.forget_fits();
            return;
        }
        let next = parse.datagram(state.binding, at.to_server, payload, context);
        if next == Next::Nothing {
            parse.unbind(core::mem::take(&mut state.binding));
        }
    }

    pub(super) fn hear_gap<S: RecordSink>(
        &mut self,
        at: Span,
        len: u64,
        context: &mut Context<'_, S>,
    ) {
        // While it is looked at, its parser will hear of the gap by the offsets behind it.
        if self.way(at.handle) != Way::Parser {
            return;
        }
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(at.handle)) else {
            return;
        };
        if !state.is(Phase::Looking) && parse.gap(state.binding, at, len, context) == Next::Nothing
        {
            parse.unbind(core::mem::take(&mut state.binding));
        }
    }

    pub(super) fn hear_closed<S: RecordSink>(&mut self, at: Span, context: &mut Context<'_, S>) {
        if self.way(at.handle) != Way::Parser {
            return;
        }
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(at.handle)) else {
            return;
        };
        if !state.is(Phase::Looking)
            && parse.closed(state.binding, at.to_server, context) == Next::Nothing
        {
            parse.unbind(core::mem::take(&mut state.binding));
            state.let_go();
        }
    }

    /// A RST: a parser that is in the middle of a message stays, in case that the connection goes
    /// on; any other can be had again.
    pub(super) fn hear_reset<S: RecordSink>(&mut self, handle: u32, context: &mut Context<'_, S>) {
        let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(handle)) else {
            return;
        };
        if state.is_done() && parse.is_idle(state.binding) {
            let binding = core::mem::take(&mut state.binding);
            parse.end(binding, context);
            state.let_go();
        }
    }

    /// A stream goes on that was closed: so does its parser, or another one of its kind from here
    /// on, if that has let go of it.
    pub(super) fn goes_on<S: RecordSink>(
        &mut self,
        at: Span,
        told: bool,
        context: &mut Context<'_, S>,
    ) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let was_left = state.was_let_go();
        state.set(State::over(at.to_server), false);
        if was_left || told && !state.binding.is_none() {
            let (binding, protocol) = (state.binding, self.names.protocol_of(state.rule));
            self.bind_to(at.handle, binding, (protocol, ANYWHERE), context);
        }
    }

    /// A byte that is read out of band.
    pub(in crate::worker) fn passed(&mut self, at: Span) {
        if let (Some(parse), Some(state)) = (&mut self.parse, self.states.get(at.handle)) {
            parse.passed(state.binding, at);
        }
    }

    pub(super) fn hear_end<S: RecordSink>(&mut self, handle: u32, context: &mut Context<'_, S>) {
        if let (Some(parse), Some(state)) = (&mut self.parse, self.states.get_mut(handle)) {
            let binding = core::mem::take(&mut state.binding);
            parse.end(binding, context);
        }
    }
}
