//! The beginnings of a stream whose verdict is doubted: what is kept of them, and looked at again.

use super::Identify;
use super::state::{Phase, State};
use crate::worker::context::Context;
use flowpin_identify::{Again, On, STREAM_BYTES_MAX, Step};
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
        context: &mut Context<'_, S>,
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
                self.look_at_beginning(at, &[], context);
            }
        }
    }

    /// What a connection's parser holds of a side of which all else is proved is kept for whoever
    /// takes its place.
    pub(super) fn recall_held<S: RecordSink>(&mut self, told: Span, context: &Context<'_, S>) {
        for to_server in [true, false] {
            let (Some(parse), Some(state)) = (&self.parse, self.states.get_mut(told.handle)) else {
                return;
            };
            self.held.clear();
            let offset = parse.held(state.binding, to_server, told, &mut self.held);
            let is_kept = !self.searches.kept(state.search, to_server).is_empty();
            if !is_kept && !self.held.is_empty() {
                let whose = state.whose(On::Tcp, to_server, context.ports(told.handle), offset);
                self.searches.keep(&mut state.search, whose, &self.held);
            }
        }
    }

    /// Keeps bytes of a doubted stream from its beginning on, as far as beginnings are kept.
    pub(super) fn keep_for_replay<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &Context<'_, S>,
    ) {
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
            let whose = state.whose(On::Tcp, at.to_server, context.ports(at.handle), at.offset);
            // Without memory a parser is told later bytes alone.
            self.searches.keep(&mut state.search, whose, fresh);
        }
    }

    /// A parser has refused the beginning of a direction: what else that may be.
    pub(super) fn look_at_beginning<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) {
        let ports = context.ports(at.handle);
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if self.searches.kept(state.search, at.to_server).is_empty() {
            return self.refused_by_all(at.handle, context);
        }
        let mut whose = state.whose(On::Tcp, at.to_server, ports, at.offset);
        let but = Some(self.names.protocol_of(state.rule));
        whose.again = Some(Again { but });
        let step = self.searches.look_again(state.search, whose);
        self.conclude(at, bytes, step, context);
        self.refused_by_all(at.handle, context);
    }

    /// Goes on looking at a direction's beginning.
    pub(super) fn look_on<S: RecordSink>(
        &mut self,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) {
        let ports = context.ports(at.handle);
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
        self.conclude(at, bytes, step, context);
        if is_over
            && !is_read
            && let Some(state) = self.states.get_mut(at.handle)
        {
            state.trust.settle();
            self.end_doubt(at.handle);
        }
    }
}
