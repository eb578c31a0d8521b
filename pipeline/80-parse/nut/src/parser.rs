//! The parser: holds the connections and turns bytes into commands and answers.

use crate::schema::BUFFERS;
use crate::session::{Command, Scratch, Session};
use crate::{NUT, SIGNATURE};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{
    Begin, Buffer, Ends, KeptBytes, Lines, Next, Parser, ParserSetup, Queues, Reads, Successor,
    slot_bytes,
};
use flowpin_record::{MessageSchema, MessageSink};
use flowpin_signature::Protocol;
use std::io;

/// The NUT parser of one worker.
#[derive(Debug)]
pub struct Nut {
    sessions: Slab<Session>,
    lines: Lines,
    shared: Shared,
}

/// What all connections of a worker share beside their lines.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Commands that wait for their answers.
    pub(crate) waiting: Queues<Command>,
    /// The users that connections have named.
    pub(crate) users: KeptBytes,
    pub(crate) scratch: Scratch,
    pub(crate) losses: Losses,
}

impl Parser for Nut {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("nut")];
    const SIGNATURES: &'static [&'static Protocol] = &[&SIGNATURE];
    const SCHEMAS: &'static [&'static MessageSchema] = &[&NUT];
    const BUFFERS: &'static [Buffer] = BUFFERS;
    const CONNECTION_BYTES: u32 = slot_bytes::<Session>();

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let sessions = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            sessions: Slab::with_capacity(sessions)?,
            lines: Lines::new(budget, LINE_BYTES_MAX)?,
            shared: Shared {
                waiting: Queues::new(budget, BLOCK_BYTES)?,
                users: KeptBytes::new(budget, BLOCK_BYTES)?,
                scratch: Scratch::default(),
                losses: Losses::default(),
            },
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.sessions.insert(Session::new(begin.shard.0))
    }

    #[inline]
    fn prefetch(&self, connection: u32) {
        self.sessions.prefetch(connection);
    }

    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        mut bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let Some(session) = self.sessions.get_mut(connection) else {
            return Next::Nothing;
        };
        let all = bytes.len();
        while !bytes.is_empty() {
            let (shard, side) = session.side(to_server);
            let (used, line) = self.lines.next(side, shard, bytes);
            bytes = bytes.get(used..).unwrap_or_default();
            let Some(line) = line.filter(|line| !line.is_rest) else {
                continue;
            };
            if to_server {
                session.command(line, at, &mut self.shared, sink);
            } else if session.answer(line, at, &mut self.shared, sink) {
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
        if let Some(session) = self.sessions.get_mut(connection) {
            session.report_waiting(&mut self.shared, sink);
            session.lose();
            let (shard, side) = session.side(to_server);
            self.lines.lose(side, shard);
        }
        Next::More
    }

    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        session.report_waiting(&mut self.shared, sink);
        session.forget_user(&mut self.shared);
        for to_server in [true, false] {
            let (shard, side) = session.side(to_server);
            self.lines.release(side, shard);
        }
        self.sessions.remove(connection);
    }

    fn is_idle(&self, connection: u32) -> bool {
        let session = self.sessions.get(connection);
        session.is_some_and(|session| session.waiting.is_empty())
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.sessions);
        visit(self.lines.pool());
        self.shared.waiting.pools(visit);
        visit(self.shared.users.pool());
    }

    fn losses(&self) -> Losses {
        let mut losses = self.shared.losses;
        losses.count(Loss::ParserBytes, self.lines.cut_count());
        losses
    }
}

/// Bytes kept of a line; the rest of a longer line is skipped. Network UPS Tools itself accepts
/// fewer.
const LINE_BYTES_MAX: usize = 512;

/// Most commands and all usual names of users fit into one block.
const BLOCK_BYTES: usize = 64;
