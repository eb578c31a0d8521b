//! The parser: connections, the bytes they hold, and the path from bytes to records.

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
    shards: Box<[ShardState; SHARD_COUNT]>,
    /// A message that straddles segments, joined.
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

/// The connections of one shard.
#[derive(Clone, Copy, Debug, Default)]
struct ShardState {
    open: u32,
    /// Number of connections so far: serial numbers that do not depend on other shards.
    begun: u32,
}

/// The direction of the client and that of the server.
type Connection = [Direction; 2];

impl Fix {
    /// Reserves all memory that connections will need.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn new(options: FixOptions) -> io::Result<Self> {
        let shards = u32::try_from(SHARD_COUNT).unwrap_or(u32::MAX);
        let connections = options.shard_connections_max.saturating_mul(shards);
        let blocks = options.shard_bytes_max.div_ceil(BLOCK_BYTES);
        let dictionary = options.dictionary.clone();
        Ok(Self {
            connections: Slab::with_capacity(connections)?,
            held: Chains::new(BLOCK_BYTES as usize, blocks, SHARD_COUNT)?,
            shards: Box::new([ShardState::default(); SHARD_COUNT]),
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

    /// Opens a connection that speaks FIX; `None` if its shard is at its limit.
    pub fn begin(&mut self, shard: Shard) -> Option<Handle> {
        let state = self.shards.get_mut(usize::from(shard.0));
        let open_max = self.read.options.shard_connections_max;
        let Some(state) = state.filter(|state| state.open < open_max) else {
            self.read.losses.count(Loss::FixConnections, 1);
            return None;
        };
        state.open = state.open.saturating_add(1);
        state.begun = state.begun.wrapping_add(1);
        let side = Direction {
            serial: state.begun,
            shard: shard.0,
            ..Direction::default()
        };
        self.connections.insert([side; 2])
    }

    /// Prefetches the state of a connection. Any handle is valid.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        self.connections.prefetch(handle);
    }

    /// Parses the next bytes of one direction, in order.
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

    /// Handles a gap: `len` bytes of one direction are missing.
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
            // The rest of a message that began in the gap is not an error.
            direction.in_garbage = true;
        }
    }

    /// Handles the end of one direction.
    pub fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        self.finish(handle, at, to_server, sink);
    }

    /// Ends the connection; its handle becomes invalid.
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
        if let Some(state) = self.shards.get_mut(usize::from(shard)) {
            state.open = state.open.saturating_sub(1);
        }
    }

    /// Appends the held bytes of one direction, the end of its stream so far, to `to`.
    pub fn held(&self, handle: Handle, to_server: bool, to: &mut Vec<u8>) {
        if let Some([client, server]) = self.connections.get(handle) {
            let direction = if to_server { client } else { server };
            self.held.read(&direction.held, to);
        }
    }

    /// Returns the bytes that were held before the last segment of the direction that sent last, if
    /// the segment was joined with them.
    pub fn held_before(&self) -> &[u8] {
        self.joined.get(..self.joined_held).unwrap_or_default()
    }

    /// Returns the losses due to the limits.
    pub fn losses(&self) -> &Losses {
        &self.read.losses
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> u32 {
        self.connections.len()
    }

    /// Returns the number of memory blocks that hold parts of messages.
    pub fn blocks_held(&self) -> u32 {
        self.held.blocks_in_use()
    }

    /// Processes the held bytes of one direction as the end of its stream.
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

/// Parts of messages are mostly shorter than one block.
const BLOCK_BYTES: u32 = 128;
