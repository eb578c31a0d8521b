//! For the tests and fuzz targets of parsers: connections whose calls are checked, and a sink that
//! collects records as text.

use crate::{Begin, Ends, Next, Parser, ParserSetup};
use core::net::{IpAddr, Ipv4Addr};
use flowpin_memory::Budget;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{DataChannel, MessageSchema, MessageSink, RecordEndpoint, Value};

/// Collects all that a parser reports, as text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The name and the values of each record, and the names of anomalies: `dns a|b|-`.
    pub records: Vec<String>,
    /// Announcements of data connections.
    pub channels: Vec<String>,
}

impl MessageSink for Records {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        assert!(values.len() <= schema.columns.len());
        let values: Vec<String> = values.iter().map(shown).collect();
        self.records
            .push(format!("{} {}", schema.name, values.join("|")));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.records.push(event.into());
    }

    fn data_channel(&mut self, channel: DataChannel<'_>) {
        self.channels.push(format!("{channel:?}"));
    }
}

/// A value as text; `-` if it is unset.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Unset => "-".to_owned(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Text(text) => (*text).to_owned(),
        Value::Count(count) | Value::Interval(count) => count.to_string(),
        Value::Bool(is) => is.to_string(),
        Value::Address(address) => address.to_string(),
        Value::Port(port) => port.to_string(),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(shown).collect();
            format!("[{}]", values.join(","))
        }
        other => format!("{other:?}"),
    }
}

/// A parser that is called as the engine calls it, and checked:
///
/// - no call takes more of the memory than 64 bytes for each byte of the call, and 32 KiB more;
/// - once all connections have ended, all memory is given back ([`finish`](Self::finish)).
///
/// ```
/// # use flowpin_counters::Losses;
/// # use flowpin_packet::Timestamp;
/// # use flowpin_parser::{Begin, Ends, Next, Parser, ParserSetup, Reads};
/// # use flowpin_record::MessageSink;
/// use flowpin_parser::testing::{Records, Trial};
///
/// # #[derive(Debug)]
/// # struct Quiet;
/// # impl Parser for Quiet {
/// #     const PROTOCOLS: &'static [Reads] = &[];
/// #     const CONNECTION_BYTES: u32 = 8;
/// #     fn new(_: &ParserSetup) -> std::io::Result<Self> {
/// #         Ok(Self)
/// #     }
/// #     fn begin(&mut self, _: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
/// #         Some(0)
/// #     }
/// #     fn end<S: MessageSink>(&mut self, _: u32, _: Timestamp, _: &mut S) {}
/// #     fn losses(&self) -> Losses {
/// #         Losses::default()
/// #     }
/// # }
/// let setup = ParserSetup::default();
/// let mut trial = Trial::new(Quiet::new(&setup)?, &setup);
/// let connection = trial.begin(0).unwrap();
/// let mut sink = Records::default();
/// trial.data(connection, Timestamp(1), true, b"hello", &mut sink);
/// trial.finish(&mut sink);
/// assert!(sink.records.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Trial<P> {
    /// The parser.
    pub parser: P,
    /// The two sides of each connection.
    pub ends: Ends,
    budget: Budget,
    /// Connections that have not ended.
    open: Vec<u32>,
}

/// The shard of all connections of a [`Trial`].
pub const SHARD: u8 = 7;

impl<P: Parser> Trial<P> {
    /// A parser that was made from this set-up.
    pub fn new(parser: P, setup: &ParserSetup) -> Self {
        let end = |last, port| RecordEndpoint {
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)),
            port,
        };
        Self {
            parser,
            ends: Ends {
                client: end(1, 50_000),
                server: end(2, 21),
            },
            budget: setup.budget.clone(),
            open: Vec::new(),
        }
    }

    /// Begins a connection of one of the parser's protocols; none if its shard has no memory left.
    pub fn begin(&mut self, protocol: u16) -> Option<u32> {
        if !self.budget.take(SHARD, P::CONNECTION_BYTES.into()) {
            return None;
        }
        let begin = Begin {
            protocol,
            shard: Shard(SHARD),
            at: Timestamp(0),
        };
        let ends = self.ends;
        let left = self.left();
        let Some(connection) = self.parser.begin(begin, || ends) else {
            self.budget.give_back(SHARD, P::CONNECTION_BYTES.into());
            return None;
        };
        assert_eq!(self.left(), left, "what begins is charged by the engine");
        self.open.push(connection);
        Some(connection)
    }

    /// Bytes of memory that the shard has left.
    pub fn left(&self) -> u64 {
        self.budget.left(SHARD)
    }

    /// As [`Parser::data`].
    pub fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        self.call(connection, bytes.len(), |parser| {
            parser.data(connection, at, to_server, bytes, sink)
        })
    }

    /// As [`Parser::gap`].
    pub fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) -> Next {
        self.call(connection, 0, |parser| {
            parser.gap(connection, at, to_server, len, sink)
        })
    }

    /// As [`Parser::closed`].
    pub fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        self.call(connection, 0, |parser| {
            parser.closed(connection, at, to_server, sink)
        })
    }

    /// As [`Parser::datagram`].
    pub fn datagram<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        payload: (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        self.call(connection, payload.0.len(), |parser| {
            parser.datagram(connection, at, to_server, payload, sink)
        })
    }

    /// As [`Parser::end`].
    pub fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) {
        self.call(connection, 0, |parser| {
            parser.end(connection, at, sink);
            Next::Nothing
        });
    }

    /// Ends all connections; all memory is given back then. Returns the parser.
    pub fn finish<S: MessageSink>(mut self, sink: &mut S) -> P {
        while let Some(&connection) = self.open.last() {
            self.end(connection, Timestamp(u64::MAX), sink);
        }
        assert!(self.budget.is_whole(), "memory that was not given back");
        self.parser
    }

    /// A call with that many bytes.
    fn call(&mut self, connection: u32, len: usize, call: impl FnOnce(&mut P) -> Next) -> Next {
        let before = self.left();
        let next = call(&mut self.parser);
        let taken = before.saturating_sub(self.left());
        let most = (len as u64).saturating_mul(64).saturating_add(32 << 10);
        assert!(taken <= most, "{taken} bytes for {len}");
        if next == Next::Nothing {
            self.open.retain(|&open| open != connection);
            self.budget.give_back(SHARD, P::CONNECTION_BYTES.into());
        }
        next
    }
}

/// The records of a connection whose sides take turns, the client first, each turn cut into pieces
/// of this many bytes. An empty turn is a gap.
pub fn turns<P: Parser>(
    parser: P,
    setup: &ParserSetup,
    protocol: u16,
    turns: &[&[u8]],
    piece: usize,
) -> Records {
    let mut sink = Records::default();
    let mut trial = Trial::new(parser, setup);
    let Some(connection) = trial.begin(protocol) else {
        return sink;
    };
    let at = Timestamp(1);
    'turns: for (number, turn) in turns.iter().enumerate() {
        let to_server = number.is_multiple_of(2);
        if turn.is_empty() && trial.gap(connection, at, to_server, 5, &mut sink) == Next::Nothing {
            break;
        }
        let mut read = 0usize;
        for part in turn.chunks(piece) {
            match trial.data(connection, at, to_server, part, &mut sink) {
                Next::More => read = read.saturating_add(part.len()),
                Next::Nothing => break 'turns,
                Next::Successor(_, used) => {
                    let at = read.saturating_add(used);
                    sink.records.push(format!("successor after {at}"));
                    break 'turns;
                }
            }
        }
    }
    trial.finish(&mut sink);
    sink
}
