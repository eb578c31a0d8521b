//! The parser of one worker: all its connections, and what they share.
//!
//! ```text
//!  data ──► turn ──► message: head ──► request | response ──► body ──► next message
//!  gap ───► lost ──► finds the next message                    └─► pairing: a record of both
//!  closed, end ──► records of open transactions
//! ```

mod close;
pub(crate) mod forwarded;
mod lost;
mod message;
pub(crate) mod pairing;
pub(crate) mod start;
pub(crate) mod turn;

use crate::body::Bodies;
use crate::options::HttpOptions;
use crate::schema;
use crate::state::{Connection, NONE, Phase, Side, Text, Texts, Transaction};
use flowpin_counters::Losses;
use flowpin_memory::{Budget, Slab};
use flowpin_parser::{Parser, ParserSetup};
use flowpin_record::MessageSchema;
use pairing::TRANSACTION_BYTES;
use std::io;

/// HTTP/1 on all connections of one worker.
///
/// # Examples
///
/// ```
/// use flowpin_http::{Http, Parser};
/// use flowpin_packet::{Shard, Timestamp};
/// use flowpin_parser::{Begin, ParserSetup};
/// use flowpin_record::{MessageSchema, MessageSink, Value};
///
/// #[derive(Default)]
/// struct Count(u32);
/// impl MessageSink for Count {
///     fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
///         println!("{}: {values:?}", schema.name);
///         self.0 += 1;
///     }
///     fn anomaly(&mut self, event: &'static str) {
///         println!("{event}");
///     }
/// }
///
/// let mut http = Http::new(&ParserSetup::default())?;
/// let at = Timestamp::new(1, 0);
/// let begin = Begin { protocol: 0, shard: Shard(0), at };
/// let connection = http.begin(begin, || unreachable!("HTTP reads no addresses")).unwrap();
/// let mut sink = Count::default();
/// http.data(connection, at, true, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &mut sink);
/// http.data(connection, at, false, b"HTTP/1.1 204 No Content\r\n\r\n", &mut sink);
/// http.end(connection, at, &mut sink);
/// assert_eq!(sink.0, 1);
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
    /// The memory of all of them but bodies.
    pub(crate) budget: Budget,
    /// A line that arrived in parts, as long as a line may be.
    line: Vec<u8>,
    /// Texts that were in several blocks: of one transaction, so half a MiB at most.
    pub(crate) gathered: Vec<u8>,
    pub(crate) bodies: Bodies,
    schema: &'static MessageSchema,
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
    /// A parser with these options, and with the memory that `setup` has.
    ///
    /// # Errors
    ///
    /// Where the system refuses the address space.
    pub fn with_options(options: HttpOptions, setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let line = options.line_bytes_max as usize;
        let count = |each: u64| budget.capacity_of(each, 256);
        Ok(Self {
            connections: Slab::with_capacity(count(Self::CONNECTION_BYTES.into()))?,
            pools: Pools {
                transactions: Slab::with_capacity(count(TRANSACTION_BYTES))?,
                texts: Texts::new(budget)?,
                budget: budget.clone(),
                line: Vec::with_capacity(line.saturating_add(1 << 16)),
                gathered: Vec::with_capacity(1 << 17),
                bodies: Bodies::new(&options.bodies, &setup.bodies),
                schema: schema::http(&options),
                losses: Losses::default(),
            },
            options,
        })
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

    /// Whether nothing is in use, and all memory was given back.
    pub(crate) fn is_empty(&self) -> bool {
        let pools = &self.pools;
        let in_use = [
            self.connections.len(),
            pools.transactions.len(),
            pools.texts.in_use(),
        ];
        in_use == [0; 3] && pools.bodies.is_empty() && pools.budget.is_whole()
    }
}
