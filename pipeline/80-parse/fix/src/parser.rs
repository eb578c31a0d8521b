//! The parser: connections, what they hold, and the way from bytes to records.

use crate::message::fields::Fields;
use crate::message::frame::frame_of;
use crate::record::all_fields::{AllFields, LISTS};
use crate::record::columns::{FIX, Message, WIDTH};
use crate::session::heartbeat::Heartbeat;
use crate::session::orders::{Orders, Owner, Role};
use crate::session::sequence::{Side, Step};
use crate::{FixOptions, Frame, Slot, Window, record::secrets::type_of};
use core::hint::black_box;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Chain, Chains, Slab};
use flowpin_packet::{SHARD_COUNT, Shard, Timestamp};
use flowpin_record::{MessageSink, Value};
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
    begun: Box<[u32; SHARD_COUNT]>,
    serial: u64,
    /// A message that straddles segments, whole.
    joined: Vec<u8>,
    read: Reading,
}

/// What reads one message after the other; apart from the connections, which it changes.
#[derive(Debug)]
struct Reading {
    options: FixOptions,
    fields: Fields,
    orders: Orders,
    all: AllFields,
    losses: Losses,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    /// Never the same for two connections of a worker.
    serial: u64,
    shard: u8,
    /// The client's direction, and the server's.
    sides: [Direction; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    /// Bytes of a message that is not whole yet.
    held: Chain,
    /// So many of them are needed before more can be said.
    need: u32,
    /// Whether the bytes before were no message, so that it is told once.
    in_garbage: bool,
    /// Bytes that BodyLengths asked for and that were not the message's.
    asked_in_vain: u32,
    session: Side,
    heartbeat: Heartbeat,
}

impl Direction {
    /// Bytes that a wrong BodyLength asks for are kept, and copied again for each message that
    /// they turn out to be: where that comes to much, no more is waited for them.
    #[inline]
    fn note_length(&mut self, window: &Window, limit: usize) {
        if !window.body_length_ok
            && let Some(asked) = window.body_length
            && let Ok(asked) = usize::try_from(asked)
            && asked <= limit
        {
            let in_vain = u32::try_from(asked.saturating_sub(window.len)).unwrap_or(u32::MAX);
            self.asked_in_vain = self.asked_in_vain.saturating_add(in_vain);
        }
    }
}

/// Where and when a message was seen.
#[derive(Clone, Copy)]
struct Seen {
    at: Timestamp,
    to_server: bool,
    serial: u64,
    shard: u8,
    /// No more bytes come.
    last: bool,
}

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
            begun: Box::new([0; SHARD_COUNT]),
            serial: 0,
            joined: Vec::with_capacity(options.message_bytes_max as usize),
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
        let begun = self.begun.get_mut(usize::from(shard.0));
        let room = begun.filter(|begun| **begun < self.read.options.shard_connections_max);
        let Some(begun) = room else {
            self.read.losses.count(Loss::FixConnections, 1);
            return None;
        };
        *begun = begun.saturating_add(1);
        self.serial = self.serial.wrapping_add(1);
        self.connections.insert(Connection {
            serial: self.serial,
            shard: shard.0,
            sides: [Direction::default(); 2],
        })
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
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let seen = Seen {
            at,
            to_server,
            serial: connection.serial,
            shard: connection.shard,
            last: false,
        };
        let [client, server] = &mut connection.sides;
        let direction = if to_server { client } else { server };
        let shard = usize::from(seen.shard);
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
            self.joined.extend_from_slice(now);
            self.held.release(shard, &mut direction.held);
            bytes = later;
            let (used, need) = self.read.messages(direction, seen, &self.joined, sink);
            let rest = self.joined.get(used..).unwrap_or_default();
            self.read
                .hold(&mut self.held, direction, seen, rest, need, sink);
        }
        let (used, need) = self.read.messages(direction, seen, bytes, sink);
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
        if let Some(connection) = self.connections.get_mut(handle) {
            let [client, server] = &mut connection.sides;
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
        let Some(shard) = self
            .connections
            .get(handle)
            .map(|connection| connection.shard)
        else {
            return;
        };
        self.finish(handle, at, true, sink);
        self.finish(handle, at, false, sink);
        if let Some(connection) = self.connections.get(handle) {
            let silent = connection.sides.iter();
            for _ in silent.filter(|side| side.heartbeat.is_late(at)) {
                sink.anomaly(LATE);
            }
        }
        self.connections.remove(handle);
        if let Some(begun) = self.begun.get_mut(usize::from(shard)) {
            *begun = begun.saturating_sub(1);
        }
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
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let seen = Seen {
            at,
            to_server,
            serial: connection.serial,
            shard: connection.shard,
            last: true,
        };
        let [client, server] = &mut connection.sides;
        let direction = if to_server { client } else { server };
        if direction.held.is_empty() {
            return;
        }
        self.joined.clear();
        self.held.read(&direction.held, &mut self.joined);
        self.held
            .release(usize::from(seen.shard), &mut direction.held);
        self.read.messages(direction, seen, &self.joined, sink);
    }
}

impl Reading {
    /// All messages that are whole in `bytes`: how many bytes are done with, and how many are
    /// needed from there before more can be said.
    #[inline]
    fn messages<S: MessageSink>(
        &mut self,
        direction: &mut Direction,
        seen: Seen,
        bytes: &[u8],
        sink: &mut S,
    ) -> (usize, u32) {
        let limit = self.options.message_bytes_max as usize;
        let mut used = 0usize;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            let waits = direction.asked_in_vain < ASKED_IN_VAIN_MAX;
            let step = match frame_of(rest, limit, seen.last, waits) {
                Frame::Need(need) => return (used, u32::try_from(need).unwrap_or(u32::MAX)),
                Frame::Message(window) => {
                    direction.in_garbage = false;
                    direction.note_length(&window, limit);
                    let message = rest.get(..window.len).unwrap_or(rest);
                    self.message(direction, seen, message, window, sink);
                    window.len
                }
                Frame::Garbage(len) => {
                    no_message(direction, "fix_garbage", sink);
                    len
                }
                Frame::Broken(len) => {
                    no_message(direction, "fix_broken_message", sink);
                    len
                }
                Frame::CutOff(len) => {
                    no_message(direction, "fix_message_cut_off", sink);
                    len
                }
            };
            used = used.saturating_add(step.max(1));
        }
        (bytes.len(), 0)
    }

    /// Keeps what is not whole.
    #[inline]
    fn hold<S: MessageSink>(
        &mut self,
        held: &mut Chains,
        direction: &mut Direction,
        seen: Seen,
        bytes: &[u8],
        need: u32,
        sink: &mut S,
    ) {
        if bytes.is_empty() {
            return;
        }
        direction.need = need;
        let shard = usize::from(seen.shard);
        if !held.append(shard, &mut direction.held, bytes) {
            let lost = direction.held.len().saturating_add(bytes.len());
            self.losses.count(Loss::FixMemory, lost as u64);
            held.release(shard, &mut direction.held);
            direction.session.forget();
            no_message(direction, "fix_message_not_kept", sink);
        }
    }

    #[inline]
    fn message<S: MessageSink>(
        &mut self,
        direction: &mut Direction,
        seen: Seen,
        bytes: &[u8],
        window: Window,
        sink: &mut S,
    ) {
        self.fields.split(bytes);
        if self.fields.value(bytes, Slot::MsgType).is_none() {
            // What says nothing of its kind is ignored by engines, its number, too.
            sink.anomaly("fix_no_msg_type");
            return;
        }
        let step = direction.session.step(&self.fields, bytes);
        let heartbeat = &mut direction.heartbeat;
        let is_late = heartbeat.step(step.event, seen.at, &self.fields, bytes);
        let latency = self.latency(seen, bytes);
        if sink.reads(&FIX) {
            self.tell((bytes, step, latency), seen, window, sink);
        } else {
            // Every field is split; nobody asks for them by their names.
            black_box((&self.fields, step, latency));
            sink.message(&FIX, seen.at, &[]);
        }
        if is_late {
            sink.anomaly(LATE);
        }
        self.flaws(window, sink);
    }

    /// Tells a message by its columns.
    #[inline]
    fn tell<S: MessageSink>(
        &mut self,
        (bytes, step, latency): (&[u8], Step, Option<u64>),
        seen: Seen,
        window: Window,
        sink: &mut S,
    ) {
        let message = Message {
            bytes,
            fields: &self.fields,
            dictionary: &self.options.dictionary,
            window,
            to_server: seen.to_server,
            step,
            latency,
        };
        let mut values = message.values();
        if self.options.all_fields {
            let dictionary = &self.options.dictionary;
            self.all.with(&self.fields, bytes, dictionary, |lists| {
                let mut values: [Value<'_>; WIDTH] = values;
                let (_, last) = values.split_at_mut(WIDTH.saturating_sub(LISTS));
                for (to, from) in last.iter_mut().zip(lists) {
                    *to = from;
                }
                sink.message(&FIX, seen.at, &values);
            });
        } else {
            let (common, _) = values.split_at_mut(WIDTH.saturating_sub(LISTS));
            sink.message(&FIX, seen.at, common);
        }
    }

    /// How long an order waited for this message, if it is its first report.
    #[inline]
    fn latency(&mut self, seen: Seen, bytes: &[u8]) -> Option<u64> {
        let role = Role::of(type_of(&self.fields, bytes));
        if role == Role::Other {
            return None;
        }
        let id = self.fields.value(bytes, Slot::ClOrdId)?;
        if role == Role::Request && self.fields.value(bytes, Slot::PossDup) == Some(b"Y") {
            // Sent again: its report may have been there already.
            return None;
        }
        let owner = Owner {
            connection: seen.serial,
            shard: seen.shard,
            by_client: seen.to_server == (role == Role::Request),
        };
        if role == Role::Report {
            return self.orders.report(owner, id, seen.at);
        }
        if self.orders.request(owner, id, seen.at) == Some(seen.serial) {
            self.losses.count(Loss::FixOrders, 1);
        }
        None
    }

    /// Tells what is wrong with a message.
    #[inline]
    fn flaws<S: MessageSink>(&mut self, window: Window, sink: &mut S) {
        let flaws = self.fields.flaws();
        let right = window.body_length_ok && window.checksum_ok == Some(true);
        if right && flaws == crate::Flaws::default() {
            return;
        }
        let found = [
            (!window.body_length_ok, "fix_body_length"),
            (window.checksum_ok == Some(false), "fix_checksum"),
            (window.checksum_ok.is_none(), "fix_no_checksum"),
            (flaws.bad_field, "fix_bad_field"),
            (flaws.bad_data_length, "fix_data_length"),
            (flaws.too_many, "fix_too_many_fields"),
        ];
        for (_, event) in found.iter().filter(|(is, _)| *is) {
            sink.anomaly(event);
        }
        if flaws.too_many {
            self.losses.count(Loss::FixFields, 1);
        }
    }
}

/// Tells of bytes that are no message, once until the next message.
#[cold]
fn no_message<S: MessageSink>(direction: &mut Direction, event: &'static str, sink: &mut S) {
    if !direction.in_garbage {
        direction.in_garbage = true;
        sink.anomaly(event);
    }
}

/// A side was silent for longer than it may.
const LATE: &str = "fix_heartbeat_late";

/// Beyond, BodyLength is not waited for in this direction.
const ASKED_IN_VAIN_MAX: u32 = 1 << 18;

/// Parts of messages are mostly shorter than one.
const BLOCK_BYTES: u32 = 256;
