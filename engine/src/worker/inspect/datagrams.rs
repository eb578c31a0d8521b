//! Datagrams of a connection whose verdict is doubted.

use super::Identify;
use crate::worker::context::Context;
use flowpin_identify::{Again, On, ProtocolId, Step};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl Identify {
    /// A datagram has been heard by its parser, if it has one. `is_first`: it decided.
    pub(super) fn weigh_datagram<S: RecordSink>(
        &mut self,
        on: On,
        at: Span,
        payload: (&[u8], usize),
        context: &mut Context<'_, S>,
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
                self.look_at_datagram(on, at, payload, Some(but), context);
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
        context: &mut Context<'_, S>,
    ) {
        let is_changed = self.look_at_datagram(on, at, payload, None, context);
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
        context: &mut Context<'_, S>,
    ) -> bool {
        let Some(state) = self.states.get_mut(at.handle) else {
            return false;
        };
        self.stats.count(state);
        let ports = context.ports(at.handle);
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
                if self.take_back(at.handle, verdict, context) {
                    self.hear_datagram(at, payload, context);
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
}

/// So many datagrams in a row that its parser refuses make a verdict doubtful once more.
const REFUSED_MAX: u8 = 4;

/// So many datagrams behind a verdict are looked at where nobody reads them.
const LOOKS_MAX: u8 = 7;
