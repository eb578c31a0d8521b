//! HTTP as one of the engine's parsers.

use crate::options::{BodyOptions, HttpOptions};
use crate::{FILES, Handle, Http, schema};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::{SHARD_COUNT, Timestamp};
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserMemory, ParserSetup, Reads};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

impl Parser for Http {
    // All of these begin as HTTP.
    const PROTOCOLS: &'static [Reads] = &[
        Reads::own("http"),
        Reads::called("http-connect", "http"),
        Reads::called("http-proxy", "http"),
        Reads::called("websocket", "http"),
        Reads::called("soap", "http"),
    ];
    const CONNECTION_BYTES: u32 = 384;
    const WITHOUT_ROOM: Loss = Loss::HttpConnections;
    const BUFFERS: &'static [Buffer] = BUFFERS;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        Self::new(options(setup))
    }

    fn schemas(setup: &ParserSetup) -> Vec<&MessageSchema> {
        let files = setup.files.any().then_some(&FILES);
        let own = schema(&options(setup));
        [own].into_iter().chain(files).collect()
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.begin(begin.shard).map(|Handle(number)| number)
    }

    #[inline]
    fn prefetch(&self, connection: u32) {
        self.prefetch(Handle(connection));
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
        let handle = Handle(connection);
        let used = self.data(handle, at, to_server, bytes, sink);
        match self.successor(handle) {
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
        let handle = Handle(connection);
        self.closed(handle, at, to_server, sink);
        if !self.is_over(handle) {
            return Next::More;
        }
        // PERF: what is over now need not be fetched again when the connection ends.
        self.end(handle, at, sink);
        Next::Nothing
    }

    #[inline]
    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.end(Handle(connection), at, sink);
    }

    fn is_idle(&self, connection: u32) -> bool {
        self.is_idle(Handle(connection))
    }

    fn losses(&self) -> Losses {
        *self.losses()
    }
}

/// Its part of the memory, and what is asked for of messages and their bodies.
fn options(setup: &ParserSetup) -> HttpOptions {
    let (memory, files) = (setup.memory, &setup.files);
    let most = HttpOptions::default();
    let connections = |most| memory.shard_connections(Http::CONNECTION_BYTES, most);
    HttpOptions {
        shard_connections_max: connections(most.shard_connections_max),
        shard_transactions_max: transactions(memory).min(most.shard_transactions_max),
        shard_text_bytes_max: memory.shard_bytes(4).min(most.shard_text_bytes_max),
        all_fields: setup.parse.all_fields,
        bodies: BodyOptions {
            decode: files.decode,
            md5: files.md5,
            sha1: files.sha1,
            sha256: files.sha256,
            files: files.extract.is_some(),
            decoded_bytes_max: files.bytes_max,
            shard_files_max: files.count_max.div_ceil(SHARD_COUNT as u64),
            shard_file_bytes_max: files.total_bytes_max.div_ceil(SHARD_COUNT as u64),
            shard_bytes_max: memory.shard_body_bytes(),
            ..most.bodies
        },
        ..most
    }
}

fn transactions(memory: ParserMemory) -> u32 {
    memory.shard_values(8, TRANSACTION_BYTES)
}

/// About what an open transaction takes.
const TRANSACTION_BYTES: u64 = 384;

const BUFFERS: &[Buffer] = &[
    Buffer::client(
        "http.method",
        ("http", "http.http_method"),
        "The request's method.",
    ),
    Buffer::client(
        "http.uri",
        ("http", "http.url"),
        "The request's target, as it was sent.",
    ),
    Buffer::client(
        "http.host",
        ("http", "http.hostname"),
        "The host, without its port.",
    ),
    Buffer::client(
        "http.user_agent",
        ("http", "http.http_user_agent"),
        "User-Agent.",
    ),
    Buffer::client("http.referer", ("http", "http.http_refer"), "Referer."),
    Buffer::client("http.xff", ("http", "http.xff"), "X-Forwarded-For."),
    Buffer::server(
        "http.stat_code",
        ("http", "http.status"),
        "The response's status.",
    ),
    Buffer::server(
        "http.stat_msg",
        ("http", "status_msg"),
        "The reason after the status.",
    ),
    Buffer::server(
        "http.content_type",
        ("http", "http.http_content_type"),
        "Content-Type.",
    ),
    Buffer::server("http.location", ("http", "http.redirect"), "Location."),
];
