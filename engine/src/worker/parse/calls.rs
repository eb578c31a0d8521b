//! The calls of a connection's parser: its input, and the destination of its records.

use super::Parse;
use super::bound::{Binding, Called, pass, side};
use super::outlet::Outlet;
use super::registry::{Handle, Parsers, call};
use crate::worker::context::Context;
use flowpin_packet::Timestamp;
use flowpin_parser::{Next, Parser};
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

impl<S: RecordSink> Call<'_, '_, S> {
    /// `len` bytes are missing.
    fn gap(&mut self, to_server: bool, len: u64) -> Next {
        let (parsers, time, outlet) = (&mut *self.parsers, self.time, &mut self.outlet);
        call!(&mut parsers, self.handle, gap(time, to_server, len, outlet), else Next::Nothing)
    }
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
        let Some(mut call) = self.call(binding, Some(at.to_server), context) else {
            return Next::Nothing;
        };
        let (expected, _) = pass(call.next, at, bytes.len() as u64);
        let passed = usize::try_from(expected.saturating_sub(at.offset)).unwrap_or(usize::MAX);
        let bytes = bytes.get(passed..).unwrap_or_default();
        let missing = at.offset.saturating_sub(expected);
        if missing > 0 && call.gap(at.to_server, missing) == Next::Nothing {
            return Next::Nothing;
        }
        if bytes.is_empty() {
            return Next::More;
        }
        let (parsers, time, outlet) = (call.parsers, call.time, &mut call.outlet);
        let next = call!(&mut parsers, call.handle, data(time, at.to_server, bytes, outlet),
            else Next::Nothing);
        match next {
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
        let Some(mut call) = self.call(binding, Some(at.to_server), context) else {
            return Next::Nothing;
        };
        let (expected, end) = pass(call.next, at, len);
        if end <= expected {
            return Next::More;
        }
        call.gap(at.to_server, end - expected)
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
        let Some(mut call) = self.call(binding, Some(to_server), context) else {
            return Next::Nothing;
        };
        let (parsers, time, outlet) = (call.parsers, call.time, &mut call.outlet);
        call!(&mut parsers, call.handle, closed(time, to_server, outlet), else Next::Nothing)
    }

    /// A datagram, of which the capture may have cut the end.
    pub(in crate::worker) fn datagram<S: RecordSink>(
        &mut self,
        binding: Binding,
        to_server: bool,
        payload: (&[u8], usize),
        context: &mut Context<'_, S>,
    ) -> Next {
        let Some(mut call) = self.call(binding, Some(to_server), context) else {
            return Next::Nothing;
        };
        let (parsers, time, outlet) = (call.parsers, call.time, &mut call.outlet);
        call!(&mut parsers, call.handle, datagram(time, to_server, payload, outlet),
            else Next::Nothing)
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
        self.give_back_memory(binding);
        if let Some(bound) = self.bindings.get_mut(binding) {
            bound.handle = Handle::Vacant;
        }
    }

    fn end_parser<S: RecordSink>(&mut self, binding: Binding, context: &mut Context<'_, S>) {
        if let Some(mut call) = self.call(binding, None, context) {
            let (parsers, time, outlet) = (call.parsers, call.time, &mut call.outlet);
            call!(&mut parsers, call.handle, end(time, outlet), else ());
        }
    }

    /// Prepares a call of a connection's parser; `to_server`: where its input was sent.
    #[inline]
    fn call<'a, 't, S: RecordSink>(
        &'a mut self,
        binding: Binding,
        to_server: Option<bool>,
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
                to_server,
                context,
            },
        })
    }
}
