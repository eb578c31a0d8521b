//! Verdicts that are taken back: by what their own parsers refuse, and by what the other side says.
//!
//! ```text
//!                 a parser reads it          nobody reads it
//!  datagram       it refuses some            the rules look at those that follow
//!  stream         it refuses a beginning     the rules look at the other side's beginning
//!                        └── rules say another ──┴──► bound anew, what is kept is replayed
//! ```
//!
//! One datagram, or one side's first bytes, may be anything: whoever wants to hide sends what looks
//! like another protocol first. So a verdict is doubted until both sides fit it. Of streams the
//! server's word counts most: it answers in what it speaks. How often a verdict is taken back is
//! bounded ([`Trust`](super::trust::Trust)), and so is what is looked at: a stream's beginnings as
//! far as they are looked at at all, and a few datagrams.

use super::Identify;
use super::state::{Phase, State};
use crate::worker::context::Context;
use crate::worker::parse::Parse;
use flowpin_counters::Loss;
use flowpin_identify::{Again, Confidence, GaveUp, On, Step, Verdict};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl Identify {
    /// Bytes of a stream have been heard by its parser, if it has one.
    pub(super) fn weigh_bytes<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) {
        let is_proved = self.parse.as_ref().is_some_and(Parse::has_proved);
        let fits = self.parse.as_mut().and_then(|parse| parse.fits());
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if !state.is_doubted() {
            return;
        }
        if state.binding.is_none() && state.is_done() {
            // Its parser has given up; the rules have not.
            state.go_to(Phase::Doubting);
        }
        if is_proved {
            // PERF: what nobody will read again is not kept: where tens of thousands of
            // connections wait for their servers' words, that is most of what they have.
            self.searches.release(&mut state.search);
            state.trust.fit(at.to_server);
            return self.end_doubt(at.handle);
        }
        let does_fit = state.trust.does_fit(at.to_server);
        let is_refused = state.trust.is_side_refused(at.to_server);
        let has_decided = state.has(State::BY_SERVER) != at.to_server;
        let is_read = !state.binding.is_none();
        let is_kept = !self.searches.kept(state.search, at.to_server).is_empty();
        let holds = |parse: &Parse| parse.holds(state.binding);
        match fits {
            Some(false) if does_fit => self.recall_held(at, context),
            // Its parser holds what it waits with.
            None if does_fit && !is_kept && self.parse.as_ref().is_some_and(holds) => return,
            _ if does_fit => {}
            Some(true) => {
                let is_shared = !has_decided && !is_refused && self.reads_text(at.handle);
                if is_shared && self.is_another(at, bytes, context) {
                    return;
                }
                let is_waiting = |state: &State| at.to_server && state.trust.is_side_refused(true);
                if let Some(state) = self.states.get_mut(at.handle)
                    && (has_decided || !is_waiting(state))
                {
                    state.trust.fit(at.to_server);
                }
                self.end_doubt(at.handle);
            }
            Some(false) if !is_refused => {
                self.recall_held(at, context);
                if let Some(state) = self.states.get_mut(at.handle) {
                    state.trust.refuse_side(at.to_server);
                }
                self.keep_for_replay(at, bytes, context);
                if !at.to_server && self.goes_back(at, bytes, context) {
                    return;
                }
                return self.look_at_beginning(at, bytes, context);
            }
            None if is_read && has_decided && !is_refused => {}
            // A parser that waits, or that passes over what it does not know, proves nothing.
            _ => {
                self.look_on(at, bytes, context);
            }
        }
        self.keep_for_replay(at, bytes, context);
        self.look_behind_lines(at, context);
    }

    /// A client has begun TLS where it may, and the server has answered otherwise: the
    /// connection is what it was. False if that is not so.
    fn goes_back<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) -> bool {
        let Some(state) = self.states.get_mut(at.handle) else {
            return false;
        };
        let (now, before) = (self.names.protocol_of(state.rule), state.original);
        let kept = self.searches.kept(state.search, false);
        let first = kept.first().or(bytes.first());
        let is_record = first.is_some_and(|kind| TLS_RECORDS.contains(kind));
        let rule = self.names.rule_of(before);
        let Some(rule) = rule.filter(|_| !is_record && self.names.becomes(before).contains(&now))
        else {
            return false;
        };
        let verdict = Verdict {
            protocol: before,
            rule,
            confidence: Confidence::Sure,
            to_server: false,
        };
        state.original = now;
        if self.take_back(at.handle, verdict, context) {
            self.hear(at, bytes, context);
            if let Some(state) = self.states.get_mut(at.handle) {
                state.trust.settle();
            }
            self.end_doubt(at.handle);
        } else if let Some(state) = self.states.get_mut(at.handle) {
            state.original = before;
        }
        true
    }

    /// Whether a connection's parser takes lines that other protocols know as well.
    fn reads_text(&self, handle: u32) -> bool {
        let state = self.states.get(handle);
        let binding = state.map(|state| state.binding).unwrap_or_default();
        let parse = self.parse.as_ref();
        parse.is_some_and(|parse| parse.reads_text(binding))
    }

    /// Whether the rules know a side to speak something else, although its parser takes it.
    fn is_another<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) -> bool {
        let rule = |this: &Self| this.states.get(at.handle).map(|state| state.rule);
        let before = rule(self);
        self.look_on(at, bytes, context);
        rule(self) != before
    }

    /// One direction of a stream ends while its verdict is doubted by the rules alone.
    pub(super) fn doubt_over<S: RecordSink>(&mut self, at: Span, context: &mut Context<'_, S>) {
        let ports = context.ports(at.handle);
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if state.trust.does_fit(at.to_server) {
            // The other side is still to be heard.
            return;
        }
        let mut whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
        whose.again = Some(Again { but: None });
        let step = self.searches.stream_ended(&mut state.search, whose);
        self.conclude(at, &[], step, context);
        if let Some(state) = self.states.get_mut(at.handle) {
            state.trust.settle();
            self.end_doubt(at.handle);
        }
    }

    /// One direction ends of which a parser refused the beginning: what it is if no more comes.
    pub(super) fn refused_over<S: RecordSink>(&mut self, at: Span, context: &mut Context<'_, S>) {
        let ports = context.ports(at.handle);
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let mut whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
        let but = Some(self.names.protocol_of(state.rule));
        whose.again = Some(Again { but });
        let step = self.searches.stream_ended(&mut state.search, whose);
        self.conclude(at, &[], step, context);
    }

    /// What a look at one side's beginning comes to.
    pub(super) fn conclude<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        step: Step,
        context: &mut Context<'_, S>,
    ) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let Step::Verdict(verdict) = step else {
            if step == Step::GaveUp(GaveUp::Memory) {
                self.losses.count(Loss::IdentifyMemory, 1);
            }
            return;
        };
        let protocol = self.names.protocol_of(state.rule);
        if self.names.are_one(protocol, verdict.protocol) {
            state.trust.fit(at.to_server);
            return self.end_doubt(at.handle);
        }
        let has_server = state.trust.does_fit(false) || state.has(State::BY_SERVER);
        let is_followed = self.does_follow_lines(at.handle, verdict.protocol, context);
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if at.to_server && has_server && !is_followed {
            if self.names.begins_behind_lines(verdict.protocol) {
                // The server may have said other lines first.
                return state.trust.refuse_side(true);
            }
            // The server knows what it speaks; what the client says, it is told.
            state.trust.settle();
            return self.end_doubt(at.handle);
        }
        if self.take_back(at.handle, verdict, context) {
            // What was replayed is passed over.
            self.hear(at, bytes, context);
            self.note_heard(at);
            if let Some(state) = self.states.get_mut(at.handle)
                && (!at.to_server || is_followed)
            {
                if !at.to_server && self.names.begins_behind_lines(protocol) {
                    // The server may say what the client began behind these lines.
                    state.trust.refuse_side(true);
                } else {
                    state.trust.settle();
                }
            }
            self.end_doubt(at.handle);
        }
    }
}

/// Content types of TLS records (RFC 8446 §5.1, RFC 6520 §3).
const TLS_RECORDS: core::ops::RangeInclusive<u8> = 20..=24;
