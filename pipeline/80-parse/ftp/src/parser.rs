//! The parser: holds the connections and turns bytes into lines.

use crate::FtpOptions;
use crate::budget::Budget;
use crate::exchange::Exchange;
use crate::record::event::Event;
use crate::record::log::Log;
use crate::session::{Context, Session};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::{SHARD_COUNT, Shard, Timestamp};
use flowpin_parser::Ends;
use flowpin_record::MessageSink;

/// The handle of a connection in [`Ftp`].
pub type Handle = u32;

/// The FTP parser of one worker.
///
/// # Examples
///
/// ```
/// use core::net::IpAddr;
/// use flowpin_ftp::{Ends, FTP, Ftp, FtpOptions};
/// use flowpin_packet::{Shard, Timestamp};
/// use flowpin_record::{MessageSchema, MessageSink, RecordEndpoint, Value};
///
/// struct Count(u32);
/// impl MessageSink for Count {
///     fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
///         if schema == &FTP {
///             assert_eq!(values[0], Value::Bytes(b"CWD"));
///             self.0 += 1;
///         }
///     }
///     fn anomaly(&mut self, event: &'static str) {
///         panic!("{event}");
///     }
/// }
///
/// let end = |last, port| RecordEndpoint { address: IpAddr::from([192, 0, 2, last]), port };
/// let ends = Ends { client: end(1, 50000), server: end(2, 21) };
/// let mut ftp = Ftp::new(FtpOptions::default());
/// let connection = ftp.begin(Shard(0), ends).unwrap();
/// let mut sink = Count(0);
/// ftp.data(connection, Timestamp(0), true, b"CWD /pub\r\n", &mut sink);
/// ftp.data(connection, Timestamp(1), false, b"250 There\r\n", &mut sink);
/// ftp.end(connection, Timestamp(1), &mut sink);
/// assert_eq!(sink.0, 1);
/// ```
#[derive(Debug)]
pub struct Ftp {
    options: FtpOptions,
    /// By handle; ended sessions are reused.
    sessions: Vec<Session>,
    free: Vec<Handle>,
    open: Box<[u32; SHARD_COUNT]>,
    shared: Shared,
}

/// State shared by all connections of a worker.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) budget: Budget,
    /// Finished exchanges, for reuse.
    pub(crate) spare: Vec<Exchange>,
    pub(crate) event: Event,
    pub(crate) log: Log,
    pub(crate) path: Vec<u8>,
    /// Buffer for a line that arrived in parts.
    whole: Vec<u8>,
}

impl Ftp {
    /// Creates a parser without connections.
    pub fn new(options: FtpOptions) -> Self {
        Self {
            options,
            sessions: Vec::new(),
            free: Vec::new(),
            open: Box::new([0; SHARD_COUNT]),
            shared: Shared {
                budget: Budget::new(options.shard_bytes_max),
                spare: Vec::new(),
                event: Event::default(),
                log: Log::default(),
                path: Vec::new(),
                whole: Vec::new(),
            },
        }
    }

    /// Begins a control connection; `None` if its shard is full.
    pub fn begin(&mut self, shard: Shard, ends: Ends) -> Option<Handle> {
        let open = self.open.get_mut(usize::from(shard.0));
        let most = self.options.shard_connections_max;
        let Some(open) = open.filter(|open| **open < most) else {
            self.shared.budget.losses.count(Loss::FtpConnections, 1);
            return None;
        };
        *open = open.saturating_add(1);
        let handle = self.free.pop().or_else(|| {
            let next = Handle::try_from(self.sessions.len()).ok()?;
            self.sessions.push(Session::default());
            Some(next)
        })?;
        if let Some(session) = self.sessions.get_mut(handle as usize) {
            session.begin(shard, ends);
        }
        Some(handle)
    }

    /// Reads the next bytes of one direction, in order.
    pub fn data<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        mut bytes: &[u8],
        sink: &mut S,
    ) {
        let Some(session) = self.sessions.get_mut(handle as usize) else {
            return;
        };
        let mut whole = core::mem::take(&mut self.shared.whole);
        let limits = (session.shard(), self.options.line_bytes_max as usize);
        let mut context = Context {
            options: &self.options,
            shared: &mut self.shared,
            at,
            sink,
        };
        while !bytes.is_empty() && session.is_readable(bytes, context.sink) {
            let budget = &mut context.shared.budget;
            let partial_line = session.partial_line(to_server);
            let (used, line) = partial_line.next(bytes, limits, budget, &mut whole);
            bytes = bytes.get(used..).unwrap_or_default();
            if let Some(line) = line {
                session.line(to_server, line, &mut context);
            }
        }
        self.shared.whole = whole;
    }

    /// Handles missing bytes of one direction.
    pub fn gap<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        _len: u64,
        sink: &mut S,
    ) {
        self.rest(handle, at, to_server, sink);
        if let Some(session) = self.sessions.get_mut(handle as usize) {
            session.lose(to_server, &mut self.shared.budget);
        }
    }

    /// Ends one direction.
    pub fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        self.rest(handle, at, to_server, sink);
    }

    /// Ends the connection; the handle becomes invalid.
    pub fn end<S: MessageSink>(&mut self, handle: Handle, at: Timestamp, sink: &mut S) {
        self.rest(handle, at, true, sink);
        self.rest(handle, at, false, sink);
        let Some(session) = self.sessions.get_mut(handle as usize) else {
            return;
        };
        let mut context = Context {
            options: &self.options,
            shared: &mut self.shared,
            at,
            sink,
        };
        let shard = usize::from(session.shard());
        session.end(&mut context);
        if let Some(open) = self.open.get_mut(shard) {
            *open = open.saturating_sub(1);
        }
        self.free.push(handle);
    }

    /// Counts of what did not fit, by name.
    pub fn losses(&self) -> &Losses {
        &self.shared.budget.losses
    }

    /// Whether no connection is followed and no memory used.
    pub fn is_empty(&self) -> bool {
        let budget = &self.shared.budget;
        self.open.iter().all(|&open| open == 0) && budget.is_whole(self.options.shard_bytes_max)
    }

    /// Reads the last, unterminated line of one direction.
    fn rest<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) {
        let Some(session) = self.sessions.get_mut(handle as usize) else {
            return;
        };
        let mut whole = core::mem::take(&mut self.shared.whole);
        let limits = (session.shard(), self.options.line_bytes_max as usize);
        let budget = &mut self.shared.budget;
        let partial_line = session.partial_line(to_server);
        if let Some(line) = partial_line.rest(limits, budget, &mut whole)
            && !session.is_over()
        {
            let mut context = Context {
                options: &self.options,
                shared: &mut self.shared,
                at,
                sink,
            };
            session.line(to_server, line, &mut context);
        }
        self.shared.whole = whole;
    }
}
