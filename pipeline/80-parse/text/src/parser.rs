//! Connections: the grammar of each, and the state of its directions.

use crate::actions::{Actor, Extra, Shared, Side, emit_message};
use crate::built_in::{Protocol, built_in};
use crate::feed::Feeding;
use crate::grammars::{grammars, protocols};
use crate::mails::Mails;
use crate::memory::Memory;
use crate::options::TextOptions;
use crate::questions::{NO_CONDITION, NO_MESSAGE, Questions};
use flowpin_content::FILES;
use flowpin_counters::{Loss, Losses};
use flowpin_lexer::{Saved, Sink, Texts, Then};
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Ends, Next, Parser, ParserSetup, Reads, slot_bytes};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;
use std::sync::Arc;

/// The parsers of one worker, for all protocols that have grammars.
#[derive(Debug)]
pub struct Text {
    protocols: Vec<Arc<Protocol>>,
    /// Number of the user's protocols, which come first.
    loaded: u16,
    connections: Slab<Connection>,
    shared: Shared,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    protocol: u16,
    shard: u8,
    /// Client, server.
    sides: [Side; 2],
}

impl Parser for Text {
    /// Empty: the protocols are those of the grammars.
    const PROTOCOLS: &'static [Reads] = &[];
    const CONNECTION_BYTES: u32 = slot_bytes::<Connection>();
    const WITHOUT_ROOM: Loss = Loss::TextConnections;
    const ACCEPTS_OTHERS: bool = true;

    /// The scanners of the bundled grammars.
    fn warm() {
        drop(built_in());
    }

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let mut text = Self::with_protocols(TextOptions::default(), protocols(setup), setup)?;
        text.loaded = u16::try_from(setup.parse.loaded.len()).unwrap_or(u16::MAX);
        Ok(text)
    }

    fn schemas(setup: &ParserSetup) -> Vec<&MessageSchema> {
        let all = grammars(setup).into_iter();
        let messages = all.flat_map(|grammar| grammar.program.messages.iter());
        let own = messages.map(|message| &message.schema);
        let files = setup.files.any().then_some(&FILES);
        own.chain(files).collect()
    }

    fn names(setup: &ParserSetup) -> Vec<&str> {
        let all = grammars(setup).into_iter();
        all.map(|grammar| grammar.protocol.as_ref()).collect()
    }

    fn protocol(&self, name: &str) -> Option<u16> {
        let mut protocols = self.protocols.iter();
        let at = protocols.position(|protocol| protocol.grammar.protocol == name)?;
        u16::try_from(at).ok()
    }

    /// The user's grammars come first. A protocol identified by other patterns is parsed by a
    /// user's grammar only if the grammar has signatures of its own.
    fn replaces(&self, name: &str, is_own: bool) -> Option<u16> {
        let number = self.protocol(name).filter(|&number| number < self.loaded)?;
        let protocol = self.protocols.get(usize::from(number))?;
        let is_replaced = is_own || !protocol.grammar.identify.is_empty();
        is_replaced.then_some(number)
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        let protocol = self.protocols.get(usize::from(begin.protocol))?;
        let side = |condition| Side {
            saved: Saved::new(condition),
            extra: Extra::default(),
        };
        self.connections.insert(Connection {
            protocol: begin.protocol,
            shard: begin.shard.0,
            sides: protocol.grammar.begin.map(side),
        })
    }

    #[inline]
    fn prefetch(&self, connection: u32) {
        self.connections.prefetch(connection);
    }

    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        self.scan(connection, at, to_server, Some(bytes), sink);
        Next::More
    }

    /// A datagram is a complete message.
    fn datagram<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        (payload, _): (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        self.scan(connection, at, to_server, Some(payload), sink);
        self.scan(connection, at, to_server, None, sink);
        let Some(connection) = self.connections.get_mut(connection) else {
            return Next::Nothing;
        };
        let Some(protocol) = self.protocols.get(usize::from(connection.protocol)) else {
            return Next::More;
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
        let (known, memory) = (&grammar.program.fields, &mut self.shared.memory);
        side.extra.fields.clear(known, connection.shard, memory);
        Next::More
    }

    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) -> Next {
        self.with_actor(connection, at, to_server, sink, |saved, texts, actor| {
            if saved.is_stopped() {
                return;
            }
            let resync = saved.resync(&actor.grammar.resync);
            let to = resync.or(actor.grammar.table.parts().resync);
            actor.content_missing(saved, len);
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
        Next::More
    }

    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        self.scan(connection, at, to_server, None, sink);
        Next::More
    }

    /// Unanswered questions are emitted.
    fn end<S: MessageSink>(&mut self, handle: u32, at: Timestamp, sink: &mut S) {
        for to_server in [true, false] {
            self.scan(handle, at, to_server, None, sink);
        }
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let Some(protocol) = self.protocols.get(usize::from(connection.protocol)) else {
            return;
        };
        let shard = connection.shard;
        let shared = &mut self.shared;
        let [client, server] = &mut connection.sides;
        let answers = [&mut server.extra.fields, &mut client.extra.fields].map(core::mem::take);
        let sides = [(client, true), (server, false)];
        for ((side, to_server), mut partial) in sides.into_iter().zip(answers) {
            let asked = &mut side.extra.asked;
            while let Some(question) = shared.questions.first(asked) {
                let how = question.asked;
                // A question with a condition of its own is answered by the fields captured so far.
                let answer = match how.condition {
                    NO_CONDITION => question.fields,
                    _ => partial,
                };
                let fields = [answer, question.fields];
                let fields = fields.map(|fields| fields.values(&shared.memory));
                let message = (how.message, to_server);
                emit_message(&protocol.grammar, message, how.at, fields, sink);
                if how.message != NO_MESSAGE {
                    partial.forget(shard, &mut shared.memory);
                }
                shared.questions.pop(asked, shard, &mut shared.memory);
            }
            partial.forget(shard, &mut shared.memory);
            side.saved.stop(&mut shared.texts);
            if let Some(fed) = &mut side.extra.fed {
                fed.stop(&mut shared.fed_texts);
            }
            side.extra = Extra::default();
        }
        self.connections.remove(handle);
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.connections);
        self.shared.memory.pools(visit);
        self.shared.questions.pools(visit);
        self.shared.texts.pools(visit);
        self.shared.fed_texts.pools(visit);
    }

    fn losses(&self) -> Losses {
        let shared = &self.shared;
        let mut losses = Losses::default();
        let cut = shared.texts.lost().tokens;
        let cut = cut.saturating_add(shared.fed_texts.lost().tokens);
        losses.count(Loss::TextMemory, cut.saturating_add(shared.memory.lost));
        losses.count(Loss::TextQuestions, shared.questions_lost);
        losses.add(&shared.mails.losses);
        losses
    }
}

impl Text {
    /// Creates parsers of these protocols, which all workers share, with the memory that `setup`
    /// has.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn with_protocols(
        options: TextOptions,
        protocols: Vec<Arc<Protocol>>,
        setup: &ParserSetup,
    ) -> io::Result<Self> {
        let budget = &setup.budget;
        let connections = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            protocols,
            loaded: 0,
            connections: Slab::with_capacity(connections)?,
            shared: Shared {
                memory: Memory::new(budget)?,
                questions: Questions::new(budget, options.questions_max)?,
                texts: Texts::new(budget)?,
                fed_texts: Texts::new(budget)?,
                questions_lost: 0,
                mails: Mails::new(setup),
                options,
            },
        })
    }

    /// Scans bytes; `None` is the end of the direction.
    #[inline]
    fn scan<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        bytes: Option<&[u8]>,
        sink: &mut S,
    ) {
        self.with_actor(connection, at, to_server, sink, |saved, texts, actor| {
            if actor.grammar.answers == Some(actor.condition) && saved.is_between_tokens() {
                actor.condition = actor.answer_condition();
                saved.begin(actor.condition);
            }
            let (scanner, shard) = (actor.scanner, actor.shard);
            match bytes {
                Some(bytes) => scanner.scan(saved, texts, shard, bytes, actor),
                None => {
                    // An incomplete part of an inner stream ends as well, and is emitted.
                    actor.extra.is_cut = actor.extra.feeding != Feeding::No;
                    actor.feed_ended();
                    scanner.finish(saved, texts, shard, actor);
                    actor.end_content(false);
                }
            }
        });
    }

    /// Calls `run` with the state of one direction.
    #[inline]
    fn with_actor<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
        run: impl FnOnce(&mut Saved, &mut Texts, &mut Actor<'_, S>),
    ) {
        let Some(connection) = self.connections.get_mut(connection) else {
            return;
        };
        let Some(protocol) = self.protocols.get(usize::from(connection.protocol)) else {
            return;
        };
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
            memory: &mut shared.memory,
            questions: &mut shared.questions,
            questions_lost: &mut shared.questions_lost,
            options: &shared.options,
            mails: &mut shared.mails,
            shared_columns: &protocol.shared_columns,
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
