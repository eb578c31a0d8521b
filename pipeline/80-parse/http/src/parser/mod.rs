//! The parser of one worker: all its connections, and the way in.
//!
//! ```text
//!  data ──► turn ──► message: head ──► request | response ──► body, chunks ──► next message
//!  gap ───► lost ──► looks for the next message                  └─► pairing: a record of both
//!  closed, end ──► what is open is written
//! ```

mod body;
mod close;
mod lost;
mod message;
mod pairing;
mod turn;

use crate::body::Bodies;
use crate::options::HttpOptions;
use crate::schema;
use crate::state::{Connection, NONE, Phase, Side, Text, Texts, Transaction};
use crate::stats::HttpStats;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Slab;
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::Successor;
use flowpin_record::{MessageSchema, MessageSink};
use std::io;
use turn::Turn;

/// A connection that is parsed: given out by [`Http::begin`], over with [`Http::end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub(crate) u32);

/// HTTP/1 on all connections of one worker.
///
/// # Examples
///
/// ```
/// use flowpin_http::{Http, HttpOptions};
/// use flowpin_packet::{Shard, Timestamp};
/// use flowpin_record::{MessageSchema, MessageSink, Value};
///
/// struct Print;
/// impl MessageSink for Print {
///     fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
///         println!("{}: {values:?}", schema.name);
///     }
///     fn anomaly(&mut self, event: &'static str) {
///         println!("{event}");
///     }
/// }
///
/// let mut http = Http::new(HttpOptions::default())?;
/// let connection = http.begin(Shard(0)).unwrap();
/// let at = Timestamp::new(1, 0);
/// http.data(connection, at, true, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &mut Print);
/// http.data(connection, at, false, b"HTTP/1.1 204 No Content\r\n\r\n", &mut Print);
/// http.end(connection, at, &mut Print);
/// assert_eq!(http.stats().records, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Http {
    connections: Slab<Connection>,
    pools: Pools,
    options: HttpOptions,
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Pools {
    transactions: Slab<Transaction>,
    texts: Texts,
    /// By shard: connections and transactions in use.
    used: Box<[[u32; 2]; 256]>,
    /// A line that came in parts.
    line: Vec<u8>,
    /// Texts that lie in several blocks.
    gathered: Vec<u8>,
    bodies: Bodies,
    schema: &'static MessageSchema,
    stats: HttpStats,
    losses: Losses,
}

impl Pools {
    /// A text of a transaction, wherever it lies: for rare uses, because it may be gathered.
    pub(crate) fn text(&mut self, handle: u32, text: Text) -> &[u8] {
        let Some(transaction) = self.transactions.get(handle) else {
            return &[];
        };
        self.gathered.clear();
        self.texts.gather(&transaction.texts, &mut self.gathered);
        transaction.part(text).of(&self.gathered)
    }
}

impl Http {
    /// A parser without connections.
    ///
    /// # Errors
    ///
    /// Where the system refuses the address space.
    pub fn new(options: HttpOptions) -> io::Result<Self> {
        let line = options.line_bytes_max as usize;
        let all = |each: u32| each.saturating_mul(256).min(u32::MAX.wrapping_sub(1));
        Ok(Self {
            connections: Slab::with_capacity(all(options.shard_connections_max))?,
            pools: Pools {
                transactions: Slab::with_capacity(all(options.shard_transactions_max))?,
                texts: Texts::new(options.shard_text_bytes_max)?,
                used: Box::new([[0; 2]; 256]),
                line: Vec::with_capacity(line.saturating_add(1 << 16)),
                gathered: Vec::with_capacity(1 << 17),
                bodies: Bodies::new(&options.bodies),
                schema: schema::http(&options),
                stats: HttpStats::default(),
                losses: Losses::default(),
            },
            options,
        })
    }

    /// A new connection of a shard; none, and counted, if the shard follows its most.
    pub fn begin(&mut self, shard: Shard) -> Option<Handle> {
        let [used, _] = self.pools.used.get_mut(usize::from(shard.0))?;
        let handle = if *used < self.options.shard_connections_max {
            self.connections.insert(Connection::new(shard.0))
        } else {
            None
        };
        match handle {
            Some(_) => *used = used.wrapping_add(1),
            None => self.pools.losses.count(Loss::HttpConnections, 1),
        }
        handle.map(Handle)
    }

    /// The next bytes of one direction, cut anywhere.
    ///
    /// Returns how many of them were HTTP. Fewer than there are: the connection has gone over to
    /// another protocol ([`Http::successor`]) in both directions, to which the rest belongs.
    #[inline]
    pub fn data<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> usize {
        match self.turn(handle, at, to_server, sink) {
            Some(mut turn) => turn.run(bytes),
            None => 0,
        }
    }

    /// `len` bytes of one direction are missing.
    pub fn gap<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) {
        if let Some(mut turn) = self.turn(handle, at, to_server, sink) {
            turn.gap(len);
        }
    }

    /// One direction has ended.
    pub fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        if let Some(mut turn) = self.turn(handle, at, to_server, sink) {
            turn.closed();
        }
    }

    /// The connection is over: what is open is written, and all memory released.
    pub fn end<S: MessageSink>(&mut self, handle: Handle, at: Timestamp, sink: &mut S) {
        for to_server in [true, false] {
            self.closed(handle, at, to_server, sink);
        }
        let Some(mut turn) = self.turn(handle, at, true, sink) else {
            return;
        };
        turn.write_all_open();
        let shard = turn.queue.shard;
        if let Some([used, _]) = self.pools.used.get_mut(usize::from(shard)) {
            *used = used.wrapping_sub(1);
        }
        self.connections.remove(handle.0);
    }

    /// Whether both sides are between messages and nothing is left to be written.
    pub fn is_idle(&self, handle: Handle) -> bool {
        let connection = self.connections.get(handle.0);
        connection.is_some_and(|connection| {
            let is_idle = |side: &Side| {
                let between = matches!(side.phase, Phase::Between | Phase::Closed);
                between && side.transaction == NONE && side.body == NONE
            };
            connection.queue.first == NONE
                && is_idle(&connection.client)
                && is_idle(&connection.server)
        })
    }

    /// Whether both sides are over and nothing is left to be written: [`Http::end`] has nothing to
    /// tell.
    #[inline]
    pub fn is_over(&self, handle: Handle) -> bool {
        let connection = self.connections.get(handle.0);
        connection.is_some_and(|connection| {
            let is_over = |side: &Side| {
                side.phase == Phase::Closed && side.transaction == NONE && side.body == NONE
            };
            connection.queue.first == NONE
                && is_over(&connection.client)
                && is_over(&connection.server)
        })
    }

    /// What the connection has gone over to, if it has.
    pub fn successor(&self, handle: Handle) -> Option<Successor> {
        self.connections.get(handle.0)?.queue.successor
    }

    /// The schemas of the records: of transactions, and of files.
    pub fn schemas(&self) -> [&'static MessageSchema; 2] {
        [self.pools.schema, &schema::FILES]
    }

    /// What was read so far.
    pub const fn stats(&self) -> HttpStats {
        self.pools.stats
    }

    /// What was lost to caps so far.
    pub const fn losses(&self) -> &Losses {
        &self.pools.losses
    }

    /// Asks the processor to fetch a connection's first lines.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        self.connections.prefetch(handle.0);
    }

    #[inline]
    fn turn<'a, S: MessageSink>(
        &'a mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &'a mut S,
    ) -> Option<Turn<'a, S>> {
        let Connection {
            client,
            server,
            queue,
        } = self.connections.get_mut(handle.0)?;
        let (mine, theirs) = if to_server {
            (client, server)
        } else {
            (server, client)
        };
        Some(Turn {
            mine,
            theirs,
            queue,
            pools: &mut self.pools,
            options: &self.options,
            sink,
            at,
            to_server,
        })
    }

    /// Connections, transactions, blocks and bodies in use: all 0 once every connection has ended.
    pub(crate) fn in_use(&self) -> [u32; 4] {
        [
            u32::try_from(self.pools.bodies.in_use()).unwrap_or(u32::MAX),
            self.connections.len(),
            self.pools.transactions.len(),
            self.pools.texts.in_use(),
        ]
    }
}
