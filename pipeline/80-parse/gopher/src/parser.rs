//! The parser: holds the connections, reads requests and counts answers.

use crate::GOPHER;
use crate::request::{is_text, item_type, parts};
use crate::schema::BUFFERS;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Chain, Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{
    Begin, Buffer, Ends, KeptBytes, Line, Lines, Next, Parser, ParserSetup, PartialLine, Reads,
    slot_bytes,
};
use flowpin_record::{MessageSchema, MessageSink, Value};
use std::io;

/// The Gopher parser of one worker.
#[derive(Debug)]
pub struct Gopher {
    sessions: Slab<Session>,
    lines: Lines,
    shared: Shared,
}

/// What all connections of a worker share beside their lines.
#[derive(Debug)]
struct Shared {
    /// Requests whose answers are not complete.
    requests: KeptBytes,
    /// The request that is reported.
    request: Vec<u8>,
    losses: Losses,
}

/// A connection.
#[derive(Clone, Copy, Debug)]
struct Session {
    shard: u8,
    state: State,
    is_reported: bool,
    /// When the request was complete; before that, when its first bytes or the answer's came.
    at: Option<Timestamp>,
    client: PartialLine,
    request: Chain,
    answer_bytes: u64,
}

/// What is known of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is not complete.
    Reading,
    /// Its end has been seen: what the client sends after it is not read.
    Complete,
    /// As [`Complete`](Self::Complete), but more than is kept.
    Truncated,
    /// Bytes of it are missing in the capture: nothing is known of it.
    Lost,
}

impl Parser for Gopher {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("gopher")];
    const SCHEMAS: &'static [&'static MessageSchema] = &[&GOPHER];
    const BUFFERS: &'static [Buffer] = BUFFERS;
    const CONNECTION_BYTES: u32 = slot_bytes::<Session>();
    // Nearly any line is a selector.
    const ACCEPTS_OTHERS: bool = true;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let sessions = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            sessions: Slab::with_capacity(sessions)?,
            lines: Lines::new(budget, LINE_BYTES_MAX)?,
            shared: Shared {
                requests: KeptBytes::new(budget, BLOCK_BYTES)?,
                request: Vec::with_capacity(LINE_BYTES_MAX),
                losses: Losses::default(),
            },
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.sessions.insert(Session {
            shard: begin.shard.0,
            state: State::Reading,
            is_reported: false,
            at: None,
            client: PartialLine::default(),
            request: Chain::default(),
            answer_bytes: 0,
        })
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
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        let Some(session) = self.sessions.get_mut(connection) else {
            return Next::Nothing;
        };
        session.at.get_or_insert(at);
        if !to_server {
            let len = bytes.len() as u64;
            session.answer_bytes = session.answer_bytes.saturating_add(len);
        } else if session.state == State::Reading && !session.is_reported {
            let (_, line) = self.lines.next(&mut session.client, session.shard, bytes);
            if let Some(line) = line {
                session.at = Some(at);
                sink.fits(is_text(line.text));
                session.keep(line, &mut self.shared);
            }
        }
        Next::More
    }

    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        len: u64,
        _: &mut S,
    ) -> Next {
        let Some(session) = self.sessions.get_mut(connection) else {
            return Next::Nothing;
        };
        if !to_server {
            session.at.get_or_insert(at);
            session.answer_bytes = session.answer_bytes.saturating_add(len);
        } else if session.state == State::Reading {
            session.state = State::Lost;
            self.lines.release(&mut session.client, session.shard);
        }
        Next::More
    }

    /// The server closes when it has answered (RFC 1436 §2).
    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        _: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        if !to_server {
            self.report(connection, sink);
        }
        Next::More
    }

    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        self.report(connection, sink);
        if let Some(session) = self.sessions.get_mut(connection) {
            self.lines.release(&mut session.client, session.shard);
            self.sessions.remove(connection);
        }
    }

    fn is_idle(&self, connection: u32) -> bool {
        let session = self.sessions.get(connection);
        session.is_some_and(|session| session.is_reported || session.at.is_none())
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.sessions);
        visit(self.lines.pool());
        visit(self.shared.requests.pool());
    }

    fn losses(&self) -> Losses {
        let mut losses = self.shared.losses;
        losses.count(Loss::ParserBytes, self.lines.cut_count());
        losses
    }
}

impl Session {
    /// Keeps the request until its answer is complete.
    fn keep(&mut self, line: Line<'_>, shared: &mut Shared) {
        let is_kept = shared
            .requests
            .replace(self.shard, &mut self.request, line.text);
        shared.losses.count(Loss::ParserBytes, (!is_kept).into());
        self.state = if is_kept && !line.is_cut {
            State::Complete
        } else {
            State::Truncated
        };
    }
}

impl Gopher {
    /// Reports the request, once. A connection on which nothing was said has none.
    fn report<S: MessageSink>(&mut self, connection: u32, sink: &mut S) {
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        let Some(at) = session.at.filter(|_| !session.is_reported) else {
            return;
        };
        session.is_reported = true;
        let shard = session.shard;
        if session.state == State::Reading
            && let Some(line) = self.lines.rest(&mut session.client, shard)
        {
            session.keep(line, &mut self.shared);
        }
        let Shared {
            requests, request, ..
        } = &mut self.shared;
        request.clear();
        requests.read(&session.request, request);
        requests.release(shard, &mut session.request);
        let (selector, query) = parts(request);
        let is_known = matches!(session.state, State::Complete | State::Truncated);
        let values = [
            if is_known {
                Value::Bytes(selector)
            } else {
                Value::Unset
            },
            Value::bytes(item_type(selector)),
            Value::bytes(query),
            Value::Count(session.answer_bytes),
            Value::Bool(session.state == State::Truncated),
        ];
        sink.message(&GOPHER, at, &values);
    }
}

/// Bytes kept of the request; RFC 1436 appendix: a selector has 255 at most.
const LINE_BYTES_MAX: usize = 512;

/// Most requests fit into one block.
const BLOCK_BYTES: usize = 64;
