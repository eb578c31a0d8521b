//! Verdicts that are taken back: by what their own parsers refuse, and by what the other side says.
//!
//! ```text
//!                 a parser reads it          no parser reads it
//!  datagram       it refuses some            the rules search those that follow
//!  stream         it refuses a beginning     the rules search the other side's beginning
//!                        └── rules say another ──┴──► that is bound, what is kept is replayed
//! ```
//!
//! One datagram, or one side's first bytes, may be anything: an attacker who wants to hide sends
//! what looks like another protocol first. So a verdict is doubted until both sides fit it. Of
//! streams the server's word counts most: it answers in what it speaks. How often a verdict is
//! taken back is bounded (`identify::trust`), and so is what is searched: a
//! stream's beginnings as far as they are searched at all, and a few datagrams.

mod beginnings;
mod datagrams;
mod replace;

use super::connection::Connection;
use crate::worker::identify::{Phase, again};
use crate::worker::parse::Parse;
use flowpin_identify::{On, ProtocolId, Step};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl<S: RecordSink> Connection<'_, S> {
    /// The parser, if there is one, has read bytes of a stream whose verdict is doubted.
    pub(super) fn weigh_bytes(&mut self, at: Span, bytes: &[u8]) {
        let is_proved = self.parse.as_deref().is_some_and(Parse::has_proved);
        let fits = self.parse.as_deref_mut().and_then(Parse::fits);
        let side = at.to_server;
        let is_parsed = !self.state.binding.is_none();
        let identity = &mut self.state.identity;
        if !is_parsed && identity.is_done() {
            // Its parser has given up; the rules have not.
            identity.go_to(Phase::Doubting);
        }
        if is_proved {
            // PERF: what will not be read again is not kept: where tens of thousands of
            // connections wait for their servers' words, that is most of what they have.
            self.identify.release(identity);
            return self.identify.fit(identity, side);
        }
        let does_fit = identity.trust.does_fit(side);
        let is_refused = identity.trust.is_side_refused(side);
        let has_decided = identity.is_decided_by(side);
        match fits {
            Some(false) if does_fit => self.recall_held(at),
            // Its parser holds what it waits with.
            None if does_fit
                && !self.identify.keeps(identity, side)
                && self.parser_says(Parse::holds) =>
            {
                return;
            }
            _ if does_fit => {}
            Some(true) => {
                // The parser may accept what is of another protocol.
                if !has_decided && !is_refused && self.parser_says(Parse::accepts_others) {
                    let before = self.state.identity.rule;
                    self.search_on(at, bytes);
                    if self.state.identity.rule != before {
                        return;
                    }
                }
                let identity = &mut self.state.identity;
                if has_decided || !(side && identity.trust.is_side_refused(true)) {
                    identity.trust.fit(side);
                }
                self.identify.end_doubt(identity);
            }
            Some(false) if !is_refused => {
                self.recall_held(at);
                self.state.identity.trust.refuse_side(side);
                self.keep_for_replay(at, bytes);
                if side || !self.restore_original(at, bytes) {
                    self.search_beginning(at, bytes);
                }
                return;
            }
            None if is_parsed && has_decided && !is_refused => {}
            // A parser that waits, or that skips what it does not know, proves nothing.
            _ => self.search_on(at, bytes),
        }
        self.keep_for_replay(at, bytes);
        self.search_after_lines(at);
    }

    /// Restores the protocol before TLS if a client began TLS, and the server answered otherwise.
    /// False if that is not so.
    fn restore_original(&mut self, at: Span, bytes: &[u8]) -> bool {
        let identity = &mut self.state.identity;
        let Some(verdict) = self.identify.restore_original(identity, bytes) else {
            return false;
        };
        if self.replace(verdict) {
            self.parse_bytes(at, bytes);
            self.identify.settle(&mut self.state.identity);
        } else {
            self.state.identity.original = verdict.protocol;
        }
        true
    }

    /// One direction of a stream ends: whether the rules say that it was a protocol other than
    /// `but` if no more comes.
    pub(super) fn end_doubted_side(&mut self, at: Span, but: Option<ProtocolId>) {
        let whose = again(self.whose(On::Tcp, at.to_server, at.offset), but);
        let step = self.identify.end_stream(&mut self.state.identity, whose);
        self.conclude(at, &[], step);
    }

    /// What another search of one side's beginning comes to.
    fn conclude(&mut self, at: Span, bytes: &[u8], step: Step) {
        let verdict = match step {
            Step::Verdict(verdict) => verdict,
            Step::GaveUp(why) => return self.identify.count_if_memory(why),
            Step::Undecided => return,
        };
        let identity = &mut self.state.identity;
        let before = self.identify.protocol(identity);
        if self.identify.names.are_one(before, verdict.protocol) {
            return self.identify.fit(identity, at.to_server);
        }
        let has_server = identity.trust.does_fit(false) || !identity.is_decided_by(true);
        let is_followed = self.follows_lines(verdict.protocol);
        let identity = &mut self.state.identity;
        if at.to_server && has_server && !is_followed {
            if self.identify.names.may_begin_after_lines(verdict.protocol) {
                // The server may have said other lines first.
                return identity.trust.refuse_side(true);
            }
            // The server's word counts: the client repeats what it was told.
            return self.identify.settle(identity);
        }
        if !self.replace(verdict) {
            return;
        }
        // What was replayed is skipped.
        self.parse_bytes(at, bytes);
        self.note_fit(at.to_server);
        let identity = &mut self.state.identity;
        if !at.to_server && self.identify.names.may_begin_after_lines(before) {
            // The server may say after these lines what the client began.
            identity.trust.refuse_side(true);
        } else if !at.to_server || is_followed {
            identity.trust.settle();
        }
        self.identify.end_doubt(identity);
    }
}
