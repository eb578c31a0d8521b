//! The parser: connections, what they hold, and the way from bytes to records.

use crate::FixOptions;
use crate::message::fields::Fields;
use crate::reading::{Direction, LATE, Reading, Seen};
use crate::record::all_fields::AllFields;
use crate::session::orders::Orders;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Chains, Slab};
use flowpin_packet::{SHARD_COUNT, Shard, Timestamp};
use flowpin_record::MessageSink;
use std::io;

/// A connection in [`Fix`].
pub type Handle = u32;

/// The FIX parser of one worker.
///
/// # Examples
///
/// ```
/// use flowpin_fix::{Fix, FixOptions};
/// use flowpin_packet::{Shard, Timestamp};
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
/// let mut fix = Fix::new(FixOptions::default())?;
/// let connection = fix.begin(Shard(0)).unwrap();
/// let mut sink = Count(0);
/// for part in [&b"8=FIX.4.4\x019=45\x0135=0\x0134=2\x0149=A\x01"[..],
///              b"56=B\x0152=20260101-00:00:00.000\x0110=053\x01"] {
///     fix.data(connection, Timestamp(0), true, part, &mut sink);
/// }
/// fix.end(connection, Timestamp(0), &mut sink);
/// assert_eq!(sink.0, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Fix {
    connections: Slab<Connection>,
    held: Chains,
    shards: Box<[OfShard; SHARD_COUNT]>,
    /// A message that straddles segments, whole.
    joined: Vec<u8>,
    /// So many bytes of it were held before the bytes that were told last.
    joined_held: usize,
    read: Reading,
}

/// The direction that speaks, and the other.
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

/// The connections of a shard.
#[derive(Clone, Copy, Debug, Default)]
struct OfShard {
    open: u32,
    /// How many there were so far: a number for each that does not depend on other shards.
    begun: u32,
}

/// The client's direction, and the server's.
type Connection = [Direction; 2];

impl Fix {
    /// Reserves everything that connections will need.
    ///
    /// # Errors
    ///
    /// Where the system refuses the address space.
    pub fn new(options: FixOptions) -> io::Result<Self> {
        let shards = u32::try_from(SHARD_COUNT).unwrap_or(u32::MAX);
        let connections = options.shard_connections_max.saturating_mul(shards);
        let blocks = options.shard_bytes_max.div_ceil(BLOCK_BYTES);
        let dictionary = options.dictionary.clone();
        Ok(Self {
            connections: Slab::with_capacity(connections)?,
            held: Chains::new(BLOCK_BYTES as usize, blocks, SHARD_COUNT)?,
            shards: Box::new([OfShard::default(); SHARD_COUNT]),
            joined: Vec::with_capacity(options.message_bytes_max as usize),
            joined_held: 0,
            read: Reading {
                fields: Fields::new(dictionary, options.fields_max as usize),
                orders: Orders::new(options.shard_orders_max)?,
                all: AllFields::default(),
                losses: Losses::default(),
                options,
            },
        })
    }

    /// A connection that speaks FIX; `None` if its shard has its most.
    pub fn begin(&mut self, shard: Shard) -> Option<Handle> {
        let of_shard = self.shards.get_mut(usize::from(shard.0));
        let open_max = self.read.options.shard_connections_max;
        let Some(of_shard) = of_shard.filter(|of_shard| of_shard.open < open_max) else {
            self.read.losses.count(Loss::FixConnections, 1);
            return None;
        };
        of_shard.open = of_shard.open.saturating_add(1);
        of_shard.begun = of_shard.begun.wrapping_add(1);
        let side = Direction {
            serial: of_shard.begun,
            shard: shard.0,
            ..Direction::default()
        };
        self.connections.insert([side; 2])
    }

    /// Asks for what is kept of a connection. Any handle is fine.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        self.connections.prefetch(handle);
    }

    /// The next bytes of one direction, in order.
    #[inline]
    pub fn data<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        mut bytes: &[u8],
        sink: &mut S,
    ) {
        let Some([client, server]) = self.connections.get_mut(handle) else {
            return;
        };
        let (direction, other) = directions(client, server, to_server);
        let seen = Seen {
            at,
            to_server,
            serial: direction.serial,
            shard: direction.shard,
            last: false,
        };
        let shard = usize::from(seen.shard);
        self.joined_held = 0;
        let mut is_first = true;
        while !direction.held.is_empty() {
            let more = (direction.need as usize).saturating_sub(direction.held.len());
            let (now, later) = bytes.split_at(more.min(bytes.len()));
            if now.len() < more {
                self.read
                    .hold(&mut self.held, direction, seen, now, direction.need, sink);
                return;
            }
            self.joined.clear();
            self.held.read(&direction.held, &mut self.joined);
            self.joined_held = if is_first { self.joined.len() } else { 0 };
            is_first = false;
            self.joined.extend_from_slice(now);
            self.held.release(shard, &mut direction.held);
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
    }

    /// `len` bytes of one direction are missing.
    pub fn gap<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        _len: u64,
        sink: &mut S,
    ) {
        self.finish(handle, at, to_server, sink);
        if let Some([client, server]) = self.connections.get_mut(handle) {
            let direction = if to_server { client } else { server };
            direction.session.forget();
            direction.heartbeat.forget(at);
            // The rest of a message that began in the gap is nobody's fault.
            direction.in_garbage = true;
        }
    }

    /// One side sends no more.
    pub fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        self.finish(handle, at, to_server, sink);
    }

    /// The connection is over; its handle means nothing any more.
    pub fn end<S: MessageSink>(&mut self, handle: Handle, at: Timestamp, sink: &mut S) {
        self.finish(handle, at, true, sink);
        self.finish(handle, at, false, sink);
        let Some(sides) = self.connections.get(handle) else {
            return;
        };
        let [Direction { shard, .. }, _] = *sides;
        for _ in sides.iter().filter(|side| side.heartbeat.is_late(at)) {
            sink.anomaly(LATE);
        }
        self.connections.remove(handle);
        if let Some(of_shard) = self.shards.get_mut(usize::from(shard)) {
            of_shard.open = of_shard.open.saturating_sub(1);
        }
    }

    /// What is held of one direction, the end of what it was told, goes to `to`.
    pub fn held(&self, handle: Handle, to_server: bool, to: &mut Vec<u8>) {
        if let Some([client, server]) = self.connections.get(handle) {
            let direction = if to_server { client } else { server };
            self.held.read(&direction.held, to);
        }
    }

    /// What was held of the direction that spoke last before its last bytes, if those were joined
    /// with it.
    pub fn held_before(&self) -> &[u8] {
        self.joined.get(..self.joined_held).unwrap_or_default()
    }

    /// What did not fit, by name.
    pub fn losses(&self) -> &Losses {
        &self.read.losses
    }

    /// Connections followed now.
    pub fn connections(&self) -> u32 {
        self.connections.len()
    }

    /// Blocks of memory that hold parts of messages now.
    pub fn blocks_held(&self) -> u32 {
        self.held.blocks_in_use()
    }

    /// What is held of one direction is all there is.
    fn finish<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        let Some([client, server]) = self.connections.get_mut(handle) else {
            return;
        };
        let (direction, other) = directions(client, server, to_server);
        if direction.held.is_empty() {
            return;
        }
        let seen = Seen {
            at,
            to_server,
            serial: direction.serial,
            shard: direction.shard,
            last: true,
        };
        self.joined.clear();
        self.held.read(&direction.held, &mut self.joined);
        self.held
            .release(usize::from(seen.shard), &mut direction.held);
        self.read
            .messages((direction, other), seen, &self.joined, sink);
    }
}

/// Parts of messages are mostly shorter than one.
const BLOCK_BYTES: u32 = 128;
