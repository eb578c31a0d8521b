//! One verdict replaces another, or none does.

use crate::worker::identify::Phase;
use crate::worker::inspect::connection::Connection;
use crate::worker::parse::ANYWHERE;
use flowpin_identify::{On, ProtocolId, STREAM_BYTES_MAX, Step, Verdict};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl<S: RecordSink> Connection<'_, S> {
    /// Another protocol replaces the verdict: it gets a parser, and what is kept is replayed. False
    /// if that happened too often.
    pub(super) fn replace(&mut self, verdict: Verdict) -> bool {
        let identity = &mut self.state.identity;
        let before = self.identify.protocol(identity);
        if !self.identify.replace(identity, verdict) {
            return false;
        }
        self.bind(verdict.protocol, ANYWHERE);
        let is_servers = !verdict.to_server;
        let mut first = 0;
        if is_servers && !self.state.binding.is_none() {
            let whose = self.whose(On::Tcp, true, 0);
            let identity = &self.state.identity;
            first = self.identify.first_offset(identity, verdict, whose);
        }
        self.replay(first);
        let identity = &mut self.state.identity;
        if !(is_servers && self.identify.names.may_begin_after_lines(before)) {
            self.identify.release(identity);
        }
        if self.state.binding.is_none() && identity.is_done() {
            identity.go_to(Phase::Doubting);
        }
        true
    }

    /// Notes what a parser just bound said of what it got; without a parser the rule says it.
    pub(super) fn note_fit(&mut self, to_server: bool) {
        let fits = self.parse.as_deref_mut().and_then(|parse| parse.fits());
        if fits == Some(true) || self.state.binding.is_none() {
            self.state.identity.trust.fit(to_server);
        }
    }

    /// If both beginnings of a stream were refused, and no rule knows better, it is unknown.
    pub(super) fn drop_if_refused_by_all(&mut self) {
        let identity = &mut self.state.identity;
        if identity.trust.is_side_refused(true)
            && identity.trust.is_side_refused(false)
            && self.identify.drop_verdict(identity)
        {
            self.end_parser();
        }
    }

    /// A client has begun what a server may say after other lines: it did, or may still.
    pub(super) fn search_after_lines(&mut self, at: Span) {
        let identity = &mut self.state.identity;
        if at.to_server || !identity.is_doubted() || !identity.trust.is_side_refused(true) {
            return;
        }
        if at.offset >= STREAM_BYTES_MAX as u64 {
            return self.identify.settle(identity);
        }
        let whose = self.whose(On::Tcp, true, 0);
        let step = self.identify.search_kept(&self.state.identity, whose);
        if let Step::Verdict(verdict) = step
            && self.follows_lines(verdict.protocol)
            && self.replace(verdict)
        {
            self.identify.settle(&mut self.state.identity);
        }
    }

    /// Whether the server has begun a protocol after lines that are not part of it, as it may.
    pub(super) fn follows_lines(&self, protocol: ProtocolId) -> bool {
        let whose = self.whose(On::Tcp, false, 0);
        let identity = &self.state.identity;
        self.identify.follows_lines(identity, protocol, whose)
    }
}
