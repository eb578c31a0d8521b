//! From a verdict to a parser: binding, replay, hand-over.
//!
//! ```text
//!  verdict ──► bind ──► replay of what was kept ──► the bytes at hand, and all later ones
//!    ▲                                                   │
//!    └── searched again ◄── CONNECT, upgrades ◄──────────┘
//! ```

use super::connection::Connection;
use crate::worker::identify::Kept;
use crate::worker::parse::{ANYWHERE, BindRequest};
use flowpin_flow::REPLAYED_BYTES_MAX;
use flowpin_identify::{ProtocolId, Step};
use flowpin_parser::{Next, Successor};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

impl<S: RecordSink> Connection<'_, S> {
    /// What a step of a search comes to: a verdict binds a parser, and what was kept is replayed.
    pub(super) fn decide(&mut self, is_stream: bool, step: Step) {
        let identity = &mut self.state.identity;
        let was_known = identity.is_known();
        match step {
            Step::Undecided => return,
            Step::Verdict(verdict) => {
                if self.identify.take(identity, verdict, is_stream) {
                    self.bind(verdict.protocol, if was_known { ANYWHERE } else { 0 });
                }
            }
            Step::GaveUp(why) => self.identify.give_up(identity, why),
        }
        self.replay(0);
        if is_stream && !was_known {
            self.search_refused();
        }
        let identity = &mut self.state.identity;
        let is_bound = !self.state.binding.is_none();
        if !self.identify.begin_doubt(identity, is_stream, is_bound) {
            self.identify.release(identity);
        }
    }

    /// Gives the connection the parser of a protocol instead of the one it had, from an offset on.
    pub(super) fn bind(&mut self, protocol: ProtocolId, first: u64) {
        let Some(parse) = &mut self.parse else {
            return;
        };
        let names = &self.identify.names;
        let speaks = (names.protocol(protocol), names.in_tools(protocol));
        let before = core::mem::take(&mut self.state.binding);
        let numbering = parse.numbering(before);
        parse.end(before, &mut self.context);
        let Some(kind) = parse.kind(protocol, speaks, names.is_built_in(protocol)) else {
            return;
        };
        if parse.sheds(self.state.identity.shard) {
            return;
        }
        let request = BindRequest {
            kind,
            connection: self.handle,
            protocol,
            shard: self.state.identity.shard,
            next: [first; 2],
        };
        self.state.binding = parse.bind(&request, &self.context);
        parse.number_from(self.state.binding, numbering);
    }

    /// Replays to the parser what was kept before the verdict; of the client's stream what lies at
    /// `first` or after it.
    pub(super) fn replay(&mut self, first: u64) {
        let Some(parse) = &mut self.parse else {
            return;
        };
        let (identity, binding) = (&mut self.state.identity, self.state.binding);
        if binding.is_none() {
            return;
        }
        let (handle, context) = (self.handle, &mut self.context);
        let trust = &mut identity.trust;
        let mut next = Next::More;
        // However much was kept, the packet at hand takes no more: so it may wait (decision 0029).
        let limit = parse.limit_memory(identity.shard, REPLAYED_BYTES_MAX);
        self.identify.replay(identity.search, |kept| match kept {
            Kept::Junk { to_server, len } => parse.leave_out(binding, to_server, len),
            Kept::Bytes {
                to_server,
                offset,
                bytes,
            } => {
                let before = if to_server {
                    first.saturating_sub(offset)
                } else {
                    0
                };
                let rest = usize::try_from(before)
                    .ok()
                    .and_then(|before| bytes.get(before..));
                let bytes = rest.unwrap_or_default();
                if next != Next::More || bytes.is_empty() {
                    return;
                }
                let at = Span {
                    handle,
                    to_server,
                    offset: offset.saturating_add(before),
                };
                next = parse.data(binding, at, bytes, context);
                match parse.fits() {
                    Some(true) => trust.fit(to_server),
                    Some(false) => trust.refuse_side(to_server),
                    None => {}
                }
            }
            Kept::Datagram(one) => {
                if next == Next::More {
                    let payload = (one.bytes, one.wire_len);
                    next = parse.datagram(binding, one.to_server, payload, context);
                }
            }
        });
        parse.end_limit(identity.shard, limit);
        match next {
            Next::More => {}
            Next::Nothing => self.unbind(),
            // What followed it is among what was replayed: too late to search it.
            Next::Successor(..) => self.end_parser(),
        }
    }

    /// The stream turns into something else, from `at` on: in a tunnel into anything.
    #[cold]
    pub(super) fn hand_over(&mut self, what: Successor, at: Span, rest: &[u8]) {
        let (Some(parse), identity) = (&mut self.parse, &mut self.state.identity) else {
            return;
        };
        parse.vacate(self.state.binding, &mut self.context);
        identity.trust.settle();
        self.identify.release(identity);
        let rule = match what {
            Successor::WebSocket => self.identify.names.websocket(),
            Successor::Http2 => self.identify.names.http2(),
            Successor::Tunnel | Successor::Tls | Successor::Other => {
                if self.identify.enter_tunnel(identity) {
                    if !rest.is_empty() {
                        self.bytes(at, rest);
                    }
                    return;
                }
                None
            }
        };
        self.identify.become_known(identity, rule);
        if !parse.go_on_as(self.state.binding, what, &self.context) {
            return self.unbind();
        }
        if !rest.is_empty() {
            self.parse_bytes(at, rest);
        }
    }

    /// A closed stream goes on: so does its parser, or another one of the kind from here on, if
    /// that has released it.
    pub(super) fn reopen(&mut self, to_server: bool, was_reported: bool) {
        let was_released = self.state.is_released();
        self.state.identity.set_over(to_server, false);
        if was_released || was_reported && !self.state.binding.is_none() {
            let protocol = self.identify.protocol(&self.state.identity);
            self.bind(protocol, ANYWHERE);
        }
    }

    /// The parser gets no more of the connection.
    pub(super) fn end_parser(&mut self) {
        if let Some(parse) = &mut self.parse {
            let binding = core::mem::take(&mut self.state.binding);
            parse.end(binding, &mut self.context);
        }
    }

    /// The parser has released the connection.
    pub(super) fn unbind(&mut self) {
        if let Some(parse) = &mut self.parse {
            parse.unbind(core::mem::take(&mut self.state.binding));
        }
    }
}
