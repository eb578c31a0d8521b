//! Connections: the grammar of each, and the state of its directions.

use crate::actions::{Actor, Extra, Shared, Side, emit_message};
use crate::budget::Budget;
use crate::built_in::Protocol;
use crate::feed::Feeding;
use crate::options::TextOptions;
use crate::questions::{NO_CONDITION, NO_MESSAGE, Questions};
use flowpin_counters::{Loss, Losses};
use flowpin_lexer::{Saved, Sink, Texts, Then};
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::MessageSink;
use std::sync::Arc;

/// A connection being followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(pub u32);

/// The parsers of one worker, for all protocols that have grammars.
#[derive(Debug)]
pub struct Text {
    protocols: Vec<Arc<Protocol>>,
    /// Number of the user's protocols, which come first.
    pub(crate) loaded: u16,
    connections: Vec<Connection>,
    free: Vec<u32>,
    shard_counts: Vec<u32>,
    shared: Shared,
    connections_lost: u64,
}

#[derive(Clone, Debug)]
struct Connection {
    protocol: u16,
    shard: u8,
    is_open: bool,
    /// Client, server.
    sides: [Side; 2],
}

impl Text {
    /// Creates parsers of these protocols, which all workers share.
    pub fn new(options: TextOptions, protocols: Vec<Arc<Protocol>>) -> Self {
        Self {
            protocols,
            loaded: 0,
            connections: Vec::new(),
            free: Vec::new(),
            shard_counts: vec![0; 256],
            shared: Shared {
                budget: Budget::new(options.shard_bytes_max),
                questions: Questions::new(options.shard_questions_max, options.questions_max),
                texts: Texts::new(options.shard_bytes_max),
                fed_texts: Texts::new(options.shard_bytes_max.checked_div(FED_PART).unwrap_or(0)),
                questions_lost: 0,
                options,
            },
            connections_lost: 0,
        }
    }

    /// The number of a protocol, for [`Text::begin`].
    pub fn protocol(&self, name: &str) -> Option<u16> {
        let mut protocols = self.protocols.iter();
        let at = protocols.position(|protocol| protocol.grammar.protocol == name)?;
        u16::try_from(at).ok()
    }

    /// Whether a protocol's grammar has signatures of its own.
    pub fn identifies(&self, protocol: u16) -> bool {
        let protocol = self.protocols.get(usize::from(protocol));
        protocol.is_some_and(|protocol| !protocol.grammar.identify.is_empty())
    }

    /// Begins a connection; `None` if its shard is full.
    pub fn begin(&mut self, shard: Shard, protocol: u16) -> Option<Handle> {
        let begin = self.protocols.get(usize::from(protocol))?.grammar.begin;
        let max = self.shared.options.shard_connections_max;
        let count = self.shard_counts.get_mut(usize::from(shard.0))?;
        if *count >= max {
            self.connections_lost = self.connections_lost.saturating_add(1);
            return None;
        }
        *count = count.saturating_add(1);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = u32::try_from(self.connections.len()).ok()?;
                let side = || Side {
                    saved: Saved::new(0),
                    extra: Extra::default(),
                };
                self.connections.push(Connection {
                    protocol,
                    shard: shard.0,
                    is_open: false,
                    sides: [side(), side()],
                });
                slot
            }
        };
        let connection = self.connections.get_mut(slot as usize)?;
        connection.protocol = protocol;
        connection.shard = shard.0;
        connection.is_open = true;
        for (side, condition) in connection.sides.iter_mut().zip(begin) {
            side.saved = Saved::new(condition);
        }
        Some(Handle(slot))
    }

    /// Scans the next bytes of one direction, in order.
    pub fn data<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) {
        self.scan(handle, at, to_server, Some(bytes), sink);
    }

    /// Scans a datagram as a complete message. `wire_len` is its length on the wire, of which the
    /// capture may have only the beginning.
    pub fn datagram<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        payload: &[u8],
        wire_len: usize,
        sink: &mut S,
    ) {
        let _ = wire_len;
        self.scan(handle, at, to_server, Some(payload), sink);
        self.scan(handle, at, to_server, None, sink);
        let Some(connection) = self.connections.get_mut(handle.0 as usize) else {
            return;
        };
        let Some(protocol) = self.protocols.get(usize::from(connection.protocol)) else {
            return;
        };
        let grammar = &protocol.grammar;
        let [client, server] = &mut connection.sides;
        let [client_begin, server_begin] = grammar.begin;
        let (side, begin) = match to_server {
            true => (client, client_begin),
            false => (server, server_begin),
        };
        side.saved = Saved::new(begin);
        side.extra.taking = None;
        side.extra.feeding = Feeding::No;
        if let Some(fed) = &mut side.extra.fed {
            fed.stop(&mut self.shared.fed_texts);
            side.extra.fed = None;
        }
        let (known, budget) = (&grammar.program.fields, &mut self.shared.budget);
        side.extra.fields.clear(known, connection.shard, budget);
    }

    /// Handles `len` missing bytes of one direction.
    pub fn gap<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) {
        self.with_actor(handle, at, to_server, sink, |saved, texts, actor| {
            if saved.is_stopped() {
                return;
            }
            let resync = saved.resync(&actor.grammar.resync);
            let to = resync.or(actor.grammar.table.parts().resync);
            let missed = len.saturating_add(saved.token_len());
            actor.extra.offset = actor.extra.offset.wrapping_add(missed);
            actor.feed_gap(len);
            let is_skipped = saved.gap_to(to, texts, len);
            if is_skipped && saved.skip_len() > 0 {
                return;
            }
            // Nothing is left to skip: the gap ends the skipped part, or lies outside of one.
            let then = actor.skip_ended();
            if !is_skipped {
                actor.gap(resync.is_some());
            } else if let Then::Begin(condition) = then {
                saved.begin(condition);
            }
        });
    }

    /// Ends one direction.
    pub fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        self.scan(handle, at, to_server, None, sink);
    }

    /// Ends the connection and emits its unanswered questions. The handle becomes invalid.
    pub fn end<S: MessageSink>(&mut self, handle: Handle, at: Timestamp, sink: &mut S) {
        for to_server in [true, false] {
            self.scan(handle, at, to_server, None, sink);
        }
        let Some(connection) = self.connections.get_mut(handle.0 as usize) else {
            return;
        };
        let Some(protocol) = self.protocols.get(usize::from(connection.protocol)) else {
            return;
        };
        if !core::mem::replace(&mut connection.is_open, false) {
            return;
        }
        let shard = connection.shard;
        let shared = &mut self.shared;
        let [client, server] = &mut connection.sides;
        let answers = [&mut server.extra.fields, &mut client.extra.fields].map(core::mem::take);
        for (side, mut partial) in [client, server].into_iter().zip(answers) {
            let asked = &mut side.extra.asked;
            while let Some(question) = shared.questions.first(asked) {
                let how = question.asked;
                // A question with a condition of its own is answered by the fields captured so far.
                let answer = match how.condition {
                    NO_CONDITION => &question.fields,
                    _ => &partial,
                };
                let fields = [answer, &question.fields];
                emit_message(&protocol.grammar, how.message, how.at, fields, sink);
                if how.message != NO_MESSAGE {
                    partial.forget(shard, &mut shared.budget);
                }
                shared.questions.pop(asked, shard, &mut shared.budget);
            }
            partial.forget(shard, &mut shared.budget);
            side.saved.stop(&mut shared.texts);
            if let Some(fed) = &mut side.extra.fed {
                fed.stop(&mut shared.fed_texts);
            }
            side.extra = Extra::default();
        }
        if let Some(count) = self.shard_counts.get_mut(usize::from(shard)) {
            *count = count.saturating_sub(1);
        }
        self.free.push(handle.0);
    }

    /// Counts of what did not fit, by name.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        losses.count(Loss::TextConnections, self.connections_lost);
        let cut = self.shared.texts.lost().tokens;
        let cut = cut.saturating_add(self.shared.fed_texts.lost().tokens);
        let cut = cut.saturating_add(self.shared.budget.lost);
        losses.count(Loss::TextMemory, cut);
        losses.count(Loss::TextQuestions, self.shared.questions_lost);
        losses
    }

    /// Bytes of texts currently held, in all shards.
    pub fn shared_bytes(&self) -> u64 {
        let held = self.shared.texts.held_bytes();
        let held = held.saturating_add(self.shared.fed_texts.held_bytes());
        self.shared.budget.used_bytes().saturating_add(held)
    }

    /// Scans bytes; `None` is the end of the direction.
    #[inline]
    fn scan<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        bytes: Option<&[u8]>,
        sink: &mut S,
    ) {
        self.with_actor(handle, at, to_server, sink, |saved, texts, actor| {
            if actor.grammar.answers == Some(actor.condition) && saved.is_between_tokens() {
                actor.condition = actor.answer_condition();
                saved.begin(actor.condition);
            }
            let (scanner, shard) = (actor.scanner, actor.shard);
            match bytes {
                Some(bytes) => scanner.scan(saved, texts, shard, bytes, actor),
                None => {
                    // An incomplete part of an inner stream ends as well, and is emitted.
                    actor.feed_ended();
                    scanner.finish(saved, texts, shard, actor);
                }
            }
        });
    }

    /// Calls `run` with the state of one direction.
    #[inline]
    fn with_actor<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
        run: impl FnOnce(&mut Saved, &mut Texts, &mut Actor<'_, S>),
    ) {
        let Some(connection) = self.connections.get_mut(handle.0 as usize) else {
            return;
        };
        let Some(protocol) = self.protocols.get(usize::from(connection.protocol)) else {
            return;
        };
        if !connection.is_open {
            return;
        }
        let [client, server] = &mut connection.sides;
        let (side, peer) = match to_server {
            true => (client, server),
            false => (server, client),
        };
        let shared = &mut self.shared;
        let messages = &protocol.grammar.program.messages;
        let is_read = protocol.compares || messages.iter().any(|one| sink.reads(&one.schema));
        let mut actor = Actor {
            grammar: &protocol.grammar,
            scanner: &protocol.scanner,
            only_captures: &protocol.only_captures,
            is_read,
            extra: &mut side.extra,
            peer,
            budget: &mut shared.budget,
            questions: &mut shared.questions,
            questions_lost: &mut shared.questions_lost,
            options: &shared.options,
            fed_texts: Some(&mut shared.fed_texts),
            shard: connection.shard,
            at,
            to_server,
            condition: side.saved.condition(),
            sink,
            stops_peer: false,
        };
        let (saved, texts) = (&mut side.saved, &mut shared.texts);
        run(saved, texts, &mut actor);
        if actor.stops_peer {
            actor.peer.saved.stop(texts);
        }
    }
}

/// The pool for inner streams, of which there are few, is smaller than the other by this factor.
const FED_PART: u64 = 4;
