//! What a server begins behind lines that are none of its protocol (RFC 4253 §4.2).

use super::Identify;
use crate::worker::context::Context;
use flowpin_identify::{Again, On, ProtocolId, STREAM_BYTES_MAX, Step};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl Identify {
    /// A client has begun what a server may say behind other lines: it did, or may still.
    pub(super) fn look_behind_lines<S: RecordSink>(
        &mut self,
        at: Span,
        context: &mut Context<'_, S>,
    ) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        if at.to_server || !state.is_doubted() || !state.trust.is_side_refused(true) {
            return;
        }
        if at.offset >= STREAM_BYTES_MAX as u64 {
            state.trust.settle();
            return self.end_doubt(at.handle);
        }
        let ports = context.ports(at.handle);
        let mut whose = state.whose(On::Tcp, true, ports, 0);
        let but = Some(self.names.protocol_of(state.rule));
        whose.again = Some(Again { but });
        let step = self.searches.look_again(state.search, whose);
        if let Step::Verdict(verdict) = step
            && self.does_follow_lines(at.handle, verdict.protocol, context)
            && self.take_back(at.handle, verdict, context)
            && let Some(state) = self.states.get_mut(at.handle)
        {
            state.trust.settle();
            self.end_doubt(at.handle);
        }
    }

    /// Whether the server has begun a protocol behind lines that are none of it, as it may.
    pub(super) fn does_follow_lines<S: RecordSink>(
        &self,
        handle: u32,
        protocol: ProtocolId,
        context: &Context<'_, S>,
    ) -> bool {
        let Some(state) = self.states.get(handle) else {
            return false;
        };
        let mut whose = state.whose(On::Tcp, false, context.ports(handle), 0);
        whose.again = Some(Again { but: None });
        self.names.begins_behind_lines(protocol)
            && self
                .searches
                .begins_at(state.search, whose, |one| one == protocol)
                .is_some()
    }
}
