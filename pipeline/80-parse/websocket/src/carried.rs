//! What WebSockets carry, as one of the engine's parsers: TLS, of tunnels that look like web
//! traffic to proxies.
//!
//! The first payload bytes of either side show whether it is TLS. If it is not, as in most
//! WebSockets, the connection is released at once.

use crate::frames::Frames;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Budget, Pool, Slab};
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{
    Begin, Continues, Ends, Next, Parser, ParserSetup, Reads, Successor, slot_bytes,
};
use flowpin_record::MessageSink;
use std::io;

/// The WebSockets of one worker, and a TLS parser that reads their payload.
#[derive(Debug)]
pub struct Carried<T> {
    connections: Slab<Connection>,
    tls: T,
    budget: Budget,
    losses: Losses,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    /// The client's first.
    sides: [Frames; 2],
    begin: Begin,
    ends: Ends,
    /// Its number in the TLS parser; none before its first payload.
    reader: Option<u32>,
}

impl<T: Parser> Parser for Carried<T> {
    /// None: every WebSocket begins with an HTTP request.
    const PROTOCOLS: &'static [Reads] = &[];
    const CONNECTION_BYTES: u32 = slot_bytes::<Connection>();
    const WITHOUT_ROOM: Loss = Loss::WebSocketConnections;
    const CONTINUES: Option<Continues> = Some(Continues {
        successor: Successor::WebSocket,
        protocol: "tls",
    });

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let connections = setup.budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            connections: Slab::with_capacity(connections)?,
            tls: T::new(setup)?,
            budget: setup.budget.clone(),
            losses: Losses::default(),
        })
    }

    fn begin(&mut self, begin: Begin, ends: impl FnOnce() -> Ends) -> Option<u32> {
        self.connections.insert(Connection {
            sides: [Frames::default(); 2],
            begin,
            ends: ends(),
            reader: None,
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
        let Some(Connection {
            sides: [client, server],
            begin,
            ends,
            reader,
        }) = self.connections.get_mut(connection)
        else {
            return Next::Nothing;
        };
        let begin = Begin { at, ..*begin };
        let (tls, budget, losses) = (&mut self.tls, &self.budget, &mut self.losses);
        let mut next = Next::More;
        let mut carried = |from: u64, part: &[u8]| {
            if next == Next::Nothing {
                return;
            }
            if !is_tls(from, part) {
                next = Next::Nothing;
                return;
            }
            *reader = reader.or_else(|| begin_inside(tls, begin, *ends, budget, losses));
            next = match *reader {
                Some(reader) => tls.data(reader, at, to_server, part, sink),
                None => Next::Nothing,
            };
            if next == Next::Nothing && reader.take().is_some() {
                // The TLS parser has released its connection.
                give_back::<T>(budget, begin.shard);
            }
        };
        let side = if to_server { client } else { server };
        if side.read(bytes, &mut carried).is_err() || next == Next::Nothing {
            self.end(connection, at, sink);
            return Next::Nothing;
        }
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
        let Some(found) = self.connections.get_mut(connection) else {
            return Next::Nothing;
        };
        let [client, server] = &mut found.sides;
        let side = if to_server { client } else { server };
        match side.skip(len) {
            Ok(0) => Next::More,
            Ok(carried) => {
                let next = self.pass_on(connection, |tls, reader| {
                    tls.gap(reader, at, to_server, carried, sink)
                });
                self.released(connection, next)
            }
            Err(_) => {
                self.end(connection, at, sink);
                Next::Nothing
            }
        }
    }

    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        let next = self.pass_on(connection, |tls, reader| {
            tls.closed(reader, at, to_server, sink)
        });
        self.released(connection, next)
    }

    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.pass_on(connection, |tls, reader| {
            tls.end(reader, at, sink);
            Next::Nothing
        });
        self.connections.remove(connection);
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.connections);
        self.tls.pools(visit);
    }

    fn losses(&self) -> Losses {
        let mut losses = self.losses;
        losses.add(&self.tls.losses());
        losses
    }
}

impl<T: Parser> Carried<T> {
    /// Calls the TLS parser, if it reads the connection.
    fn pass_on(&mut self, connection: u32, call: impl FnOnce(&mut T, u32) -> Next) -> Next {
        let Some(found) = self.connections.get_mut(connection) else {
            return Next::Nothing;
        };
        let Some(reader) = found.reader else {
            return Next::More;
        };
        let next = call(&mut self.tls, reader);
        if next == Next::Nothing {
            found.reader = None;
            give_back::<T>(&self.budget, found.begin.shard);
        }
        next
    }

    /// Releases the connection if the TLS parser has.
    fn released(&mut self, connection: u32, next: Next) -> Next {
        if next == Next::Nothing {
            self.connections.remove(connection);
        }
        next
    }
}

/// Begins a connection of the parser inside, whose memory the engine does not charge; none, and
/// counted, if its shard has no memory left.
fn begin_inside<T: Parser>(
    inside: &mut T,
    begin: Begin,
    ends: Ends,
    budget: &Budget,
    losses: &mut Losses,
) -> Option<u32> {
    // Of the protocols of the parser, the first.
    let begin = Begin {
        protocol: 0,
        ..begin
    };
    if !budget.take(begin.shard.0, T::CONNECTION_BYTES.into()) {
        losses.count(T::WITHOUT_ROOM, 1);
        return None;
    }
    let begun = inside.begin(begin, || ends);
    if begun.is_none() {
        give_back::<T>(budget, begin.shard);
    }
    begun
}

/// Gives back what a connection of the parser inside took when it began.
fn give_back<T: Parser>(budget: &Budget, shard: Shard) {
    budget.give_back(shard.0, T::CONNECTION_BYTES.into());
}

/// RFC 8446 §5.1: the header of a handshake record, version 3.0 to 3.4.
const HEAD: [core::ops::RangeInclusive<u8>; 3] = [22..=22, 3..=3, 0..=4];

/// Whether payload bytes at offset `from` may be those of a TLS handshake.
fn is_tls(from: u64, part: &[u8]) -> bool {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let heads = HEAD.get(from..).unwrap_or_default();
    heads
        .iter()
        .zip(part)
        .all(|(head, byte)| head.contains(byte))
}
