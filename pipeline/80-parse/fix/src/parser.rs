//! The parser: connections, the bytes they hold, and the path from bytes to records.

use crate::message::fields::Fields;
use crate::reading::{Direction, LATE, Reading, Seen};
use crate::record::all_fields::AllFields;
use crate::session::orders::Orders;
use crate::setup::{BUFFERS, dictionary};
use crate::{FIX, FixOptions};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{
    Begin, Buffer, Ends, KeptBytes, Next, Parser, ParserSetup, Reads, SetupError, slot_bytes,
};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

/// The FIX parser of one worker.
///
/// # Examples
///
/// ```
/// use flowpin_fix::Fix;
/// use flowpin_packet::{Shard, Timestamp};
/// use flowpin_parser::{Begin, Parser, ParserSetup};
/// use flowpin_record::{MessageSchema, MessageSink, Value};
///
/// struct Count(u32);
/// impl MessageSink for Count {
///     fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
///         let at = schema.columns.iter().position(|column| column.name == "msg_name").unwrap();
///         assert_eq!(values[at], Value::Text("Heartbeat"));
///         self.0 += 1;
///     }
///     fn anomaly(&mut self, event: &'static str) {
///         panic!("{event}");
///     }
/// }
///
/// let mut fix = Fix::new(&ParserSetup::default())?;
/// let at = Timestamp(0);
/// let begin = Begin { protocol: 0, shard: Shard(0), at };
/// let connection = fix.begin(begin, || unreachable!("FIX reads no addresses")).unwrap();
/// let mut sink = Count(0);
/// for part in [&b"8=FIX.4.4\x019=45\x0135=0\x0134=2\x0149=A\x01"[..],
///              b"56=B\x0152=20260101-00:00:00.000\x0110=053\x01"] {
///     fix.data(connection, at, true, part, &mut sink);
/// }
/// fix.end(connection, at, &mut sink);
/// assert_eq!(sink.0, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Fix {
    connections: Slab<Connection>,
    /// Parts of messages.
    held: KeptBytes,
    /// A message that straddles segments, joined: no longer than one of either.
    joined: Vec<u8>,
    /// How many of its bytes were held before the last segment arrived.
    joined_held: usize,
    read: Reading,
}

/// Returns the direction that sent the bytes, and the other.
const fn directions<'a>(
    client: &'a mut Direction,
    server: &'a mut Direction,
    to_server: bool,
) -> (&'a mut Direction, &'a mut Direction) {
    if to_server {
        (client, server)
    } else {
        (server, client)
    }
}

/// The direction of the client and that of the server.
type Connection = [Direction; 2];

impl Parser for Fix {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("fix")];
    const CONNECTION_BYTES: u32 = slot_bytes::<Connection>();
    const WITHOUT_ROOM: Loss = Loss::FixConnections;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&FIX];
    const BUFFERS: &'static [Buffer] = BUFFERS;
    const HOLDS_UNPROVED: bool = true;

    /// Loads the user's dictionaries on top of the bundled names.
    fn prepare(setup: &mut ParserSetup) -> Result<(), SetupError> {
        dictionary(setup)
    }

    /// The bundled dictionary.
    fn warm() {
        drop(FixOptions::default());
    }

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let most = FixOptions::default();
        let options = FixOptions {
            dictionary: setup.shared().unwrap_or(most.dictionary),
            all_fields: setup.parse.all_fields,
            ..most
        };
        Self::with_options(options, setup)
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        let side = Direction {
            shard: begin.shard.0,
            ..Direction::default()
        };
        self.connections.insert([side; 2])
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
        mut bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let Some([client, server]) = self.connections.get_mut(connection) else {
            return Next::Nothing;
        };
        let (direction, other) = directions(client, server, to_server);
        let seen = Seen {
            at,
            to_server,
            shard: direction.shard,
            last: false,
        };
        self.joined_held = 0;
        let mut is_first = true;
        while !direction.held.is_empty() {
            let more = (direction.need as usize).saturating_sub(direction.held.len());
            let (now, later) = bytes.split_at(more.min(bytes.len()));
            if now.len() < more {
                self.read
                    .hold(&mut self.held, direction, seen, now, direction.need, sink);
                return Next::More;
            }
            self.joined.clear();
            self.held.read(&direction.held, &mut self.joined);
            self.joined_held = if is_first { self.joined.len() } else { 0 };
            is_first = false;
            self.joined.extend_from_slice(now);
            self.held.release(seen.shard, &mut direction.held);
            bytes = later;
            let (used, need) = self
                .read
                .messages((direction, other), seen, &self.joined, sink);
            let rest = self.joined.get(used..).unwrap_or_default();
            self.read
                .hold(&mut self.held, direction, seen, rest, need, sink);
        }
        let (used, need) = self.read.messages((direction, other), seen, bytes, sink);
        let rest = bytes.get(used..).unwrap_or_default();
        self.read
            .hold(&mut self.held, direction, seen, rest, need, sink);
        Next::More
    }

    /// The message that the gap cut off is lost, and the numbers of the messages after it are
    /// unknown.
    #[inline]
    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        _: u64,
        sink: &mut S,
    ) -> Next {
        self.finish(connection, at, to_server, sink);
        if let Some([client, server]) = self.connections.get_mut(connection) {
            let (direction, _) = directions(client, server, to_server);
            direction.session.forget();
            direction.heartbeat.forget(at);
            // The rest of a message that began in the gap is not an error.
            direction.in_garbage = true;
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
        self.finish(connection, at, to_server, sink);
        Next::More
    }

    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.finish(connection, at, true, sink);
        self.finish(connection, at, false, sink);
        let Some(sides) = self.connections.get_mut(connection) else {
            return;
        };
        for side in sides {
            if side.heartbeat.is_late(at) {
                sink.anomaly(LATE);
            }
            self.read.orders.forget(&mut side.waiting, side.shard);
        }
        self.connections.remove(connection);
    }

    /// Before the last segment of the side that sent last, it held what was joined with the
    /// segment.
    fn held(&self, connection: u32, to_server: bool, spoke: bool, to: &mut Vec<u8>) {
        if spoke {
            to.extend_from_slice(self.joined.get(..self.joined_held).unwrap_or_default());
        } else if let Some([client, server]) = self.connections.get(connection) {
            let direction = if to_server { client } else { server };
            self.held.read(&direction.held, to);
        }
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.connections);
        visit(self.held.pool());
        self.read.orders.pools(visit);
    }

    fn losses(&self) -> Losses {
        self.read.losses
    }
}

impl Fix {
    /// A parser with these options, and with the memory that `setup` has.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn with_options(options: FixOptions, setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let dictionary = options.dictionary.clone();
        let connections = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            connections: Slab::with_capacity(connections)?,
            held: KeptBytes::new(budget, BLOCK_BYTES)?,
            joined: Vec::with_capacity(options.message_bytes_max as usize),
            joined_held: 0,
            read: Reading {
                fields: Fields::new(dictionary, options.fields_max as usize),
                orders: Orders::new(budget)?,
                all: AllFields::default(),
                losses: Losses::default(),
                options,
            },
        })
    }

    /// Processes the held bytes of one direction as the end of its stream.
    fn finish<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        let Some([client, server]) = self.connections.get_mut(connection) else {
            return;
        };
        let (direction, other) = directions(client, server, to_server);
        if direction.held.is_empty() {
            return;
        }
        let seen = Seen {
            at,
            to_server,
            shard: direction.shard,
            last: true,
        };
        self.joined.clear();
        self.held.read(&direction.held, &mut self.joined);
        self.held.release(seen.shard, &mut direction.held);
        self.read
            .messages((direction, other), seen, &self.joined, sink);
    }
}

/// Parts of messages are mostly shorter than one block.
const BLOCK_BYTES: usize = 128;
