//! The parser of one worker: all its connections, and what they share.
//!
//! ```text
//!  data ──► turn ──► message: head ──► request | response ──► body ──► next message
//!  gap ───► lost ──► finds the next message                    └─► pairing: a record of both
//!  closed, end ──► records of open transactions
//! ```

mod close;
mod lost;
mod message;
pub(crate) mod pairing;
pub(crate) mod start;
pub(crate) mod turn;

use crate::body::Bodies;
use crate::options::HttpOptions;
use crate::schema;
use crate::state::{Connection, NONE, Phase, Side, Text, Texts, Transaction};
use crate::stats::HttpStats;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Slab;
use flowpin_packet::Shard;
use flowpin_parser::Successor;
use flowpin_record::MessageSchema;
use std::io;

/// HTTP/1 on all connections of one worker.
///
/// # Examples
///
/// ```
/// use flowpin_http::{Http, HttpOptions, Parser};
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

/// Memory and counters that all connections share.
#[derive(Debug)]
pub(crate) struct Pools {
    pub(crate) transactions: Slab<Transaction>,
    pub(crate) texts: Texts,
    /// By shard: connections and transactions in use.
    used: Box<[[u32; 2]; 256]>,
    /// A line that arrived in parts.
    line: Vec<u8>,
    /// Texts that were in several blocks.
    pub(crate) gathered: Vec<u8>,
    pub(crate) bodies: Bodies,
    schema: &'static MessageSchema,
    pub(crate) stats: HttpStats,
    pub(crate) losses: Losses,
}

impl Pools {
    /// A text of a transaction. It is copied, so only rare uses call this.
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

    /// Follows a connection of a shard; none, and counted, if the shard follows its maximum.
    pub fn begin(&mut self, shard: Shard) -> Option<u32> {
        let [used, _] = self.pools.used.get_mut(usize::from(shard.0))?;
        let connection = if *used < self.options.shard_connections_max {
            self.connections.insert(Connection::new(shard.0))
        } else {
            None
        };
        match connection {
            Some(_) => *used = used.wrapping_add(1),
            None => self.pools.losses.count(Loss::HttpConnections, 1),
        }
        connection
    }

    /// Releases a connection whose records are written.
    fn remove(&mut self, connection: u32, shard: u8) {
        if let Some([used, _]) = self.pools.used.get_mut(usize::from(shard)) {
            *used = used.wrapping_sub(1);
        }
        self.connections.remove(connection);
    }

    /// Whether both sides are in one of these phases, with nothing left to write.
    #[inline]
    fn rests(&self, connection: u32, is_resting: impl Fn(Phase) -> bool) -> bool {
        let connection = self.connections.get(connection);
        connection.is_some_and(|connection| {
            let rests = |side: &Side| {
                is_resting(side.phase) && side.transaction == NONE && side.body == NONE
            };
            connection.queue.first == NONE && rests(&connection.client) && rests(&connection.server)
        })
    }

    /// The protocol that the connection has changed to, if it has.
    pub fn successor(&self, connection: u32) -> Option<Successor> {
        self.connections.get(connection)?.queue.successor
    }

    /// The schemas of its records: of transactions, and of files.
    pub fn schemas(&self) -> [&'static MessageSchema; 2] {
        [self.pools.schema, &schema::FILES]
    }

    /// Counters of all connections.
    pub const fn stats(&self) -> HttpStats {
        self.pools.stats
    }

    /// Bodies, connections, transactions and blocks in use: all 0 once every connection has ended.
    pub(crate) fn in_use(&self) -> [u32; 4] {
        [
            u32::try_from(self.pools.bodies.in_use()).unwrap_or(u32::MAX),
            self.connections.len(),
            self.pools.transactions.len(),
            self.pools.texts.in_use(),
        ]
    }
}
