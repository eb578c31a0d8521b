//! TLS inside WebSockets, as one of the engine's parsers: tunnels that look like web traffic to
//! proxies.
//!
//! The first payload bytes of either side show whether it is TLS. If it is not, as in most
//! WebSockets, the connection is released at once.

use crate::{WebSocket, WebSocketOptions};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Continues, Ends, Next, Parser, ParserSetup, Reads, Successor};
use flowpin_record::MessageSink;
use std::io;

/// The WebSockets of one worker, and a TLS parser that reads their payload.
#[derive(Debug)]
pub struct Carried<T> {
    frames: WebSocket,
    tls: T,
    /// How each connection began, and its endpoints.
    begun: Vec<(Begin, Ends)>,
}

impl<T: Parser> Parser for Carried<T> {
    /// None: every WebSocket begins with an HTTP request.
    const PROTOCOLS: &'static [Reads] = &[];
    const CONNECTION_BYTES: u32 = 256;
    const WITHOUT_ROOM: Loss = Loss::WebSocketConnections;
    const CONTINUES: Option<Continues> = Some(Continues {
        successor: Successor::WebSocket,
        protocol: "tls",
    });

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let most = WebSocketOptions::default().shard_connections_max;
        Ok(Self {
            frames: WebSocket::new(WebSocketOptions {
                shard_connections_max: setup.memory.shard_connections(Self::CONNECTION_BYTES, most),
            })?,
            tls: T::new(&setup.part(TLS_PART))?,
            begun: Vec::new(),
        })
    }

    fn begin(&mut self, begin: Begin, ends: impl FnOnce() -> Ends) -> Option<u32> {
        let connection = self.frames.begin(begin.shard)?;
        let (place, begin) = (connection as usize, (begin, ends()));
        if self.begun.len() <= place {
            self.begun.resize(place.saturating_add(1), begin);
        }
        if let Some(begun) = self.begun.get_mut(place) {
            *begun = begin;
        }
        Some(connection)
    }

    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let Some(&(begin, ends)) = self.begun.get(connection as usize) else {
            return Next::Nothing;
        };
        let tls = &mut self.tls;
        let mut reader = self.frames.reader(connection);
        let mut next = Next::More;
        let mut carried = |from: u64, part: &[u8]| {
            if next == Next::Nothing {
                return;
            }
            if !is_tls(from, part) {
                next = Next::Nothing;
                return;
            }
            reader = reader.or_else(|| tls.begin(Begin { at, ..begin }, || ends));
            next = match reader {
                Some(reader) => tls.data(reader, at, to_server, part, sink),
                None => Next::Nothing,
            };
            if next == Next::Nothing {
                // The TLS parser has released its connection.
                reader = None;
            }
        };
        let read = self.frames.data(connection, to_server, bytes, &mut carried);
        self.frames.set_reader(connection, reader);
        if read.is_err() || next == Next::Nothing {
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
        match self.frames.gap(connection, to_server, len) {
            Ok(0) => Next::More,
            Ok(carried) => self.side(connection, sink, |tls, reader, sink| {
                tls.gap(reader, at, to_server, carried, sink)
            }),
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
        self.side(connection, sink, |tls, reader, sink| {
            tls.closed(reader, at, to_server, sink)
        })
    }

    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        if let Some(reader) = self.frames.reader(connection) {
            self.tls.end(reader, at, sink);
        }
        self.frames.end(connection);
    }

    fn losses(&self) -> Losses {
        let mut losses = *self.frames.losses();
        losses.add(&self.tls.losses());
        losses
    }
}

impl<T: Parser> Carried<T> {
    /// Passes a gap or an end on to the TLS parser, if it reads the connection.
    fn side<S: MessageSink>(
        &mut self,
        connection: u32,
        sink: &mut S,
        pass_on: impl FnOnce(&mut T, u32, &mut S) -> Next,
    ) -> Next {
        let next = match self.frames.reader(connection) {
            Some(reader) => pass_on(&mut self.tls, reader, sink),
            None => Next::More,
        };
        if next == Next::Nothing {
            self.frames.end(connection);
        }
        next
    }
}

/// The TLS parser gets one part in this many of the memory: few WebSockets are tunnels.
const TLS_PART: u64 = 4;

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
