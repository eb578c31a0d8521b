//! The parser: holds the connections, and reports each once.

use crate::SSH;
use crate::report::report;
use crate::schema::BUFFERS;
use crate::side::{Shown, Side, Step};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{
    Begin, Buffer, Ends, KeptBytes, Lines, Next, Parser, ParserSetup, Reads, slot_bytes,
};
use flowpin_record::{MessageSchema, MessageSink};
use std::io;

/// The SSH parser of one worker.
#[derive(Debug)]
pub struct Ssh {
    sessions: Slab<Session>,
    lines: Lines,
    kept: KeptBytes,
    losses: Losses,
}

/// A connection.
#[derive(Clone, Copy, Debug)]
struct Session {
    shard: u8,
    /// When its first bytes came.
    at: Option<Timestamp>,
    client: Side,
    server: Side,
}

impl Parser for Ssh {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("ssh")];
    const SCHEMAS: &'static [&'static MessageSchema] = &[&SSH];
    const BUFFERS: &'static [Buffer] = BUFFERS;
    const CONNECTION_BYTES: u32 = slot_bytes::<Session>();
    // Who evades puts an identification line before another protocol: the other side's first bytes
    // are searched, too.
    const ACCEPTS_OTHERS: bool = true;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let sessions = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            sessions: Slab::with_capacity(sessions)?,
            lines: Lines::new(budget, LINE_BYTES_MAX)?,
            kept: KeptBytes::new(budget, BLOCK_BYTES)?,
            losses: Losses::default(),
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.sessions.insert(Session {
            shard: begin.shard.0,
            at: None,
            client: Side::default(),
            server: Side::default(),
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
        let side = match to_server {
            true => &mut session.client,
            false => &mut session.server,
        };
        let mut rest = bytes;
        while !rest.is_empty() && side.step != Step::Done {
            let memory = (session.shard, &mut self.lines, &mut self.kept);
            let (used, shown) = side.read(to_server, memory, rest);
            rest = rest.get(used..).unwrap_or_default();
            match shown {
                Shown::Nothing => {}
                Shown::Banner => sink.fits(true),
                Shown::LongBanner => {
                    sink.fits(true);
                    sink.anomaly("ssh_banner_too_long");
                }
                // Few servers say anything before: it may be another protocol.
                Shown::OtherLine => sink.fits(false),
                Shown::NoBanner => {
                    sink.fits(false);
                    sink.anomaly("ssh_banner_missing");
                }
                Shown::BadLength => sink.anomaly("ssh_packet_length_odd"),
                Shown::LongPacket => sink.anomaly("ssh_packet_too_long"),
                Shown::NoRoom => self.losses.count(Loss::ParserBytes, 1),
            }
        }
        self.settle(connection, at, sink)
    }

    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        _: u64,
        sink: &mut S,
    ) -> Next {
        self.stop(connection, to_server);
        self.settle(connection, at, sink)
    }

    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        self.stop(connection, to_server);
        self.settle(connection, at, sink)
    }

    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        for to_server in [true, false] {
            self.stop(connection, to_server);
        }
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        if let Some(at) = session.at {
            report(at, [&session.client, &session.server], &self.kept, sink);
        }
        let shard = session.shard;
        for side in [&mut session.client, &mut session.server] {
            side.release(shard, &mut self.lines, &mut self.kept);
        }
        self.sessions.remove(connection);
    }

    fn is_idle(&self, connection: u32) -> bool {
        let session = self.sessions.get(connection);
        session.is_some_and(|session| session.at.is_none())
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.sessions);
        visit(self.lines.pool());
        visit(self.kept.pool());
    }

    fn losses(&self) -> Losses {
        let mut losses = self.losses;
        losses.count(Loss::ParserBytes, self.lines.cut_count());
        losses
    }
}

impl Ssh {
    fn stop(&mut self, connection: u32, to_server: bool) {
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        let side = match to_server {
            true => &mut session.client,
            false => &mut session.server,
        };
        side.stop(session.shard, &mut self.lines, &mut self.kept);
    }

    /// Reports the connection and releases it, once nothing more is read of either side.
    fn settle<S: MessageSink>(&mut self, connection: u32, at: Timestamp, sink: &mut S) -> Next {
        let session = self.sessions.get(connection);
        let is_over = session.is_none_or(|session| {
            session.client.step == Step::Done && session.server.step == Step::Done
        });
        if !is_over {
            return Next::More;
        }
        Parser::end(self, connection, at, sink);
        Next::Nothing
    }
}

/// RFC 4253 §4.2: an identification has 255 bytes at most, with its end.
const LINE_BYTES_MAX: usize = 253;
/// Most packets fit into three blocks.
const BLOCK_BYTES: usize = 512;
