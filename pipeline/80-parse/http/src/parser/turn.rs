//! The engine's calls: each is a turn of one side of a connection, whose phase says what its bytes
//! are.

use super::Pools;
use crate::anomaly::Anomaly;
use crate::options::HttpOptions;
use crate::setup::{BUFFERS, options};
use crate::state::{Connection, Phase, Queue, Side};
use crate::{Http, schema};
use flowpin_content::FILES;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Pool;
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads, slot_bytes};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

/// A side that sends, the other one, and what they share.
pub(crate) struct Turn<'a, S> {
    pub(crate) mine: &'a mut Side,
    pub(crate) theirs: &'a mut Side,
    pub(crate) queue: &'a mut Queue,
    pub(crate) pools: &'a mut Pools,
    pub(crate) options: &'a HttpOptions,
    pub(crate) sink: &'a mut S,
    pub(crate) at: Timestamp,
    pub(crate) to_server: bool,
}

impl Parser for Http {
    // Connections of all of these start with HTTP.
    const PROTOCOLS: &'static [Reads] = &[
        Reads::own("http"),
        Reads::called("http-connect", "http"),
        Reads::called("http-proxy", "http"),
        Reads::called("websocket", "http"),
        Reads::called("soap", "http"),
    ];
    const CONNECTION_BYTES: u32 = slot_bytes::<Connection>();
    const WITHOUT_ROOM: Loss = Loss::HttpConnections;
    const BUFFERS: &'static [Buffer] = BUFFERS;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        Self::with_options(options(setup), setup)
    }

    fn schemas(setup: &ParserSetup) -> Vec<&MessageSchema> {
        let files = setup.files.any().then_some(&FILES);
        let own = schema(&options(setup));
        [own].into_iter().chain(files).collect()
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        // Its memory is charged by the caller, and the pool has room for all of a budget.
        self.connections.insert(Connection::new(begin.shard.0))
    }

    #[inline]
    fn prefetch(&self, connection: u32) {
        self.connections.prefetch(connection);
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
        let Some(mut turn) = self.turn(connection, at, to_server, sink) else {
            return Next::More;
        };
        let used = turn.read(bytes);
        match turn.queue.successor {
            Some(successor) => Next::Successor(successor, used),
            None => Next::More,
        }
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
        if let Some(mut turn) = self.turn(connection, at, to_server, sink) {
            turn.gap(len);
        }
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
        if let Some(mut turn) = self.turn(connection, at, to_server, sink) {
            turn.closed();
        }
        if !self.rests(connection, |phase| phase == Phase::Closed) {
            return Next::More;
        }
        // PERF: a connection that is released now is not fetched again when it ends.
        Parser::end(self, connection, at, sink);
        Next::Nothing
    }

    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        for to_server in [true, false] {
            if let Some(mut turn) = self.turn(connection, at, to_server, sink) {
                turn.closed();
            }
        }
        if let Some(mut turn) = self.turn(connection, at, true, sink) {
            turn.write_all_open();
            self.connections.remove(connection);
        }
    }

    fn is_idle(&self, connection: u32) -> bool {
        self.rests(connection, |phase| {
            matches!(phase, Phase::Between | Phase::Closed)
        })
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.connections);
        visit(&mut self.pools.transactions);
        self.pools.texts.pools(visit);
    }

    fn losses(&self) -> Losses {
        self.pools.losses
    }
}

impl Http {
    #[inline]
    fn turn<'a, S: MessageSink>(
        &'a mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &'a mut S,
    ) -> Option<Turn<'a, S>> {
        let Connection {
            client,
            server,
            queue,
        } = self.connections.get_mut(connection)?;
        let (mine, theirs) = if to_server {
            (client, server)
        } else {
            (server, client)
        };
        Some(Turn {
            mine,
            theirs,
            queue,
            pools: &mut self.pools,
            options: &self.options,
            sink,
            at,
            to_server,
        })
    }
}

impl<S: MessageSink> Turn<'_, S> {
    /// Reads bytes, cut anywhere, and returns how many of them were HTTP. If not all, then the
    /// connection has changed to another protocol, to which the rest belongs.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.mine.phase {
                Phase::Between => self.between(rest),
                Phase::FirstLine | Phase::Fields | Phase::Trailer => self.head(rest),
                Phase::MaybeOver => self.over_or_field(rest),
                Phase::Counted => self.counted(rest),
                Phase::MaybeChunked => self.maybe_chunked(rest),
                Phase::ChunkLine => self.chunk_line(rest),
                Phase::ChunkData => self.chunk_data(rest),
                Phase::ChunkEnd => self.chunk_end(rest),
                Phase::UntilClose => self.until_close(rest),
                Phase::Begin => self.begin_response(rest),
                Phase::MaybeFields => self.maybe_fields(rest),
                Phase::MaybeBody => self.maybe_body(rest),
                Phase::MaybeOmitted => self.maybe_omitted(rest),
                Phase::Lost => self.lost(rest),
                Phase::LostInLine => self.lost_in_line(rest),
                Phase::HandedOver => break,
                Phase::Closed => &[],
            };
        }
        bytes.len().wrapping_sub(rest.len())
    }

    /// Reports an anomaly, once for each message.
    #[inline]
    pub(crate) fn report(&mut self, anomaly: Anomaly) {
        if self.mine.reported.add(anomaly) {
            self.sink.anomaly(anomaly.name());
        }
    }
}
