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
    sides: [Side; 2],
    begin: Begin,
    ends: Ends,
    /// Its number in the TLS parser; none before its first payload.
    reader: Option<u32>,
}

/// One direction.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    frames: Frames,
    /// Bytes of the payload so far that are those of a header of TLS; all of them after a gap.
    head: Head,
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
            sides: [Side::default(); 2],
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
        let Side { frames, head } = if to_server { client } else { server };
        let mut carried = |part: &[u8]| {
            if next == Next::Nothing {
                return;
            }
            let withheld = match head.read(part) {
                Ok(Some(withheld)) => withheld,
                Ok(None) => return,
                Err(NotTls) => return next = Next::Nothing,
            };
            *reader = reader.or_else(|| begin_inside(tls, begin, *ends, budget, losses));
            for part in [withheld, part].into_iter().filter(|part| !part.is_empty()) {
                next = match *reader {
                    Some(reader) if next == Next::More => {
                        tls.data(reader, at, to_server, part, sink)
                    }
                    _ => Next::Nothing,
                };
            }
            if next == Next::Nothing && reader.take().is_some() {
                // The TLS parser has released its connection.
                give_back::<T>(budget, begin.shard);
            }
        };
        if frames.read(bytes, &mut carried).is_err() || next == Next::Nothing {
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
        let Side { frames, head } = if to_server { client } else { server };
        match frames.skip(len) {
            Ok(0) => Next::More,
            Ok(carried) => {
                let carried = carried.saturating_add(head.lose());
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

/// How many of the first bytes of a direction's payload have been read: until they show whether it
/// is TLS, they are withheld.
#[derive(Clone, Copy, Debug, Default)]
struct Head(u8);

/// The payload is not TLS.
struct NotTls;

impl Head {
    /// Reads the next bytes of the payload. If they are TLS beyond doubt, returns those that were
    /// withheld before them.
    fn read(&mut self, part: &[u8]) -> Result<Option<&'static [u8]>, NotTls> {
        let before = usize::from(self.0);
        for (allowed, byte) in HEAD.iter().skip(before).zip(part) {
            if !allowed.contains(byte) {
                return Err(NotTls);
            }
            self.0 = self.0.saturating_add(1);
        }
        let is_read = self.0 == HEAD_LEN;
        Ok(is_read.then(|| FIXED.get(..before).unwrap_or_default()))
    }

    /// Bytes are missing: nothing more is withheld. Returns how many bytes were.
    fn lose(&mut self) -> u64 {
        match core::mem::replace(&mut self.0, HEAD_LEN) {
            HEAD_LEN => 0,
            withheld => withheld.into(),
        }
    }
}

/// RFC 8446 §5.1: the header of a handshake record, version 3.0 to 3.4.
const HEAD: [core::ops::RangeInclusive<u8>; HEAD_LEN as usize] = [22..=22, 3..=3, 0..=4];

const HEAD_LEN: u8 = 3;

/// The bytes of it that can be withheld: each can only be this one.
const FIXED: &[u8] = &[22, 3];
