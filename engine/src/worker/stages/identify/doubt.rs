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
use crate::worker::stages::parse::{Parse, Scene};
use flowpin_counters::Loss;
use flowpin_identify::{
    Again, Confidence, GaveUp, On, ProtocolId, STREAM_BYTES_MAX, Step, Verdict,
};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl Identify {
    /// After a verdict: whether what was kept for it is still of use, because it is doubted.
    pub(super) fn begins_doubt(&mut self, handle: u32, is_stream: bool) -> bool {
        let Some(state) = self.states.get_mut(handle) else {
            return false;
        };
        if !state.is_doubted() {
            return false;
        }
        if !self.names.is_own(self.names.protocol_of(state.rule)) && state.binding.is_none() {
            // The own rules have given up before the user's patterns were asked.
            state.trust.settle();
            return false;
        }
        let by_client = !state.has(State::BY_SERVER);
        let was_over = self.searches.is_side_over(state.search, !by_client);
        self.searches.close_side(state.search, by_client);
        if !state.binding.is_none() {
            return is_stream;
        }
        state.trust.fit(by_client);
        if is_stream && (was_over || state.has(State::over(!by_client))) {
            state.trust.settle();
            return false;
        }
        if state.is_done() {
            state.go_to(Phase::Doubting);
        }
        is_stream
    }

    /// What its parser refused of what was kept before the verdict: what else it may be.
    pub(super) fn look_at_replayed<S: RecordSink>(
        &mut self,
        handle: u32,
        scene: &mut Scene<'_, S>,
    ) {
        for to_server in [true, false] {
            if let Some(state) = self.states.get(handle)
                && state.is_doubted()
                && state.trust.is_side_refused(to_server)
                && !state.trust.does_fit(to_server)
            {
                let at = Span {
                    handle,
                    to_server,
                    offset: 0,
                };
                self.look_at_beginning(at, &[], scene);
            }
        }
    }

    /// A datagram has been heard by its parser, if it has one. `is_first`: it decided.
    pub(super) fn weigh_datagram<S: RecordSink>(
        &mut self,
        on: On,
        at: Span,
        payload: (&[u8], usize),
        scene: &mut Scene<'_, S>,
    ) {
        let fits = self.parse.as_mut().and_then(|parse| parse.fits());
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        match fits {
            Some(true) if state.is_doubted() => {
                state.trust.fit(at.to_server);
                self.end_doubt(at.handle);
            }
            Some(false) => {
                let row = state.trust.refuse();
                if state.trust.is_settled() && row >= REFUSED_MAX {
                    state.trust.doubt();
                }
                if !state.is_doubted() {
                    return;
                }
                let but = self.names.protocol_of(state.rule);
                // No rule knows better: versions that no parser reads are of the protocol, too.
                self.look_at_datagram(on, at, payload, Some(but), scene);
            }
            Some(true) | None => {}
        }
    }

    /// A datagram that nobody reads, of a connection whose verdict is doubted.
    pub(super) fn doubt_datagram<S: RecordSink>(
        &mut self,
        on: On,
        at: Span,
        payload: (&[u8], usize),
        scene: &mut Scene<'_, S>,
    ) {
        let is_changed = self.look_at_datagram(on, at, payload, None, scene);
        if let Some(state) = self.states.get_mut(at.handle)
            && !is_changed
            && state.is_doubted()
            && state.trust.refuse() >= LOOKS_MAX
        {
            state.trust.settle();
            self.end_doubt(at.handle);
        }
    }

    /// Whether the rules say that a datagram is of another protocol, the connection's from now on.
    fn look_at_datagram<S: RecordSink>(
        &mut self,
        on: On,
        at: Span,
        payload: (&[u8], usize),
        but: Option<ProtocolId>,
        scene: &mut Scene<'_, S>,
    ) -> bool {
        let Some(state) = self.states.get_mut(at.handle) else {
            return false;
        };
        self.stats.count(state);
        let ports = scene.ports(at.handle);
        let mut whose = state.whose(on, at.to_server, ports, 0);
        whose.again = Some(Again { but });
        let (bytes, len) = payload;
        let step = self.searches.datagram(&mut state.search, whose, bytes, len);
        let protocol = self.names.protocol_of(state.rule);
        match step {
            Step::Verdict(verdict) if self.names.agree(protocol, verdict.protocol) => {
                state.trust.fit(at.to_server);
                self.end_doubt(at.handle);
                false
            }
            Step::Verdict(verdict) => {
                if self.take_back(at.handle, verdict, scene) {
                    self.hear_datagram(at, payload, scene);
                    self.note_heard(at);
                    true
                } else {
                    false
                }
            }
            Step::GaveUp(_) => {
                self.searches.release(&mut state.search);
                false
            }
            Step::Undecided => false,
        }
    }

    /// Bytes of a stream have been heard by its parser, if it has one.
    pub(super) fn weigh_bytes<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        scene: &mut Scene<'_, S>,
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
            Some(false) if does_fit => self.recall_held(at, scene),
            // Its parser holds what it waits with.
            None if does_fit && !is_kept && self.parse.as_ref().is_some_and(holds) => return,
            _ if does_fit => {}
            Some(true) => {
                let is_shared = !has_decided && !is_refused && self.reads_text(at.handle);
                if is_shared && self.is_another(at, bytes, scene) {
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
                self.recall_held(at, scene);
                if let Some(state) = self.states.get_mut(at.handle) {
                    state.trust.refuse_side(at.to_server);
                }
                self.keep_for_replay(at, bytes, scene);
                if !at.to_server && self.goes_back(at, bytes, scene) {
                    return;
                }
                return self.look_at_beginning(at, bytes, scene);
            }
            None if is_read && has_decided && !is_refused => {}
            // A parser that waits, or that passes over what it does not know, proves nothing.
            _ => {
                self.look_on(at, bytes, scene);
            }
        }
        self.keep_for_replay(at, bytes, scene);
        self.look_behind_lines(at, scene);
    }

    /// What a connection's parser holds of a side of which all else is proved is kept for whoever
    /// takes its place.
    fn recall_held<S: RecordSink>(&mut self, told: Span, scene: &Scene<'_, S>) {
        for to_server in [true, false] {
            let (Some(parse), Some(state)) = (&self.parse, self.states.get_mut(told.handle)) else {
                return;
            };
            self.held.clear();
            let offset = parse.held(state.binding, to_server, told, &mut self.held);
            let is_kept = !self.searches.kept(state.search, to_server).is_empty();
            if !is_kept && !self.held.is_empty() {
                let whose = state.whose(On::Tcp, to_server, scene.ports(told.handle), offset);
                self.searches.keep(&mut state.search, whose, &self.held);
            }
        }
    }

    /// A client has begun TLS where it may, and the server has answered otherwise: the
    /// connection is what it was. False if that is not so.
    fn goes_back<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        scene: &mut Scene<'_, S>,
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
        if self.take_back(at.handle, verdict, scene) {
            self.hear(at, bytes, scene);
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
        scene: &mut Scene<'_, S>,
    ) -> bool {
        let rule = |this: &Self| this.states.get(at.handle).map(|state| state.rule);
        let before = rule(self);
        self.look_on(at, bytes, scene);
        rule(self) != before
    }

    /// One direction of a stream ends while its verdict is doubted by the rules alone.
    pub(super) fn doubt_over<S: RecordSink>(&mut self, at: Span, scene: &mut Scene<'_, S>) {
        let ports = scene.ports(at.handle);
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
        self.conclude(at, &[], step, scene);
        if let Some(state) = self.states.get_mut(at.handle) {
            state.trust.settle();
            self.end_doubt(at.handle);
        }
    }

    /// One direction ends of which a parser refused the beginning: what it is if no more comes.
    pub(super) fn refused_over<S: RecordSink>(&mut self, at: Span, scene: &mut Scene<'_, S>) {
        let ports = scene.ports(at.handle);
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let mut whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
        let but = Some(self.names.protocol_of(state.rule));
        whose.again = Some(Again { but });
        let step = self.searches.stream_ended(&mut state.search, whose);
        self.conclude(at, &[], step, scene);
    }

    /// Keeps bytes of a doubted stream from its beginning on, as far as beginnings are kept.
    fn keep_for_replay<S: RecordSink>(&mut self, at: Span, bytes: &[u8], scene: &Scene<'_, S>) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if !state.is_doubted() {
            return;
        }
        if at.offset >= STREAM_BYTES_MAX as u64 {
            if state.binding.is_none() && state.trust.does_fit(at.to_server) {
                state.trust.settle();
                self.end_doubt(at.handle);
            }
            return;
        }
        let fresh = match self.searches.kept_until(state.search, at.to_server) {
            None => Some(bytes),
            Some(end) => {
                let told = end.checked_sub(at.offset);
                let told = told.and_then(|told| usize::try_from(told).ok());
                told.and_then(|told| bytes.get(told..))
            }
        };
        let kept = self.searches.kept(state.search, at.to_server).len();
        if let Some(fresh) = fresh.filter(|fresh| !fresh.is_empty())
            && kept < STREAM_BYTES_MAX
            && self.parse.is_some()
        {
            let whose = state.whose(On::Tcp, at.to_server, scene.ports(at.handle), at.offset);
            // Without memory a parser is told later bytes alone.
            self.searches.keep(&mut state.search, whose, fresh);
        }
    }

    /// A parser has refused the beginning of a direction: what else that may be.
    fn look_at_beginning<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        scene: &mut Scene<'_, S>,
    ) {
        let ports = scene.ports(at.handle);
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if self.searches.kept(state.search, at.to_server).is_empty() {
            return self.refused_by_all(at.handle, scene);
        }
        let mut whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
        let but = Some(self.names.protocol_of(state.rule));
        whose.again = Some(Again { but });
        let step = self.searches.look_again(state.search, whose);
        self.conclude(at, bytes, step, scene);
        self.refused_by_all(at.handle, scene);
    }

    /// Goes on looking at a direction's beginning.
    fn look_on<S: RecordSink>(&mut self, at: Span, bytes: &[u8], scene: &mut Scene<'_, S>) {
        let ports = scene.ports(at.handle);
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let is_begun = !self.searches.kept(state.search, at.to_server).is_empty();
        let is_read = !state.binding.is_none();
        if !is_begun && at.offset > 0 || at.offset >= STREAM_BYTES_MAX as u64 {
            // Its beginning was looked at for the verdict, or is over.
            if !is_read {
                state.trust.settle();
                self.end_doubt(at.handle);
            }
            return;
        }
        self.stats.count(state);
        let mut whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
        let protocol = self.names.protocol_of(state.rule);
        let but = state
            .trust
            .is_side_refused(at.to_server)
            .then_some(protocol);
        whose.again = Some(Again { but });
        let step = self.searches.stream_bytes(&mut state.search, whose, bytes);
        let is_over = matches!(step, Step::GaveUp(_))
            || step == Step::Undecided && self.searches.is_side_over(state.search, at.to_server);
        self.conclude(at, bytes, step, scene);
        if is_over
            && !is_read
            && let Some(state) = self.states.get_mut(at.handle)
        {
            state.trust.settle();
            self.end_doubt(at.handle);
        }
    }

    /// What a look at one side's beginning comes to.
    fn conclude<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        step: Step,
        scene: &mut Scene<'_, S>,
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
        let is_followed = self.does_follow_lines(at.handle, verdict.protocol, scene);
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
        if self.take_back(at.handle, verdict, scene) {
            // What was replayed is passed over.
            self.hear(at, bytes, scene);
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

/// So many datagrams in a row that its parser refuses make a verdict doubtful once more.
const REFUSED_MAX: u8 = 4;

/// So many datagrams behind a verdict are looked at where nobody reads them.
const LOOKS_MAX: u8 = 7;
