//! The calls of a connection's parser: its input, and the destination of its records.

use super::Parse;
use super::bound::{Binding, Called, pass, side};
use super::outlet::Outlet;
use super::registry::{Handle, Parsers};
use crate::worker::context::Context;
use flowpin_packet::Timestamp;
use flowpin_parser::Next;
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

/// A call of a connection's parser: the connection, and the destination of its records.
struct Call<'a, 't, S> {
    parsers: &'a mut Parsers,
    handle: Handle,
    next: &'a mut [u64; 2],
    time: Timestamp,
    outlet: Outlet<'a, 't, S>,
}

impl Parse {
    /// Bytes of a stream. Bytes that the parser had before are skipped; missing bytes before these
    /// are a gap.
    pub(in crate::worker) fn data<S: RecordSink>(
        &mut self,
        binding: Binding,
        at: Span,
        bytes: &[u8],
        context: &mut Context<'_, S>,
    ) -> Next {
        let Some(mut call) = self.call(binding, context) else {
            return Next::Nothing;
        };
        let (expected, _) = pass(call.next, at, bytes.len() as u64);
        let passed = usize::try_from(expected.saturating_sub(at.offset)).unwrap_or(usize::MAX);
        let bytes = bytes.get(passed..).unwrap_or_default();
        let missing = at.offset.saturating_sub(expected);
        let (parsers, outlet) = (call.parsers, &mut call.outlet);
        if missing > 0 {
            let gone = parsers.gap(call.handle, call.time, at.to_server, missing, outlet);
            if gone == Next::Nothing {
                return gone;
            }
        }
        if bytes.is_empty() {
            return Next::More;
        }
        match parsers.data(call.handle, call.time, at.to_server, bytes, outlet) {
            Next::Successor(what, used) => Next::Successor(what, passed.saturating_add(used)),
            next => next,
        }
    }

    /// Bytes of a stream that the capture does not have.
    pub(in crate::worker) fn gap<S: RecordSink>(
        &mut self,
        binding: Binding,
        at: Span,
        len: u64,
        context: &mut Context<'_, S>,
    ) -> Next {
        let Some(mut call) = self.call(binding, context) else {
            return Next::Nothing;
        };
        let (expected, end) = pass(call.next, at, len);
        if end <= expected {
            return Next::More;
        }
        let (missing, outlet) = (end - expected, &mut call.outlet);
        call.parsers
            .gap(call.handle, call.time, at.to_server, missing, outlet)
    }

    /// A byte that its receiver reads out of band: no gap.
    pub(in crate::worker) fn passed(&mut self, binding: Binding, at: Span) {
        if let Some(bound) = self.bindings.get_mut(binding) {
            let next = side(&mut bound.next, at.to_server);
            if *next == at.offset {
                *next += 1;
            }
        }
    }

    /// One direction of a stream has ended.
    pub(in crate::worker) fn closed<S: RecordSink>(
        &mut self,
        binding: Binding,
        to_server: bool,
        context: &mut Context<'_, S>,
    ) -> Next {
        let Some(mut call) = self.call(binding, context) else {
            return Next::Nothing;
        };
        let outlet = &mut call.outlet;
        call.parsers
            .closed(call.handle, call.time, to_server, outlet)
    }

    /// A datagram, of which the capture may have cut the end.
    pub(in crate::worker) fn datagram<S: RecordSink>(
        &mut self,
        binding: Binding,
        to_server: bool,
        payload: (&[u8], usize),
        context: &mut Context<'_, S>,
    ) -> Next {
        let Some(mut call) = self.call(binding, context) else {
            return Next::Nothing;
        };
        let outlet = &mut call.outlet;
        call.parsers
            .datagram(call.handle, call.time, to_server, payload, outlet)
    }

    /// The connection has ended, or continues without its parser.
    pub(in crate::worker) fn end<S: RecordSink>(
        &mut self,
        binding: Binding,
        context: &mut Context<'_, S>,
    ) {
        self.end_parser(binding, context);
        self.unbind(binding);
    }

    /// A connection continues without its parser, and may get another one.
    pub(in crate::worker) fn vacate<S: RecordSink>(
        &mut self,
        binding: Binding,
        context: &mut Context<'_, S>,
    ) {
        self.end_parser(binding, context);
        self.give_back_room(binding);
        if let Some(bound) = self.bindings.get_mut(binding) {
            bound.handle = Handle::Vacant;
        }
    }

    fn end_parser<S: RecordSink>(&mut self, binding: Binding, context: &mut Context<'_, S>) {
        if let Some(mut call) = self.call(binding, context) {
            call.parsers.end(call.handle, call.time, &mut call.outlet);
        }
    }

    /// Prepares a call of a connection's parser.
    #[inline]
    fn call<'a, 't, S: RecordSink>(
        &'a mut self,
        binding: Binding,
        context: &'a mut Context<'t, S>,
    ) -> Option<Call<'a, 't, S>> {
        let Called {
            handle,
            next,
            numbering,
            shard,
            places,
        } = self.bindings.call(binding, &self.known)?;
        self.ledger.fits = None;
        self.ledger.has_proved = false;
        Some(Call {
            parsers: &mut self.parsers,
            handle,
            next,
            time: context.cause.time,
            outlet: Outlet {
                ledger: &mut self.ledger,
                places,
                numbering,
                shard,
                context,
            },
        })
    }
}
