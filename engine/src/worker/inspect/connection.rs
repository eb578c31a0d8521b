//! One connection with an event at hand: which of its consumers take it, and in which order.

use super::events::Event;
use super::state::State;
use crate::worker::context::Context;
use crate::worker::identify::{Identify, Phase};
use crate::worker::parse::{Binding, Parse};
use crate::worker::rules::Rules;
use flowpin_identify::{On, Step, Whose};
use flowpin_packet::FrameBytes;
use flowpin_parser::Next;
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

/// A connection with an event at hand, and its consumers.
pub(super) struct Connection<'a, S> {
    pub(super) handle: u32,
    pub(super) state: &'a mut State,
    pub(super) identify: &'a mut Identify,
    pub(super) parse: Option<&'a mut Parse>,
    pub(super) rules: Option<&'a mut Rules>,
    pub(super) context: Context<'a, S>,
}

impl<'a, S: RecordSink> Connection<'a, S> {
    /// Shows an event to the consumers.
    #[inline]
    pub(super) fn take(&mut self, at: Span, event: Event, frames: &FrameBytes<'_>) {
        if self.rules.is_some() {
            return self.take_with_rules(at, event, frames);
        }
        self.take_alone(at, event, frames);
    }

    /// Shows an event to identification and to the parser.
    #[inline]
    pub(super) fn take_alone(&mut self, at: Span, event: Event, frames: &FrameBytes<'_>) {
        // It was wanted when it was queued; whether it still is must not depend on the batch.
        if self.state.is_idle() {
            return;
        }
        match event {
            Event::Bytes(stretch) => {
                if !self.state.is_released() {
                    self.read_bytes(at, frames.stretch(stretch));
                }
            }
            Event::Datagram(on, stretch, len) => {
                let payload = (frames.stretch(stretch), len as usize);
                self.datagram(on, at.to_server, payload);
            }
            Event::Gap(len) => {
                // What follows the gap is not searched.
                self.end_side(at);
                self.parse_gap(at, len);
            }
            Event::Urgent => self.parse_urgent(at),
            Event::Closed => {
                self.end_side(at);
                self.parse_closed(at.to_server);
            }
            Event::Over => self.end_streams(),
            Event::Reset => self.release_idle_parser(),
            Event::Reopened(was_reported) => self.reopen(at.to_server, was_reported),
            // For rules alone.
            Event::Packet(_) | Event::Odd(_) => {}
        }
    }

    /// Bytes of a stream that do not wait.
    pub(super) fn bytes(&mut self, at: Span, bytes: &[u8]) {
        if self.rules.is_some() {
            self.examine_bytes(at, bytes);
        }
        if !self.state.is_idle() && !self.state.is_released() {
            self.read_bytes(at, bytes);
        }
        self.examine_messages(None);
    }

    fn read_bytes(&mut self, at: Span, bytes: &[u8]) {
        let identity = &mut self.state.identity;
        let place = (at.to_server, at.offset);
        self.identify.watch_stream(identity, place, bytes);
        if identity.is(Phase::Searching) {
            if identity.is_over(at.to_server) {
                return;
            }
            let whose = self.whose(On::Tcp, at.to_server, at.offset);
            let identity = &mut self.state.identity;
            let step = self.identify.search_bytes(identity, whose, bytes);
            if step == Step::Undecided {
                return;
            }
            self.decide(true, step);
        }
        self.parse_bytes(at, bytes);
        if self.state.identity.is_doubted() {
            self.weigh_bytes(at, bytes);
        }
    }

    /// A datagram: what was captured of it, and its length on the wire.
    fn datagram(&mut self, on: On, to_server: bool, payload: (&[u8], usize)) {
        let identity = &mut self.state.identity;
        let was_known = identity.is_known();
        // Datagrams of the protocol before may come between those of what it turned into.
        let is_searched = !was_known || identity.watch_datagram(payload.0);
        if is_searched && identity.is(Phase::Searching) {
            let whose = self.whose(on, to_server, 0);
            let identity = &mut self.state.identity;
            let step = self.identify.search_datagram(identity, whose, payload);
            self.decide(false, step);
            if was_known {
                return self.parse_datagram(to_server, payload);
            }
        }
        if !self.state.binding.is_none() {
            self.parse_datagram(to_server, payload);
            self.weigh_datagram(on, to_server, payload);
        } else if was_known && self.state.identity.is_doubted() {
            self.doubt_datagram(on, to_server, payload);
        }
    }

    /// One direction of a stream carries no more bytes that could be searched.
    fn end_side(&mut self, at: Span) {
        let (side, identity) = (at.to_server, &mut self.state.identity);
        if identity.is_over(side) {
            return;
        }
        if identity.is_done() {
            if identity.is_doubted() && identity.trust.is_side_refused(side) {
                let but = self.identify.protocol(identity);
                self.end_doubted_side(at, Some(but));
            }
            return;
        }
        identity.set_over(side, true);
        if !identity.is(Phase::Searching) {
            // By the rules alone; if this side fits, the other may still speak.
            let is_by_rules = identity.is_doubted() && self.state.binding.is_none();
            if is_by_rules && !identity.trust.does_fit(side) {
                self.end_doubted_side(at, None);
                self.identify.settle(&mut self.state.identity);
            }
            return;
        }
        let whose = self.whose(On::Tcp, side, at.offset);
        let step = self.identify.end_stream(&mut self.state.identity, whose);
        self.decide(true, step);
    }

    /// Both streams have ended: what the consumers have of the connection is free for others, while
    /// the connection table still knows it.
    fn end_streams(&mut self) {
        let had_parser = !self.state.binding.is_none();
        self.end();
        if had_parser {
            // If one goes on after all, it gets another parser of the kind.
            self.state.identity.close();
        }
    }

    /// The connection has ended.
    pub(super) fn end(&mut self) {
        if self.state.identity.is(Phase::Searching) {
            let step = self.identify.end_search(&self.state.identity);
            self.decide(false, step);
        }
        self.end_parser();
        let identity = &mut self.state.identity;
        self.identify.release(identity);
        identity.go_to(Phase::Done);
    }

    /// Shows the next bytes of a stream to the parser, if there is one.
    #[inline]
    pub(super) fn parse_bytes(&mut self, at: Span, bytes: &[u8]) {
        let next =
            self.call_parser(|parse, binding, context| parse.data(binding, at, bytes, context));
        if let Next::Successor(what, used) = next {
            let rest = bytes.get(used..).unwrap_or_default();
            let offset = at.offset.saturating_add(used as u64);
            self.hand_over(what, Span { offset, ..at }, rest);
        }
    }

    /// Shows a datagram to the parser, if there is one.
    pub(super) fn parse_datagram(&mut self, to_server: bool, payload: (&[u8], usize)) {
        self.call_parser(|parse, binding, context| {
            parse.datagram(binding, to_server, payload, context)
        });
    }

    /// During a search the parser learns of a gap by the offsets after it.
    fn parse_gap(&mut self, at: Span, len: u64) {
        if !self.state.identity.is(Phase::Searching) {
            self.call_parser(|parse, binding, context| parse.gap(binding, at, len, context));
        }
    }

    fn parse_closed(&mut self, to_server: bool) {
        if self.state.identity.is(Phase::Searching) || self.state.binding.is_none() {
            return;
        }
        let next =
            self.call_parser(|parse, binding, context| parse.closed(binding, to_server, context));
        if next == Next::Nothing {
            self.state.identity.close();
        }
    }

    fn parse_urgent(&mut self, at: Span) {
        if let Some(parse) = &mut self.parse {
            parse.passed(self.state.binding, at);
        }
    }

    /// A RST: a parser in the middle of a message stays, in case that the connection goes on; one
    /// that is idle can be bound again.
    fn release_idle_parser(&mut self) {
        if self.state.identity.is_done() && self.parser_says(Parse::is_idle) {
            self.end_parser();
            self.state.identity.close();
        }
    }

    /// What the parser, if there is one, says of the connection.
    pub(super) fn parser_says(&self, ask: impl FnOnce(&Parse, Binding) -> bool) -> bool {
        let parse = self.parse.as_deref();
        parse.is_some_and(|parse| ask(parse, self.state.binding))
    }

    /// Calls the parser, if there is one; unbinds it if it wants no more.
    #[inline]
    fn call_parser(
        &mut self,
        call: impl FnOnce(&mut Parse, Binding, &mut Context<'_, S>) -> Next,
    ) -> Next {
        let Some(parse) = &mut self.parse else {
            return Next::More;
        };
        if self.state.binding.is_none() {
            parse.forget_fits();
            return Next::More;
        }
        let next = call(parse, self.state.binding, &mut self.context);
        if next == Next::Nothing {
            self.unbind();
        }
        next
    }

    /// For a search of bytes at `offset` of one direction.
    pub(super) fn whose(&self, on: On, to_server: bool, offset: u64) -> Whose<'a> {
        Whose {
            shard: self.state.identity.shard,
            ports: self.context.ports(self.handle),
            on,
            to_server,
            connection: self.handle,
            lives: self.context.lives(),
            offset,
            again: None,
        }
    }
}
