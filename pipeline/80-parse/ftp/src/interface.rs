//! FTP as one of the engine's parsers.

use crate::{FTP, FTP_LOG, Ftp, FtpOptions};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

impl Parser for Ftp {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("ftp")];
    const CONNECTION_BYTES: u32 = 1024;
    const WITHOUT_ROOM: Loss = Loss::FtpConnections;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&FTP, &FTP_LOG];
    const BUFFERS: &'static [Buffer] = BUFFERS;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let memory = setup.memory;
        let most = FtpOptions::default();
        let connections = |most| memory.shard_connections(Self::CONNECTION_BYTES, most);
        Ok(Self::new(FtpOptions {
            all_commands: setup.parse.all_fields,
            shard_connections_max: connections(most.shard_connections_max),
            shard_bytes_max: memory
                .shard_values(32, 1)
                .max(COMMANDS_BYTES_MIN)
                .min(most.shard_bytes_max),
            ..most
        }))
    }

    fn begin(&mut self, begin: Begin, ends: impl FnOnce() -> Ends) -> Option<u32> {
        self.begin(begin.shard, ends())
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

    fn losses(&self) -> Losses {
        *self.losses()
    }
}

/// Room for the waiting commands of one connection.
const COMMANDS_BYTES_MIN: u32 = 384 << 10;

const BUFFERS: &[Buffer] = &[
    Buffer::client(
        "ftp.command",
        ("ftp", "ftp.command"),
        "The command, in upper case.",
    ),
    Buffer::client(
        "ftp.command_data",
        ("ftp", "ftp.command_data"),
        "Its argument.",
    ),
    Buffer::server(
        "ftp.completion_code",
        ("ftp", "ftp.completion_code"),
        "Codes of the replies.",
    ),
    Buffer::server(
        "ftp.reply",
        ("ftp", "ftp.reply"),
        "The replies' lines, without their codes.",
    ),
];
