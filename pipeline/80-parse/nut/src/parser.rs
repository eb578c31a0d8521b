//! The parser: holds the connections and turns bytes into commands and answers.

use crate::lines::LINE_BYTES_MAX;
use crate::schema::BUFFERS;
use crate::session::{Command, Scratch, Session};
use crate::{NUT, SIGNATURE};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::{SHARD_COUNT, Timestamp};
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads, Successor};
use flowpin_record::{MessageSchema, MessageSink};
use flowpin_signature::Protocol;
use std::io;

/// The NUT parser of one worker.
#[derive(Debug)]
pub struct Nut {
    /// By connection; ended sessions are reused.
    sessions: Vec<Session>,
    free: Vec<u32>,
    shards: Box<[Shard; SHARD_COUNT]>,
    shard_connections_max: u32,
    shard_bytes_max: usize,
    line: Vec<u8>,
    scratch: Scratch,
    losses: Losses,
}

/// What the connections of a shard use.
#[derive(Clone, Copy, Debug, Default)]
struct Shard {
    connections: u32,
    /// Bytes of waiting commands.
    bytes: usize,
}

impl Parser for Nut {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("nut")];
    const SIGNATURES: &'static [&'static Protocol] = &[&SIGNATURE];
    const SCHEMAS: &'static [&'static MessageSchema] = &[&NUT];
    const BUFFERS: &'static [Buffer] = BUFFERS;
    // A line of each direction, a user name, and the session.
    const CONNECTION_BYTES: u32 = 2048;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let memory = setup.memory;
        let bytes = memory.shard_values(64, 1).max(SHARD_BYTES_MIN);
        Ok(Self {
            sessions: Vec::new(),
            free: Vec::new(),
            shards: Box::new([Shard::default(); SHARD_COUNT]),
            shard_connections_max: memory.shard_connections(Self::CONNECTION_BYTES, 1024),
            shard_bytes_max: usize::try_from(bytes).unwrap_or(usize::MAX),
            line: Vec::with_capacity(LINE_BYTES_MAX),
            scratch: Scratch::default(),
            losses: Losses::default(),
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        let shard = self.shards.get_mut(usize::from(begin.shard.0))?;
        if shard.connections >= self.shard_connections_max {
            self.losses.count(Loss::ParserConnections, 1);
            return None;
        }
        shard.connections = shard.connections.saturating_add(1);
        let connection = self.free.pop().or_else(|| {
            let next = u32::try_from(self.sessions.len()).ok()?;
            self.sessions.push(Session::default());
            Some(next)
        })?;
        let session = self.sessions.get_mut(connection as usize)?;
        session.begin(begin.shard.0);
        Some(connection)
    }

    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        mut bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let all = bytes.len();
        while !bytes.is_empty() {
            let Some(session) = self.sessions.get_mut(connection as usize) else {
                return Next::Nothing;
            };
            let lines = match to_server {
                true => &mut session.client,
                false => &mut session.server,
            };
            let (used, line) = lines.next(bytes, &mut self.line);
            bytes = bytes.get(used..).unwrap_or_default();
            let Some(is_cut) = line else {
                continue;
            };
            if is_cut {
                self.losses.count(Loss::ParserBytes, 1);
            }
            if to_server {
                self.command(connection, (at, is_cut), sink);
            } else if self.answer(connection, (at, is_cut), sink) {
                return Next::Successor(Successor::Tls, all.saturating_sub(bytes.len()));
            }
        }
        Next::More
    }

    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        _: u64,
        sink: &mut S,
    ) -> Next {
        self.report_waiting(connection, sink);
        if let Some(session) = self.sessions.get_mut(connection as usize) {
            session.lose(to_server);
        }
        Next::More
    }

    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        self.report_waiting(connection, sink);
        let Some(session) = self.sessions.get_mut(connection as usize) else {
            return;
        };
        if !session.is_open {
            return;
        }
        session.forget();
        if let Some(shard) = self.shards.get_mut(usize::from(session.shard)) {
            shard.connections = shard.connections.saturating_sub(1);
        }
        self.free.push(connection);
    }

    fn is_idle(&self, connection: u32) -> bool {
        let session = self.sessions.get(connection as usize);
        session.is_some_and(|session| session.waiting.is_empty())
    }

    fn losses(&self) -> Losses {
        self.losses
    }
}

impl Nut {
    /// Queues a command until its answer arrives; without room, reports it without an answer.
    fn command<S: MessageSink>(
        &mut self,
        connection: u32,
        (at, is_cut): (Timestamp, bool),
        sink: &mut S,
    ) {
        let Some(session) = self.sessions.get_mut(connection as usize) else {
            return;
        };
        let is_mine = session.command(&mut self.line, &mut self.scratch);
        sink.fits(is_mine);
        let (line, shard) = (&self.line, usize::from(session.shard));
        let Some(shard) = self.shards.get_mut(shard) else {
            return;
        };
        let command = Command {
            at,
            line: line.as_slice().into(),
            is_cut,
        };
        let bytes = shard.bytes.saturating_add(command.cost());
        if bytes > self.shard_bytes_max || session.waiting.len() >= WAITING_MAX {
            self.losses
                .count(Loss::ParserBytes, line.len().max(1) as u64);
            session.report(Some(&command), None, at, &mut self.scratch, sink);
            return;
        }
        shard.bytes = bytes;
        session.waiting.push_back(command);
    }

    /// Reads a line of the server; returns whether the connection continues as TLS.
    fn answer<S: MessageSink>(
        &mut self,
        connection: u32,
        (at, is_cut): (Timestamp, bool),
        sink: &mut S,
    ) -> bool {
        let Some(session) = self.sessions.get_mut(connection as usize) else {
            return false;
        };
        let line = (self.line.as_slice(), is_cut, at);
        let answered = session.answer(line, &mut self.scratch, sink);
        sink.fits(answered.is_mine);
        let shard = session.shard;
        if let Some(command) = answered.command {
            self.release(shard, &command);
        }
        answered.is_tls
    }

    /// Reports all waiting commands without answers.
    fn report_waiting<S: MessageSink>(&mut self, connection: u32, sink: &mut S) {
        while let Some(session) = self.sessions.get_mut(connection as usize)
            && let Some(command) = session.waiting.pop_front()
        {
            session.report(Some(&command), None, command.at, &mut self.scratch, sink);
            let shard = session.shard;
            self.release(shard, &command);
        }
    }

    /// Releases the memory of a command that waits no longer.
    fn release(&mut self, shard: u8, command: &Command) {
        if let Some(shard) = self.shards.get_mut(usize::from(shard)) {
            shard.bytes = shard.bytes.saturating_sub(command.cost());
        }
    }

    /// Connections followed, and bytes of waiting commands.
    pub(crate) fn in_use(&self) -> (u32, usize) {
        let shards = self.shards.iter();
        shards.fold((0, 0), |(connections, bytes), shard| {
            let connections = shard.connections.saturating_add(connections);
            (connections, shard.bytes.saturating_add(bytes))
        })
    }
}

/// Waiting commands of one connection: clients usually send one at a time.
const WAITING_MAX: usize = 32;

/// Each shard has room for some commands at least.
const SHARD_BYTES_MIN: u32 = 8 << 10;
