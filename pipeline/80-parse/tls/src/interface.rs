//! TLS, DTLS and QUIC as two parsers of the engine.

use crate::{QUIC, Quic, TLS, Tls, TlsOptions, Wanted};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

impl From<Wanted> for Next {
    #[inline]
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::More => Self::More,
            Wanted::Nothing => Self::Nothing,
        }
    }
}

impl Parser for Tls {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("tls"), Reads::own("dtls")];
    const CONNECTION_BYTES: u32 = CONNECTION_BYTES;
    const WITHOUT_ROOM: Loss = Loss::TlsHandshakes;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&TLS];
    const BUFFERS: &'static [Buffer] = OF_TLS;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        Self::new(options(setup))
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.begin(begin.shard, begin.at)
    }

    #[inline]
    fn prefetch(&self, connection: u32) {
        self.prefetch(connection);
    }

    #[inline]
    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        self.data(connection, to_server, bytes, sink).into()
    }

    #[inline]
    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        _: u64,
        sink: &mut S,
    ) -> Next {
        self.side_over(connection, to_server, sink).into()
    }

    #[inline]
    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        self.side_over(connection, to_server, sink).into()
    }

    #[inline]
    fn datagram<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        (bytes, _): (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        self.datagram(connection, to_server, bytes, sink).into()
    }

    #[inline]
    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        self.end(connection, sink);
    }

    fn losses(&self) -> Losses {
        self.losses()
    }
}

impl Parser for Quic {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("quic")];
    const CONNECTION_BYTES: u32 = CONNECTION_BYTES;
    const WITHOUT_ROOM: Loss = Loss::TlsHandshakes;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&QUIC];
    const BUFFERS: &'static [Buffer] = OF_QUIC;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        Self::new(options(setup))
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.begin(begin.shard, begin.at)
    }

    #[inline]
    fn datagram<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        (bytes, _): (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        self.datagram(connection, to_server, bytes, sink).into()
    }

    #[inline]
    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        self.end(connection, sink);
    }

    fn losses(&self) -> Losses {
        self.losses()
    }
}

/// Both parsers have the same share of the memory.
fn options(setup: &ParserSetup) -> TlsOptions {
    let memory = setup.memory;
    TlsOptions {
        shard_sessions_max: memory.shard_connections(CONNECTION_BYTES, SESSIONS_MAX),
        ..TlsOptions::within(memory.bytes() / 8)
    }
}

/// Approximate memory of a session.
const CONNECTION_BYTES: u32 = 2048;

/// Maximum number of open handshakes per shard.
const SESSIONS_MAX: u32 = 1 << 14;

const OF_TLS: &[Buffer] = &[
    Buffer::client(
        "tls.sni",
        ("tls", "tls.sni"),
        "The name that the client asks for.",
    ),
    Buffer::client("ja4.hash", ("tls", "tls.ja4"), "JA4 of the client's hello."),
    Buffer::server(
        "tls.version",
        ("tls", "tls.version"),
        "The version that the server chose.",
    ),
    Buffer::server(
        "tls.cert_subject",
        ("tls", "tls.subject"),
        "The certificate's subject.",
    ),
    Buffer::server(
        "tls.cert_issuer",
        ("tls", "tls.issuerdn"),
        "The certificate's issuer.",
    ),
    Buffer::server(
        "tls.cert_serial",
        ("tls", "tls.serial"),
        "The certificate's serial number.",
    ),
];

const OF_QUIC: &[Buffer] = &[
    Buffer::client("quic.version", ("quic", "quic.version"), "The version."),
    Buffer::client(
        "quic.sni",
        ("quic", "quic.sni"),
        "The name that the client asks for.",
    ),
    Buffer::client(
        "quic.ja4",
        ("quic", "quic.ja4"),
        "JA4 of the client's hello.",
    ),
];
