//! FIX as a parser of the engine.

use crate::{Dictionary, FIX, Fix, FixOptions};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads, SetupError};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;
use std::sync::Arc;

impl Parser for Fix {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("fix")];
    const CONNECTION_BYTES: u32 = 256;
    const WITHOUT_ROOM: Loss = Loss::FixConnections;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&FIX];
    const BUFFERS: &'static [Buffer] = BUFFERS;
    const HOLDS_UNPROVED: bool = true;

    /// Loads the user's dictionaries on top of the bundled names.
    fn prepare(setup: &mut ParserSetup) -> Result<(), SetupError> {
        if setup.parse.fix_dictionaries.is_empty() {
            return Ok(());
        }
        let mut dictionary = Dictionary::bundled();
        for path in &setup.parse.fix_dictionaries {
            let refused = |why: String| SetupError {
                key: "fix_dictionaries",
                path: path.clone(),
                why,
            };
            let xml = flowpin_disk::read_given_text(path);
            let xml = xml.map_err(|error| refused(error.to_string()))?;
            let loaded = dictionary.load_quickfix(&xml);
            loaded.map_err(|error| refused(error.to_string()))?;
        }
        setup.share(Arc::new(dictionary));
        Ok(())
    }

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let memory = setup.memory;
        let most = FixOptions::default();
        let connections = |most| memory.shard_connections(Self::CONNECTION_BYTES, most);
        Self::new(FixOptions {
            dictionary: setup.shared().unwrap_or(most.dictionary),
            all_fields: setup.parse.all_fields,
            shard_connections_max: connections(most.shard_connections_max),
            shard_bytes_max: memory.shard_bytes(8).min(most.shard_bytes_max),
            shard_orders_max: memory
                .shard_values(32, ORDER_BYTES)
                .min(most.shard_orders_max),
            ..most
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.begin(begin.shard)
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
    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.end(connection, at, sink);
    }

    fn held(&self, connection: u32, to_server: bool, spoke: bool, to: &mut Vec<u8>) {
        if spoke {
            to.extend_from_slice(self.held_before());
        } else {
            self.held(connection, to_server, to);
        }
    }

    fn losses(&self) -> Losses {
        *self.losses()
    }
}

/// Memory of an order that waits for its report.
const ORDER_BYTES: u64 = 16;

const BUFFERS: &[Buffer] = &[
    Buffer::either("fix.msg_type", ("fix", "fix.msg_type"), "MsgType (35)."),
    Buffer::either(
        "fix.sender_comp_id",
        ("fix", "fix.sender_comp_id"),
        "SenderCompID (49).",
    ),
    Buffer::either(
        "fix.target_comp_id",
        ("fix", "fix.target_comp_id"),
        "TargetCompID (56).",
    ),
];
