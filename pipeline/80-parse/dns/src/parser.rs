//! The parser: connections, and framing over TCP.

use crate::DnsOptions;
use crate::pending::Queue;
use crate::reading::{Reading, Seen};
use crate::record::{DNS, FROM_SERVER, LLMNR, MDNS};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Chain, Chains, Slab};
use flowpin_packet::{SHARD_COUNT, Shard, Timestamp};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

/// A connection in [`Dns`].
pub type Handle = u32;

/// The protocol variant of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// RFC 1035.
    Dns,
    /// RFC 6762: multicast on the link; responses do not repeat the question and are not paired.
    Mdns,
    /// RFC 4795.
    Llmnr,
}

impl Flavour {
    /// Returns the variant by the name of the identified protocol.
    pub fn of(protocol: &str) -> Option<Self> {
        Some(match protocol {
            "dns" => Self::Dns,
            "mdns" => Self::Mdns,
            "llmnr" => Self::Llmnr,
            _ => return None,
        })
    }

    /// Returns the name of the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Mdns => "mdns",
            Self::Llmnr => "llmnr",
        }
    }

    pub(crate) fn schema(self, to_server: bool) -> &'static MessageSchema {
        let [dns, mdns, llmnr] = &FROM_SERVER;
        match (self, to_server) {
            (Self::Dns, true) => &DNS,
            (Self::Mdns, true) => &MDNS,
            (Self::Llmnr, true) => &LLMNR,
            (Self::Dns, false) => dns,
            (Self::Mdns, false) => mdns,
            (Self::Llmnr, false) => llmnr,
        }
    }

    /// RFC 6762 §5.4 and §10.2: mDNS uses the highest bit of the class for flags.
    pub(crate) const fn class_mask(self) -> u16 {
        match self {
            Self::Mdns => 0x7fff,
            Self::Dns | Self::Llmnr => u16::MAX,
        }
    }
}

/// The DNS parser of one worker.
///
/// # Examples
///
/// ```
/// use flowpin_dns::{Dns, DnsOptions, Flavour};
/// use flowpin_packet::{Shard, Timestamp};
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
/// let mut dns = Dns::new(DnsOptions::default())?;
/// let connection = dns.begin(Shard(0), Flavour::Dns).unwrap();
/// let query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07example\x03org\0\0\x01\0\x01";
/// let mut sink = Names::default();
/// dns.datagram(connection, Timestamp(0), true, query, query.len(), &mut sink);
/// dns.end(connection, Timestamp(1), &mut sink);
/// assert_eq!(sink.0, [b"example.org"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Dns {
    connections: Slab<Connection>,
    held: Chains,
    open: Box<[u32; SHARD_COUNT]>,
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

impl Dns {
    /// Reserves all memory that connections will need.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn new(options: DnsOptions) -> io::Result<Self> {
        let shards = u32::try_from(SHARD_COUNT).unwrap_or(u32::MAX);
        let connections = options.shard_connections_max.saturating_mul(shards);
        let blocks = options.shard_bytes_max.div_ceil(BLOCK_BYTES);
        Ok(Self {
            connections: Slab::with_capacity(connections)?,
            held: Chains::new(BLOCK_BYTES as usize, blocks, SHARD_COUNT)?,
            open: Box::new([0; SHARD_COUNT]),
            joined: Vec::with_capacity(LENGTH_MAX),
            read: Reading::new(options)?,
        })
    }

    /// Opens a connection that speaks DNS; `None` if its shard is at its limit.
    pub fn begin(&mut self, shard: Shard, flavour: Flavour) -> Option<Handle> {
        let open = self.open.get_mut(usize::from(shard.0));
        let room = open.filter(|open| **open < self.read.options.shard_connections_max);
        let Some(open) = room else {
            self.read.losses.count(Loss::DnsConnections, 1);
            return None;
        };
        *open = open.saturating_add(1);
        self.connections.insert(Connection {
            shard: shard.0,
            flavour,
            is_stream: false,
            waiting: Queue::default(),
            sides: [Direction::default(); 2],
        })
    }

    /// Parses a datagram; `wire_len` is its length on the wire, which is larger than what was
    /// captured if the capture truncated it.
    pub fn datagram<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        payload: &[u8],
        wire_len: usize,
        sink: &mut S,
    ) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let seen = connection.seen(at, to_server);
        let whole = payload.len() >= wire_len;
        self.read
            .message(&mut connection.waiting, seen, payload, whole, sink);
    }

    /// Parses the next bytes of one direction over TCP, in order.
    pub fn data<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        mut bytes: &[u8],
        sink: &mut S,
    ) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        connection.is_stream = true;
        let seen = connection.seen(at, to_server);
        let shard = usize::from(seen.shard);
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
            if !self.held.append(shard, &mut direction.held, now) {
                self.read.losses.count(Loss::DnsMemory, now.len() as u64);
                self.held.release(shard, &mut direction.held);
                direction.state = State::GivenUp;
                sink.anomaly("dns_message_not_kept");
                return;
            }
            if direction.held.len() < need {
                return;
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
                self.held.release(shard, &mut direction.held);
                self.read.framed(direction, waiting, seen, message, sink);
            }
        }
    }

    /// Handles a gap: bytes of one direction are missing.
    pub fn gap<S: MessageSink>(
        &mut self,
        handle: Handle,
        _at: Timestamp,
        to_server: bool,
        _len: u64,
        sink: &mut S,
    ) {
        if let Some(direction) = self.give_up_held(handle, to_server, sink)
            && direction.state == State::Reading
        {
            direction.state = State::AfterGap;
        }
    }

    /// Handles the end of one direction.
    pub fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        _at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        self.give_up_held(handle, to_server, sink);
    }

    /// Ends the connection and reports its pending requests. Its handle becomes invalid.
    pub fn end<S: MessageSink>(&mut self, handle: Handle, at: Timestamp, sink: &mut S) {
        let Some(connection) = self.connections.get(handle) else {
            return;
        };
        if connection.is_stream {
            for to_server in [true, false] {
                self.give_up_held(handle, to_server, sink);
            }
        }
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let seen = connection.seen(at, true);
        let waiting = &mut connection.waiting;
        while let Some(request) = self.read.requests.pop(seen.shard, waiting, None) {
            self.read.unanswered(&request, seen, sink);
        }
        self.connections.remove(handle);
        if let Some(open) = self.open.get_mut(usize::from(seen.shard)) {
            *open = open.saturating_sub(1);
        }
    }

    /// Prefetches the state of a connection.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        self.connections.prefetch(handle);
    }

    /// Returns the losses due to the limits.
    pub fn losses(&self) -> &Losses {
        &self.read.losses
    }

    /// Returns the number of open connections, pending requests and memory blocks in use.
    pub fn in_use(&self) -> [u32; 3] {
        [
            self.connections.len(),
            self.read.requests.len(),
            self.held.blocks_in_use(),
        ]
    }

    /// Gives up the held bytes of a direction, which will never be complete.
    fn give_up_held<S: MessageSink>(
        &mut self,
        handle: Handle,
        to_server: bool,
        sink: &mut S,
    ) -> Option<&mut Direction> {
        let connection = self.connections.get_mut(handle)?;
        let [client, server] = &mut connection.sides;
        let direction = if to_server { client } else { server };
        if !direction.held.is_empty() {
            self.held
                .release(usize::from(connection.shard), &mut direction.held);
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
const BLOCK_BYTES: u32 = 512;
