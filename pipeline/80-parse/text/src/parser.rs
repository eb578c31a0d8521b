//! Connections: which grammar each speaks, and where its directions stand.

use crate::actions::{Actor, Extra, Shared, Side, tell};
use crate::built_in::Protocol;
use crate::fields::Budget;
use crate::options::TextOptions;
use crate::questions::Questions;
use flowpin_counters::{Loss, Losses};
use flowpin_lexer::{Saved, Texts};
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::MessageSink;
use std::sync::Arc;

/// A connection being followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(pub u32);

/// The parsers of one worker: all protocols that have grammars.
#[derive(Debug)]
pub struct Text {
    protocols: Vec<Arc<Protocol>>,
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
    /// The client's, the server's.
    sides: [Side; 2],
}

impl Text {
    /// Parsers of these protocols; all workers share them.
    pub fn new(options: TextOptions, protocols: Vec<Arc<Protocol>>) -> Self {
        Self {
            protocols,
            connections: Vec::new(),
            free: Vec::new(),
            shard_counts: vec![0; 256],
            shared: Shared {
                budget: Budget::new(options.shard_bytes_max),
                questions: Questions::new(options.shard_questions_max, options.questions_max),
                texts: Texts::new(options.shard_bytes_max),
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

    /// Whether a protocol's grammar says itself how it is recognised.
    pub fn identifies(&self, protocol: u16) -> bool {
        let protocol = self.protocols.get(usize::from(protocol));
        protocol.is_some_and(|protocol| !protocol.grammar.identify.is_empty())
    }

    /// Follows a connection; `None` if its shard follows its most.
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

    /// The next bytes of one direction, in order.
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

    /// A datagram: a message of its own. `wire_len` is its length where the capture has only its
    /// beginning.
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
        let (known, budget) = (&grammar.program.fields, &mut self.shared.budget);
        side.extra.fields.clear(known, connection.shard, budget);
    }

    /// `len` bytes of one direction are missing.
    pub fn gap<S: MessageSink>(
        &mut self,
        handle: Handle,
        _at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) {
        let Some(connection) = self.connections.get_mut(handle.0 as usize) else {
            return;
        };
        let Some(protocol) = self.protocols.get(usize::from(connection.protocol)) else {
            return;
        };
        let [client, server] = &mut connection.sides;
        let side = if to_server { client } else { server };
        let texts = &mut self.shared.texts;
        if !side.saved.gap(&protocol.scanner, texts, len) {
            let known = &protocol.grammar.program.fields;
            let budget = &mut self.shared.budget;
            side.extra.taking = None;
            side.extra.fields.clear(known, connection.shard, budget);
            sink.anomaly("text_gap");
        }
    }

    /// One side sends no more.
    pub fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        self.scan(handle, at, to_server, None, sink);
    }

    /// The connection is over: questions without an answer are told. Its handle means nothing any
    /// more.
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
        for side in &mut connection.sides {
            let asked = &mut side.extra.asked;
            while let Some(question) = shared.questions.first(asked) {
                let fields = [&question.fields, &question.fields];
                let message = question.message;
                tell(&protocol.grammar, message, question.at, fields, sink);
                shared.questions.pop(asked, shard, &mut shared.budget);
            }
            side.saved.stop(&mut shared.texts);
            let mut fields = core::mem::take(&mut side.extra.fields);
            fields.forget(shard, &mut shared.budget);
            side.extra = Extra {
                fields,
                ..Extra::default()
            };
        }
        if let Some(count) = self.shard_counts.get_mut(usize::from(shard)) {
            *count = count.saturating_sub(1);
        }
        self.free.push(handle.0);
    }

    /// What did not fit, by name.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        losses.count(Loss::TextConnections, self.connections_lost);
        let cut = self.shared.texts.lost().tokens;
        let cut = cut.saturating_add(self.shared.budget.lost);
        losses.count(Loss::TextMemory, cut);
        losses.count(Loss::TextQuestions, self.shared.questions_lost);
        losses
    }

    /// Bytes of texts held now, of all shards.
    pub fn shared_bytes(&self) -> u64 {
        let held = self.shared.texts.held_bytes();
        self.shared.budget.used_bytes().saturating_add(held)
    }

    /// Scans bytes, or the end.
    fn scan<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        bytes: Option<&[u8]>,
        sink: &mut S,
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
        let shard = connection.shard;
        let [client, server] = &mut connection.sides;
        let (side, peer) = match to_server {
            true => (client, server),
            false => (server, client),
        };
        let shared = &mut self.shared;
        let messages = &protocol.grammar.program.messages;
        let mut actor = Actor {
            grammar: &protocol.grammar,
            only_shows: &protocol.only_shows,
            is_read: messages.iter().any(|message| sink.reads(&message.schema)),
            extra: &mut side.extra,
            peer,
            budget: &mut shared.budget,
            questions: &mut shared.questions,
            questions_lost: &mut shared.questions_lost,
            options: &shared.options,
            shard,
            at,
            sink,
            stops_peer: false,
        };
        let (saved, texts, scanner) = (&mut side.saved, &mut shared.texts, &protocol.scanner);
        match bytes {
            Some(bytes) => scanner.scan(saved, texts, shard, bytes, &mut actor),
            None => scanner.finish(saved, texts, shard, &mut actor),
        }
        if actor.stops_peer {
            actor.peer.saved.stop(&mut shared.texts);
        }
    }
}
