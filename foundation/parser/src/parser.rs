//! The interface itself.

use crate::{Buffer, Continues, Next, ParserSetup, SetupError};
use core::fmt::Debug;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Pool;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{MessageSchema, MessageSink, RecordEndpoint};
use flowpin_signature::Protocol;
use std::io;

/// A protocol that a parser reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// As identification names it.
    pub protocol: &'static str,
    /// What its messages are called where the user chooses among them (`--parse http,dns`).
    pub messages: &'static str,
}

impl Reads {
    /// A protocol whose messages are called as it is.
    pub const fn own(protocol: &'static str) -> Self {
        Self::called(protocol, protocol)
    }

    /// A protocol whose messages are called as those of another one.
    pub const fn called(protocol: &'static str, messages: &'static str) -> Self {
        Self { protocol, messages }
    }
}

/// A connection that a parser is bound to.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// Which of the parser's protocols it speaks: an index into [`Parser::PROTOCOLS`].
    pub protocol: u16,
    /// Its shard.
    pub shard: Shard,
    /// When the first bytes for the parser were captured.
    pub at: Timestamp,
}

/// The two sides of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Who opened it.
    pub client: RecordEndpoint,
    /// The other side.
    pub server: RecordEndpoint,
}

/// The parser of one protocol, or of some that are alike, for all connections of one worker.
///
/// A connection is a number that [`begin`](Self::begin) gives out. It is valid until
/// [`end`](Self::end), or until the parser answers [`Next::Nothing`]. See the [crate](crate) for
/// how to add a parser.
pub trait Parser: Debug + Sized {
    /// The protocols that it reads.
    const PROTOCOLS: &'static [Reads];

    /// What [`begin`](Self::begin) takes of the shard's memory: the slots of a connection
    /// ([`slot_bytes`](crate::slot_bytes)). The engine charges it, and what binds the connection to
    /// its parser.
    const CONNECTION_BYTES: u32;

    /// Counts the connections that are not read because their shard has no memory for them.
    const WITHOUT_ROOM: Loss = Loss::ParserConnections;

    /// The records that it makes: of all formats.
    const SCHEMAS: &'static [&'static MessageSchema] = &[];

    /// How to find those of its protocols that identification's own table does not have. A protocol
    /// of the table is extended there.
    const SIGNATURES: &'static [&'static Protocol] = &[];

    /// Values of messages that rules may look at.
    const BUFFERS: &'static [Buffer] = &[];

    /// What it takes over from another parser.
    const CONTINUES: Option<Continues> = None;

    /// Whether, after it proved what a side said ([`MessageSink::proves`]), it holds all that is
    /// not proved yet: [`held`](Self::held) has it then.
    const HOLDS_UNPROVED: bool = false;

    /// Whether it accepts lines that other protocols know as well, so that its
    /// [`MessageSink::fits`] proves nothing: identification then searches the first bytes of the
    /// side that did not lead to the verdict, too.
    const ACCEPTS_OTHERS: bool = false;

    /// Reads the files that the settings name, and shares what is in them: once for each run.
    ///
    /// # Errors
    /// A file that cannot be used.
    fn prepare(setup: &mut ParserSetup) -> Result<(), SetupError> {
        let _ = setup;
        Ok(())
    }

    /// Makes what all parsers of this process share and what takes time to make. It may be called
    /// beside everything else, also when it is made already.
    fn warm() {}

    /// A parser without connections.
    ///
    /// # Errors
    /// Where the system refuses the address space.
    fn new(setup: &ParserSetup) -> io::Result<Self>;

    /// The records that it makes with this setup.
    fn schemas(setup: &ParserSetup) -> Vec<&MessageSchema> {
        let _ = setup;
        Self::SCHEMAS.to_vec()
    }

    /// What the user may call its messages (`--parse`).
    fn names(setup: &ParserSetup) -> Vec<&str> {
        let _ = setup;
        Self::PROTOCOLS.iter().map(|one| one.messages).collect()
    }

    /// Which of its protocols has this name.
    fn protocol(&self, name: &str) -> Option<u16> {
        let found = Self::PROTOCOLS.iter().position(|one| one.protocol == name);
        found.and_then(|number| u16::try_from(number).ok())
    }

    /// Like [`protocol`](Self::protocol), where this parser comes before all that have no such
    /// claim: the user has brought it. `is_own`: a built-in rule has identified the connection.
    fn replaces(&self, name: &str, is_own: bool) -> Option<u16> {
        let _ = (name, is_own);
        None
    }

    /// Follows a connection; none if the parser cannot. Its
    /// [`CONNECTION_BYTES`](Self::CONNECTION_BYTES) have been taken from its shard's memory. `ends`
    /// looks up the two sides: most parsers do not need them.
    fn begin(&mut self, begin: Begin, ends: impl FnOnce() -> Ends) -> Option<u32>;

    /// Prefetches what the next call will read of a connection. Any number is fine.
    #[inline]
    fn prefetch(&self, connection: u32) {
        let _ = connection;
    }

    /// The next bytes of one direction of a stream, in order.
    #[inline]
    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let _ = (connection, at, to_server, bytes, sink);
        Next::More
    }

    /// `len` bytes of one direction are missing. A parser that says nothing else gives the
    /// connection up.
    #[inline]
    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) -> Next {
        let _ = (to_server, len);
        self.end(connection, at, sink);
        Next::Nothing
    }

    /// One direction of a stream has ended.
    #[inline]
    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        let _ = (connection, at, to_server, sink);
        Next::More
    }

    /// A datagram: what was captured of it, and how long it was on the wire.
    #[inline]
    fn datagram<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        payload: (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        let _ = (connection, at, to_server, payload, sink);
        Next::More
    }

    /// The connection is over, or goes on without its parser: what is open is reported.
    fn end<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S);

    /// Whether it is between messages on both sides, with nothing left to report.
    fn is_idle(&self, connection: u32) -> bool {
        let _ = connection;
        false
    }

    /// Where it [holds what is not proved](Self::HOLDS_UNPROVED): appends what it holds of one
    /// direction to `to`; if that `spoke` last, what it held before.
    fn held(&self, connection: u32, to_server: bool, spoke: bool, to: &mut Vec<u8>) {
        let _ = (connection, to_server, spoke, to);
    }

    /// Calls `visit` with each of its pools, so that what they no longer use can be given back to
    /// the system.
    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        let _ = visit;
    }

    /// What was lost to caps so far.
    fn losses(&self) -> Losses;
}
