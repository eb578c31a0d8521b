//! The parser: holds the connections and turns bytes into lines.

use crate::exchange::{Command, Exchange};
use crate::options::FtpOptions;
use crate::record::event::{Event, FTP};
use crate::record::log::{FTP_LOG, Log};
use crate::session::{Context, Session};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{
    Begin, Buffer, Ends, KeptBytes, Lines, Next, Parser, ParserSetup, Queues, Reads, slot_bytes,
};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

/// The FTP parser of one worker.
///
/// # Examples
///
/// ```
/// use core::net::IpAddr;
/// use flowpin_ftp::{FTP, Ftp};
/// use flowpin_packet::{Shard, Timestamp};
/// use flowpin_parser::{Begin, Ends, Parser, ParserSetup};
/// use flowpin_record::{MessageSchema, MessageSink, RecordEndpoint, Value};
///
/// struct Count(u32);
/// impl MessageSink for Count {
///     fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
///         if schema == &FTP {
///             assert_eq!(values[0], Value::Bytes(b"CWD"));
///             self.0 += 1;
///         }
///     }
///     fn anomaly(&mut self, event: &'static str) {
///         panic!("{event}");
///     }
/// }
///
/// let end = |last, port| RecordEndpoint { address: IpAddr::from([192, 0, 2, last]), port };
/// let ends = Ends { client: end(1, 50000), server: end(2, 21) };
/// let mut ftp = Ftp::new(&ParserSetup::default())?;
/// let begin = Begin { protocol: 0, shard: Shard(0), at: Timestamp(0) };
/// let connection = ftp.begin(begin, || ends).unwrap();
/// let mut sink = Count(0);
/// ftp.data(connection, Timestamp(0), true, b"CWD /pub\r\n", &mut sink);
/// ftp.data(connection, Timestamp(1), false, b"250 There\r\n", &mut sink);
/// ftp.end(connection, Timestamp(1), &mut sink);
/// assert_eq!(sink.0, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Ftp {
    options: FtpOptions,
    sessions: Slab<Session>,
    lines: Lines,
    shared: Shared,
}

/// What all connections of a worker share beside their lines.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Commands that wait for their replies.
    pub(crate) waiting: Queues<Command>,
    /// Replies, and what sessions keep of commands.
    pub(crate) kept: KeptBytes,
    /// What is dealt with.
    pub(crate) exchange: Exchange,
    pub(crate) event: Event,
    pub(crate) log: Log,
    /// A line of a reply.
    pub(crate) line: Vec<u8>,
    pub(crate) path: Vec<u8>,
    /// User, password and directory of a session.
    pub(crate) texts: [Vec<u8>; 3],
    pub(crate) losses: Losses,
}

impl Parser for Ftp {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("ftp")];
    const CONNECTION_BYTES: u32 = slot_bytes::<Session>();
    const WITHOUT_ROOM: Loss = Loss::FtpConnections;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&FTP, &FTP_LOG];
    const BUFFERS: &'static [Buffer] = BUFFERS;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let options = FtpOptions {
            all_commands: setup.parse.all_fields,
            ..FtpOptions::default()
        };
        Self::with_options(options, setup)
    }

    fn begin(&mut self, begin: Begin, ends: impl FnOnce() -> Ends) -> Option<u32> {
        self.sessions.insert(Session::new(begin.shard, ends()))
    }

    #[inline]
    fn prefetch(&self, connection: u32) {
        self.sessions.prefetch(connection);
    }

    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        mut bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let Some(session) = self.sessions.get_mut(connection) else {
            return Next::Nothing;
        };
        let mut context = Context {
            options: &self.options,
            shared: &mut self.shared,
            at,
            sink,
        };
        while !bytes.is_empty() && session.is_readable(bytes, context.sink) {
            let (shard, side) = session.side(to_server);
            let (used, line) = self.lines.next(side, shard, bytes);
            bytes = bytes.get(used..).unwrap_or_default();
            if let Some(line) = line {
                session.line(to_server, line, &mut context);
            }
        }
        Next::More
    }

    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        _: u64,
        sink: &mut S,
    ) -> Next {
        self.rest(connection, at, to_server, sink);
        if let Some(session) = self.sessions.get_mut(connection) {
            let (shard, side) = session.side(to_server);
            self.lines.lose(side, shard);
            session.lose(to_server);
        }
        Next::More
    }

    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        self.rest(connection, at, to_server, sink);
        Next::More
    }

    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.rest(connection, at, true, sink);
        self.rest(connection, at, false, sink);
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        session.end(&mut Context {
            options: &self.options,
            shared: &mut self.shared,
            at,
            sink,
        });
        self.sessions.remove(connection);
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.sessions);
        visit(self.lines.pool());
        self.shared.waiting.pools(visit);
        visit(self.shared.kept.pool());
    }

    fn losses(&self) -> Losses {
        let mut losses = self.shared.losses;
        losses.count(Loss::FtpText, self.lines.cut_count());
        losses
    }
}

impl Ftp {
    pub(crate) fn with_options(options: FtpOptions, setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let sessions = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            options,
            sessions: Slab::with_capacity(sessions)?,
            lines: Lines::new(budget, options.line_bytes_max as usize)?,
            shared: Shared {
                waiting: Queues::new(budget, BLOCK_BYTES)?,
                kept: KeptBytes::new(budget, BLOCK_BYTES)?,
                exchange: Exchange::default(),
                event: Event::default(),
                log: Log::default(),
                line: Vec::new(),
                path: Vec::new(),
                texts: Default::default(),
                losses: Losses::default(),
            },
        })
    }

    /// Reads the last, unterminated line of one direction.
    fn rest<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        let (shard, side) = session.side(to_server);
        if let Some(line) = self.lines.rest(side, shard)
            && !session.is_over()
        {
            let mut context = Context {
                options: &self.options,
                shared: &mut self.shared,
                at,
                sink,
            };
            session.line(to_server, line, &mut context);
        }
    }
}

/// Most commands and most lines of replies fit into one block.
const BLOCK_BYTES: usize = 64;

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
