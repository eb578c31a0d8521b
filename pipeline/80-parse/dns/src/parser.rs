//! The parser: connections, and framing over TCP.

use crate::flavour::Flavour;
use crate::options::DnsOptions;
use crate::pending::Queue;
use crate::reading::{Reading, Seen};
use crate::record::{DNS, DNS_LOG, LLMNR, MDNS};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Chain, Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{
    Begin, Buffer, Ends, KeptBytes, Next, Parser, ParserSetup, Reads, slot_bytes,
};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

/// The DNS parser of one worker.
///
/// # Examples
///
/// ```
/// use flowpin_dns::Dns;
/// use flowpin_packet::{Shard, Timestamp};
/// use flowpin_parser::{Begin, Parser, ParserSetup};
/// use flowpin_record::{MessageSchema, MessageSink, Value};
///
/// #[derive(Default)]
/// struct Names(Vec<Vec<u8>>);
/// impl MessageSink for Names {
///     fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
///         let at = schema.columns.iter().position(|column| column.name == "query");
///         if let Some(Value::Bytes(name)) = at.map(|at| values[at]) {
///             self.0.push(name.to_vec());
///         }
///     }
///     fn anomaly(&mut self, event: &'static str) {
///         panic!("{event}");
///     }
/// }
///
/// let mut dns = Dns::new(&ParserSetup::default())?;
/// let begin = Begin { protocol: 0, shard: Shard(0), at: Timestamp(0) };
/// let connection = dns.begin(begin, || unreachable!()).unwrap();
/// let query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07example\x03org\0\0\x01\0\x01";
/// let mut sink = Names::default();
/// dns.datagram(connection, Timestamp(0), true, (query, query.len()), &mut sink);
/// dns.end(connection, Timestamp(1), &mut sink);
/// assert_eq!(sink.0, [b"example.org"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Dns {
    connections: Slab<Connection>,
    held: KeptBytes,
    /// A message that straddles segments, joined.
    joined: Vec<u8>,
    read: Reading,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    shard: u8,
    flavour: Flavour,
    is_stream: bool,
    waiting: Queue,
    sides: [Direction; 2],
}

/// State of one direction over TCP.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Direction {
    held: Chain,
    /// Length of the message that is held, in bytes.
    need: u32,
    pub(crate) state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// The next bytes are the length of a message.
    #[default]
    Reading,
    /// Bytes were missing: the next bytes are a message if they resemble one.
    AfterGap,
    /// Message boundaries are lost.
    GivenUp,
}

impl Parser for Dns {
    const PROTOCOLS: &'static [Reads] = &{
        let [dns, mdns, llmnr] = Flavour::ALL;
        [
            Reads::own(dns.name()),
            Reads::own(mdns.name()),
            Reads::own(llmnr.name()),
        ]
    };
    const CONNECTION_BYTES: u32 = slot_bytes::<Connection>();
    const WITHOUT_ROOM: Loss = Loss::DnsConnections;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&DNS, &DNS_LOG, &MDNS, &LLMNR];
    const BUFFERS: &'static [Buffer] = BUFFERS;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let options = DnsOptions {
            log: setup.has_columns,
            ..DnsOptions::default()
        };
        Self::with_options(options, setup)
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.connections.insert(Connection {
            shard: begin.shard.0,
            flavour: *Flavour::ALL.get(usize::from(begin.protocol))?,
            is_stream: false,
            waiting: Queue::default(),
            sides: [Direction::default(); 2],
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
        mut bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let Some(connection) = self.connections.get_mut(connection) else {
            return Next::Nothing;
        };
        connection.is_stream = true;
        let seen = connection.seen(at, to_server);
        let [client, server] = &mut connection.sides;
        let direction = if to_server { client } else { server };
        let waiting = &mut connection.waiting;
        while !bytes.is_empty() && direction.state != State::GivenUp {
            if direction.held.is_empty()
                && let Some(len) = framed(bytes)
                && let Some(message) = bytes.get(LENGTH..len)
            {
                self.read.framed(direction, waiting, seen, message, sink);
                bytes = bytes.get(len..).unwrap_or_default();
                continue;
            }
            let need = if direction.held.len() < LENGTH {
                LENGTH
            } else {
                direction.need as usize
            };
            let more = need.saturating_sub(direction.held.len());
            let (now, later) = bytes.split_at(more.min(bytes.len()));
            bytes = later;
            if !self.held.append(seen.shard, &mut direction.held, now) {
                self.read.losses.count(Loss::DnsMemory, now.len() as u64);
                self.held.release(seen.shard, &mut direction.held);
                direction.state = State::GivenUp;
                sink.anomaly("dns_message_not_kept");
                return Next::More;
            }
            if direction.held.len() < need {
                return Next::More;
            }
            self.joined.clear();
            self.held.read(&direction.held, &mut self.joined);
            let len = framed(&self.joined).unwrap_or(LENGTH);
            direction.need = u32::try_from(len).unwrap_or(u32::MAX);
            if let Some(message) = self
                .joined
                .get(LENGTH..len)
                .filter(|_| need > LENGTH || len == LENGTH)
            {
                self.held.release(seen.shard, &mut direction.held);
                self.read.framed(direction, waiting, seen, message, sink);
            }
        }
        Next::More
    }

    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        _: u64,
        sink: &mut S,
    ) -> Next {
        if let Some(direction) = self.give_up_held(connection, to_server, sink)
            && direction.state == State::Reading
        {
            direction.state = State::AfterGap;
        }
        Next::More
    }

    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        self.give_up_held(connection, to_server, sink);
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
        if let Some(connection) = self.connections.get_mut(connection) {
            let seen = connection.seen(at, to_server);
            let is_whole = bytes.len() >= wire_len;
            let waiting = &mut connection.waiting;
            self.read.message(waiting, seen, bytes, is_whole, sink);
        }
        Next::More
    }

    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        for to_server in [true, false] {
            self.give_up_held(connection, to_server, sink);
        }
        let Some(found) = self.connections.get_mut(connection) else {
            return;
        };
        let seen = found.seen(at, true);
        let waiting = &mut found.waiting;
        while let Some(request) = self.read.requests.pop(seen.shard, waiting, None) {
            self.read.unanswered(&request, seen, sink);
        }
        self.connections.remove(connection);
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.connections);
        visit(self.held.pool());
        self.read.requests.pools(visit);
    }

    fn losses(&self) -> Losses {
        self.read.losses
    }
}

impl Dns {
    pub(crate) fn with_options(options: DnsOptions, setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let connections = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            connections: Slab::with_capacity(connections)?,
            held: KeptBytes::new(budget, BLOCK_BYTES)?,
            joined: Vec::with_capacity(LENGTH_MAX),
            read: Reading::new(options, budget)?,
        })
    }

    /// Gives up the held bytes of a direction, which will never be complete.
    fn give_up_held<S: MessageSink>(
        &mut self,
        connection: u32,
        to_server: bool,
        sink: &mut S,
    ) -> Option<&mut Direction> {
        let connection = self.connections.get_mut(connection)?;
        let [client, server] = &mut connection.sides;
        let direction = if to_server { client } else { server };
        if !direction.held.is_empty() {
            self.held.release(connection.shard, &mut direction.held);
            sink.anomaly("dns_message_cut_off");
        }
        Some(direction)
    }
}

impl Connection {
    fn seen(&self, at: Timestamp, to_server: bool) -> Seen {
        Seen {
            at,
            to_server,
            shard: self.shard,
            flavour: self.flavour,
            is_stream: self.is_stream,
        }
    }
}

/// Returns the length of a message and its length field; `None` if that is incomplete.
fn framed(bytes: &[u8]) -> Option<usize> {
    let len = u16::from_be_bytes(*bytes.first_chunk::<LENGTH>()?);
    usize::from(len).checked_add(LENGTH)
}

const LENGTH: usize = 2;
const LENGTH_MAX: usize = LENGTH + u16::MAX as usize;
/// Most messages fit into one block.
const BLOCK_BYTES: usize = 512;

const BUFFERS: &[Buffer] = &[Buffer::client(
    "dns.query",
    ("dns_log", "query"),
    "The name asked for.",
)];
