//! All grammars together as one of the engine's parsers.

use crate::built_in::{GRAMMARS, Protocol, built_in};
use crate::{Handle, Text, TextOptions};
use flowpin_counters::{Loss, Losses};
use flowpin_lexer::Grammar;
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Ends, Next, Parser, ParserSetup, Reads};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;
use std::sync::Arc;

impl Parser for Text {
    /// Empty: the protocols are those of the grammars.
    const PROTOCOLS: &'static [Reads] = &[];
    const CONNECTION_BYTES: u32 = 512;
    const WITHOUT_ROOM: Loss = Loss::TextConnections;
    const ACCEPTS_OTHERS: bool = true;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let memory = setup.memory;
        let most = TextOptions::default();
        let connections = |most| memory.shard_connections(Self::CONNECTION_BYTES, most);
        let options = TextOptions {
            shard_connections_max: connections(most.shard_connections_max),
            shard_bytes_max: u64::from(memory.shard_bytes(32)),
            shard_questions_max: memory
                .shard_values(32, QUESTION_BYTES)
                .min(most.shard_questions_max),
            ..most
        };
        let mut text = Self::new(options, protocols(setup));
        text.loaded = u16::try_from(setup.parse.loaded.len()).unwrap_or(u16::MAX);
        Ok(text)
    }

    fn schemas(setup: &ParserSetup) -> Vec<&MessageSchema> {
        let all = grammars(setup).into_iter();
        let messages = all.flat_map(|grammar| grammar.program.messages.iter());
        messages.map(|message| &message.schema).collect()
    }

    fn names(setup: &ParserSetup) -> Vec<&str> {
        let all = grammars(setup).into_iter();
        all.map(|grammar| grammar.protocol.as_ref()).collect()
    }

    fn protocol(&self, name: &str) -> Option<u16> {
        self.protocol(name)
    }

    /// The user's grammars come first. A protocol identified by other patterns is parsed by a
    /// user's grammar only if the grammar has signatures of its own.
    fn replaces(&self, name: &str, is_own: bool) -> Option<u16> {
        let loaded = self.protocol(name).filter(|&number| number < self.loaded);
        loaded.filter(|&number| is_own || self.identifies(number))
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        let handle = self.begin(begin.shard, begin.protocol);
        handle.map(|Handle(number)| number)
    }

    #[inline]
    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        self.data(Handle(connection), at, to_server, bytes, sink);
        Next::More
    }

    #[inline]
    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) -> Next {
        self.gap(Handle(connection), at, to_server, len, sink);
        Next::More
    }

    #[inline]
    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        self.closed(Handle(connection), at, to_server, sink);
        Next::More
    }

    #[inline]
    fn datagram<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        (bytes, wire_len): (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        self.datagram(Handle(connection), at, to_server, bytes, wire_len, sink);
        Next::More
    }

    #[inline]
    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.end(Handle(connection), at, sink);
    }

    fn losses(&self) -> Losses {
        self.losses()
    }
}

/// Protocols with grammars: the user's, then the built-in ones that the user's do not replace.
fn protocols(setup: &ParserSetup) -> Vec<Arc<Protocol>> {
    let loaded = setup.parse.loaded.iter();
    let loaded = loaded.map(|grammar| Protocol::loaded(Grammar::clone(grammar)));
    let built_in = built_in().into_iter();
    let built_in = built_in.filter(|one| !is_replaced(&one.grammar, setup));
    loaded.chain(built_in).collect()
}

/// The grammars of [`protocols`], in the same order.
fn grammars(setup: &ParserSetup) -> Vec<&Grammar> {
    let loaded = setup.parse.loaded.iter().map(Arc::as_ref);
    let built_in = GRAMMARS.into_iter().filter(|one| !is_replaced(one, setup));
    loaded.chain(built_in).collect()
}

fn is_replaced(built_in: &Grammar, setup: &ParserSetup) -> bool {
    let mut loaded = setup.parse.loaded.iter();
    loaded.any(|grammar| grammar.protocol == built_in.protocol)
}

/// Approximate memory of an unanswered question.
const QUESTION_BYTES: u64 = 192;
