//! TLS over streams and DTLS over datagrams: reads the handshake from their records.

mod dtls;
mod side;

use crate::Wanted;
use crate::facts::{Facts, Notes};
use crate::pages::{Page, PageOf, Pages};
use crate::pools::{Blocks, Sharded, TlsOptions, losses};
use crate::schema::TLS;
use dtls::is_dtls;
use flowpin_counters::Losses;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::MessageSink;
use side::Side;
use std::io;

/// The handshakes of one worker's connections.
#[derive(Debug)]
pub struct Tls {
    sessions: Sharded<Session>,
    pages: Pages,
    blocks: Blocks,
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

impl Tls {
    /// Reserves the pools.
    ///
    /// # Errors
    /// If the system refuses the address space.
    pub fn new(options: TlsOptions) -> io::Result<Self> {
        Ok(Self {
            sessions: Sharded::new(options.shard_sessions_max)?,
            pages: Pages::new(options.shard_sessions_max.saturating_mul(256))?,
            blocks: Sharded::new(options.shard_blocks_max)?,
        })
    }

    /// Opens a connection first seen at `at`; `None` if its shard is at its limit.
    pub fn begin(&mut self, shard: Shard, at: Timestamp) -> Option<u32> {
        let session = Session {
            facts: Facts::first_seen_at(at),
            sides: [Side::default(); 2],
            page: PageOf::default(),
            shard: shard.0,
            is_reversed: None,
        };
        self.sessions.insert(shard.0, session)
    }

    /// Parses the next bytes of one direction of a stream.
    pub fn data(
        &mut self,
        handle: u32,
        to_server: bool,
        bytes: &[u8],
        sink: &mut impl MessageSink,
    ) -> Wanted {
        let Some(session) = self.sessions.get_mut(handle) else {
            return Wanted::Nothing;
        };
        let page = self.pages.open(&mut session.page, sink.reads(&TLS));
        session.read(to_server, bytes, &mut self.blocks, page);
        match session.fits(to_server) {
            // A hello whose lengths all agree, followed by nothing that is not TLS.
            Some(true) if !session.side(to_server).is_over => sink.proves(),
            Some(is_mine) => sink.fits(is_mine),
            None => {}
        }
        self.end_if_done(handle, sink)
    }

    /// Handles missing bytes or the end of one direction: nothing after it is readable.
    pub fn side_over(
        &mut self,
        handle: u32,
        to_server: bool,
        sink: &mut impl MessageSink,
    ) -> Wanted {
        if let Some(session) = self.sessions.get_mut(handle) {
            session.side_over(to_server, &mut self.blocks);
        }
        self.end_if_done(handle, sink)
    }

    /// Parses a datagram of DTLS.
    pub fn datagram(
        &mut self,
        handle: u32,
        to_server: bool,
        payload: &[u8],
        sink: &mut impl MessageSink,
    ) -> Wanted {
        let Some(session) = self.sessions.get_mut(handle) else {
            return Wanted::Nothing;
        };
        let page = self.pages.open(&mut session.page, sink.reads(&TLS));
        session.read_datagram(to_server, payload, &mut self.blocks, page);
        if let Some(is_mine) = is_dtls(payload) {
            sink.fits(is_mine);
        }
        self.end_if_done(handle, sink)
    }

    /// Ends the connection and reports its record, if there is anything to record.
    pub fn end(&mut self, handle: u32, sink: &mut impl MessageSink) {
        let Some(session) = self.sessions.get_mut(handle) else {
            return;
        };
        for to_server in [true, false] {
            session.side_over(to_server, &mut self.blocks);
        }
        if session.facts.has_any() {
            session.facts.report(self.pages.get(session.page), sink);
        }
        self.pages.free(session.page);
        let shard = session.shard;
        self.sessions.remove(shard, handle);
    }

    /// Returns the losses due to the limits.
    pub fn losses(&self) -> Losses {
        losses(&self.sessions, &self.blocks)
    }

    /// Prefetches the state of a connection.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        self.sessions.prefetch(handle);
    }

    /// Returns the number of open connections.
    pub fn live(&self) -> u32 {
        self.sessions.len()
    }

    /// Ends a connection that can reveal nothing more.
    fn end_if_done(&mut self, handle: u32, sink: &mut impl MessageSink) -> Wanted {
        let Some(session) = self.sessions.get_mut(handle) else {
            return Wanted::Nothing;
        };
        let [client, server] = &session.sides;
        let both = client.is_encrypted && server.is_encrypted;
        session.facts.is_established |= both && session.facts.has_server;
        // The capture started after the handshake: nothing was sent in clear.
        let midway = (client.is_encrypted || server.is_encrypted) && !session.facts.has_any();
        if both || midway || (client.is_over && server.is_over) {
            self.end(handle, sink);
            return Wanted::Nothing;
        }
        Wanted::More
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
                if side.header_len == 5 && !side.begin_record(self.facts.has_server) {
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
                    };
                    let handshake = &mut side.handshake;
                    handshake.feed(body, to_server, shard, blocks, &mut notes);
                } else {
                    side.read_alert(body, &mut self.facts);
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
