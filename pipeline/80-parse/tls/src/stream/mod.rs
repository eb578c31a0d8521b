//! TLS over streams and DTLS over datagrams: reads the handshake from their records.

mod dtls;
mod side;

use crate::buffers::OF_TLS;
use crate::facts::{Facts, Notes};
use crate::pages::{Page, PageOf, Pages};
use crate::pools::Blocks;
use crate::schema::{TLS, VALIDATED};
use crate::x509::{Told, Trust, X509};
use dtls::is_dtls;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{
    Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads, SetupError, slot_bytes,
};
use flowpin_record::{MessageSchema, MessageSink};
use side::Side;
use std::io;
use std::sync::Arc;

/// The handshakes of one worker's connections.
#[derive(Debug)]
pub struct Tls {
    sessions: Slab<Session>,
    pages: Pages,
    blocks: Blocks,
    wants_ja3: bool,
    wants_randoms: bool,
    /// Certificates that Zeek's logs do not have as a whole, because of a cap.
    left_out: u64,
    /// What servers' certificates are validated against, if they are.
    trust: Option<Arc<Trust>>,
}

/// One connection.
#[derive(Clone, Copy, Debug)]
struct Session {
    facts: Facts,
    sides: [Side; 2],
    page: PageOf,
    shard: u8,
    /// DTLS: whether its client is the connection's server; `None` until a hello is seen.
    is_reversed: Option<bool>,
}

impl Parser for Tls {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("tls"), Reads::own("dtls")];
    const CONNECTION_BYTES: u32 = slot_bytes::<Session>();
    const WITHOUT_ROOM: Loss = Loss::TlsHandshakes;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&TLS, &X509];
    const BUFFERS: &'static [Buffer] = OF_TLS;

    fn prepare(setup: &mut ParserSetup) -> Result<(), SetupError> {
        Trust::prepare(setup)
    }

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let sessions = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            sessions: Slab::with_capacity(sessions)?,
            pages: Pages::new(budget)?,
            blocks: Blocks::new(budget)?,
            wants_ja3: setup.parse.ja3,
            wants_randoms: setup.rules,
            left_out: 0,
            trust: setup.shared(),
        })
    }

    fn schemas(setup: &ParserSetup) -> Vec<&MessageSchema> {
        let own = if setup.parse.roots.is_some() {
            &VALIDATED
        } else {
            &TLS
        };
        vec![own, &X509]
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.sessions.insert(Session {
            facts: Facts::first_seen_at(begin.at, self.wants_ja3).read_by_rules(self.wants_randoms),
            sides: [Side::default(); 2],
            page: PageOf::default(),
            shard: begin.shard.0,
            is_reversed: None,
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
        let is_wanted = sink.reads(&TLS);
        let page = self.pages.open(&mut session.page, session.shard, is_wanted);
        let told = told(sink, at, &mut self.left_out, self.trust.as_deref());
        session.read(to_server, bytes, &mut self.blocks, page, told);
        tell_odd(session, sink);
        match session.fits(to_server) {
            // A hello whose lengths all agree, followed by nothing that is not TLS.
            Some(true) if !session.side(to_server).is_over => sink.proves(),
            Some(is_mine) => sink.fits(is_mine),
            None => {}
        }
        self.end_if_done(connection, at, sink)
    }

    /// Nothing after the missing bytes is readable.
    fn gap<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        _: u64,
        sink: &mut S,
    ) -> Next {
        self.closed(connection, at, to_server, sink)
    }

    fn closed<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        if let Some(session) = self.sessions.get_mut(connection) {
            session.side_over(to_server, &mut self.blocks);
        }
        self.end_if_done(connection, at, sink)
    }

    fn datagram<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        to_server: bool,
        (payload, _): (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        let Some(session) = self.sessions.get_mut(connection) else {
            return Next::Nothing;
        };
        let is_wanted = sink.reads(&TLS);
        let page = self.pages.open(&mut session.page, session.shard, is_wanted);
        let told = told(sink, at, &mut self.left_out, self.trust.as_deref());
        session.read_datagram(to_server, payload, &mut self.blocks, page, told);
        tell_odd(session, sink);
        if let Some(is_mine) = is_dtls(payload) {
            sink.fits(is_mine);
        }
        self.end_if_done(connection, at, sink)
    }

    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        for to_server in [true, false] {
            session.side_over(to_server, &mut self.blocks);
        }
        if session.facts.has_any() {
            session.facts.report(self.pages.get(session.page), sink);
        }
        self.pages.free(session.page, session.shard);
        self.sessions.remove(connection);
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.sessions);
        self.pages.pools(visit);
        self.blocks.pools(visit);
    }

    fn losses(&self) -> Losses {
        let mut losses = losses(&self.pages, &self.blocks);
        losses.count(Loss::TlsCertificates, self.left_out);
        losses
    }
}

/// Who is told of certificates: nobody, if nobody reads of them and they are not validated.
#[inline]
fn told<'a>(
    sink: &'a mut impl MessageSink,
    at: Timestamp,
    left_out: &'a mut u64,
    trust: Option<&'a Trust>,
) -> Option<Told<'a>> {
    let has_readers = sink.reads(&X509);
    (has_readers || trust.is_some()).then_some(Told {
        sink,
        at,
        left_out,
        has_readers,
        trust,
    })
}

/// Tells what is odd, and was not told yet.
#[inline]
fn tell_odd(session: &mut Session, sink: &mut impl MessageSink) {
    for anomaly in session.facts.odd.take() {
        sink.anomaly(anomaly.name());
    }
}

/// What was lost for lack of memory.
pub(crate) fn losses(pages: &Pages, blocks: &Blocks) -> Losses {
    let mut losses = Losses::default();
    let refused = pages.refused().saturating_add(blocks.refused());
    losses.count(Loss::TlsMemory, refused);
    losses
}

impl Tls {
    /// Ends a connection that can reveal nothing more.
    fn end_if_done<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        sink: &mut S,
    ) -> Next {
        let Some(session) = self.sessions.get_mut(connection) else {
            return Next::Nothing;
        };
        let [client, server] = &session.sides;
        let both = client.is_encrypted && server.is_encrypted;
        session.facts.is_established |= both && session.facts.has_server;
        // The capture started after the handshake: nothing was sent in clear.
        let midway = (client.is_encrypted || server.is_encrypted) && !session.facts.has_any();
        if both || midway || (client.is_over && server.is_over) {
            self.end(connection, at, sink);
            return Next::Nothing;
        }
        Next::More
    }
}

impl Session {
    fn side(&mut self, to_server: bool) -> &mut Side {
        let [client, server] = &mut self.sides;
        if to_server { client } else { server }
    }

    /// Whether the bytes of one side of a stream are TLS, once that can be determined.
    fn fits(&self, to_server: bool) -> Option<bool> {
        let [client, server] = &self.sides;
        let (side, has_hello) = if to_server {
            (client, self.facts.has_client)
        } else {
            (server, self.facts.has_server)
        };
        if has_hello || side.is_encrypted || self.facts.alert.is_some() {
            return Some(true);
        }
        side.is_over.then_some(false)
    }

    fn side_over(&mut self, to_server: bool, blocks: &mut Blocks) {
        let shard = self.shard;
        let side = self.side(to_server);
        side.is_over = true;
        side.handshake.forget(shard, blocks);
        side.gathered.free(blocks, shard);
    }

    fn read(
        &mut self,
        to_server: bool,
        mut bytes: &[u8],
        blocks: &mut Blocks,
        mut page: Option<&mut Page>,
        mut told: Option<Told<'_>>,
    ) {
        while !bytes.is_empty() {
            let shard = self.shard;
            let [client, server] = &mut self.sides;
            let side = if to_server { client } else { server };
            if side.is_over || side.is_encrypted {
                return;
            }
            if usize::from(side.header_len) < side.header.len() {
                bytes = side.read_header(bytes);
                if side.header_len == 5 && !side.begin_record(to_server, &mut self.facts) {
                    return self.side_over(to_server, blocks);
                }
            } else {
                let len = bytes.len().min(usize::from(side.left));
                let (body, rest) = bytes.split_at(len);
                bytes = rest;
                side.left = side
                    .left
                    .saturating_sub(u16::try_from(len).unwrap_or(u16::MAX));
                let [kind, ..] = side.header;
                if kind == HANDSHAKE {
                    let mut notes = Notes {
                        facts: &mut self.facts,
                        page: page.as_deref_mut(),
                        told: told.as_mut().map(Told::lend),
                    };
                    let handshake = &mut side.handshake;
                    handshake.feed(body, to_server, shard, blocks, &mut notes);
                } else {
                    side.read_start(body, to_server, &mut self.facts);
                }
            }
            let side = self.side(to_server);
            if side.header_len == 5 && side.left == 0 {
                side.header_len = 0;
            }
        }
    }
}

// RFC 8446 §5.1.
const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;
// RFC 6520 §2.
const HEARTBEAT: u8 = 24;
