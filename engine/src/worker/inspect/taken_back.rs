//! One verdict takes the place of another, or none does; and a doubt ends.

use super::Identify;
use super::state::{NO_RULE, NONE, Phase, take_again};
use crate::worker::context::Context;
use flowpin_counters::Loss;
use flowpin_identify::{Again, On, Verdict};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl Identify {
    /// Another protocol takes the place of a verdict. False if that has been so too often.
    pub(super) fn take_back<S: RecordSink>(
        &mut self,
        handle: u32,
        verdict: Verdict,
        context: &mut Context<'_, S>,
    ) -> bool {
        let Some(state) = self.states.get_mut(handle) else {
            return false;
        };
        let before = *state;
        if !state.trust.take_back() {
            self.losses.count(Loss::IdentifyChanges, 1);
            state.trust.settle();
            self.end_doubt(handle);
            return false;
        }
        self.stats.taken_back += 1;
        if state.original == NONE {
            state.original = self.names.protocol_of(before.rule);
        }
        take_again(state, verdict, &self.names);
        self.bind(handle, &before, verdict, context);
        let first = self.begins_at(handle, verdict, context);
        self.replay(handle, first, context);
        let may_follow = !verdict.to_server
            && self
                .names
                .begins_behind_lines(self.names.protocol_of(before.rule));
        if let Some(state) = self.states.get_mut(handle) {
            if !may_follow {
                self.searches.release(&mut state.search);
            }
            if state.binding.is_none() && state.is_done() {
                state.go_to(Phase::Doubting);
            }
        }
        true
    }

    /// From where on the client's kept bytes are told to the parser of what the server speaks:
    /// what it took in another sense stands before.
    fn begins_at<S: RecordSink>(
        &self,
        handle: u32,
        verdict: Verdict,
        context: &Context<'_, S>,
    ) -> u64 {
        let state = self.states.get(handle);
        let Some(state) = state.filter(|one| !verdict.to_server && !one.binding.is_none()) else {
            return 0;
        };
        let Some(end) = self.searches.kept_until(state.search, true) else {
            return 0;
        };
        let kept = self.searches.kept(state.search, true);
        let start = end.saturating_sub(kept.len() as u64);
        let mut whose = state.whose(On::Tcp, true, context.ports(handle), start);
        whose.again = Some(Again { but: None });
        let is_it = |one| self.names.are_one(one, verdict.protocol);
        match self.searches.begins_at(state.search, whose, is_it) {
            Some(place) => start.saturating_add(place as u64),
            // Parsers find a line's beginning by themselves.
            None if kept.ends_with(b"\n") => start,
            None => end,
        }
    }

    /// What a parser, bound anew, said of what it was just told; the rule, where nobody reads it.
    pub(super) fn note_heard(&mut self, at: Span) {
        let fits = self.parse.as_mut().and_then(|parse| parse.fits());
        if let Some(state) = self.states.get_mut(at.handle)
            && (fits == Some(true) || state.binding.is_none())
        {
            state.trust.fit(at.to_server);
        }
    }

    /// Both beginnings of a stream were refused, and no rule knows better: it is unknown.
    pub(super) fn refused_by_all<S: RecordSink>(
        &mut self,
        handle: u32,
        context: &mut Context<'_, S>,
    ) {
        if let Some(state) = self.states.get(handle)
            && [true, false].map(|side| state.trust.is_side_refused(side)) == [true; 2]
        {
            self.drop_verdict(handle, context);
        }
    }

    /// A verdict that nothing fits, of which no rule knows better: the connection is unknown.
    fn drop_verdict<S: RecordSink>(&mut self, handle: u32, context: &mut Context<'_, S>) {
        let Some(state) = self.states.get_mut(handle) else {
            return;
        };
        if !state.trust.fits_nothing() || state.rule == NO_RULE {
            return;
        }
        self.stats.taken_back += 1;
        state.rule = NO_RULE;
        state.original = NONE;
        state.go_to(Phase::Done);
        self.searches.release(&mut state.search);
        self.hear_end(handle, context);
    }

    /// Forgets what a doubt needed, if it is over.
    pub(super) fn end_doubt(&mut self, handle: u32) {
        let Some(state) = self.states.get_mut(handle) else {
            return;
        };
        if state.trust.is_settled() {
            if !state.is(Phase::Looking) {
                self.searches.release(&mut state.search);
            }
            if state.is(Phase::Doubting) {
                state.go_to(Phase::Done);
            }
        }
    }
}
