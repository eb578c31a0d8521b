//! DNS, mDNS and LLMNR as a parser of the engine.

use crate::{DNS, DNS_LOG, Dns, DnsOptions, Flavour, LLMNR, MDNS};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

/// In the order of [`Parser::PROTOCOLS`].
const FLAVOURS: [Flavour; 3] = [Flavour::Dns, Flavour::Mdns, Flavour::Llmnr];

impl Parser for Dns {
    const PROTOCOLS: &'static [Reads] = &{
        let [dns, mdns, llmnr] = FLAVOURS;
        [
            Reads::own(dns.name()),
            Reads::own(mdns.name()),
            Reads::own(llmnr.name()),
        ]
    };
    const CONNECTION_BYTES: u32 = 256;
    const WITHOUT_ROOM: Loss = Loss::DnsConnections;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&DNS, &DNS_LOG, &MDNS, &LLMNR];
    const BUFFERS: &'static [Buffer] = BUFFERS;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let memory = setup.memory;
        let most = DnsOptions::default();
        let connections = |most| memory.shard_connections(Self::CONNECTION_BYTES, most);
        Self::new(DnsOptions {
            log: setup.has_columns,
            shard_connections_max: connections(most.shard_connections_max),
            shard_bytes_max: memory.shard_bytes(16).min(most.shard_bytes_max),
            shard_requests_max: memory
                .shard_values(16, REQUEST_BYTES)
                .min(most.shard_requests_max),
            ..most
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        let flavour = FLAVOURS.get(usize::from(begin.protocol))?;
        self.begin(begin.shard, *flavour)
    }

    #[inline]
    fn prefetch(&self, connection: u32) {
        self.prefetch(connection);
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
        self.data(connection, at, to_server, bytes, sink);
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
        self.gap(connection, at, to_server, len, sink);
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
        self.closed(connection, at, to_server, sink);
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
        self.datagram(connection, at, to_server, bytes, wire_len, sink);
        Next::More
    }

    #[inline]
    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.end(connection, at, sink);
    }

    fn losses(&self) -> Losses {
        *self.losses()
    }
}

/// Approximate memory of a pending request.
const REQUEST_BYTES: u64 = 384;

const BUFFERS: &[Buffer] = &[Buffer::client(
    "dns.query",
    ("dns_log", "query"),
    "The name asked for.",
)];
