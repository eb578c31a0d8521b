//! TLS over streams and DTLS over datagrams: reads the handshake from their records.

use crate::Wanted;
use crate::facts::{Facts, Notes};
use crate::handshake::{Assembler, wanted};
use crate::ja4::Carrier;
use crate::pages::{Page, PageOf, Pages};
use crate::pools::{Blocks, Gathered, Sharded, TlsOptions, losses};
use crate::schema::TLS;
use flowpin_counters::Losses;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::MessageSink;
use flowpin_wire::Cursor;
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

/// The state of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// Header of the current record (RFC 8446 §5.1), as far as received.
    header: [u8; 5],
    header_len: u8,
    /// Bytes of the record still to come.
    left: u16,
    handshake: Assembler,
    alert: [u8; 2],
    alert_len: u8,
    /// Whether this side encrypts its records.
    is_encrypted: bool,
    /// Whether nothing readable follows.
    is_over: bool,
    /// DTLS: a message in fragments, and how many bytes of it are stored.
    gathered: Gathered,
    filled: u32,
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

    /// Whether a datagram goes to the DTLS server, the side that received the client's hello. The
    /// peers of a call choose their roles independently of who sent the first datagram (RFC 5763
    /// §5).
    fn goes_to_server(&mut self, to_server: bool, payload: &[u8]) -> bool {
        // RFC 6347 §4.1, §4.2.2: a record header has 13 bytes; the type of the message follows.
        let message = match payload.first() {
            Some(&HANDSHAKE) => payload.get(13),
            _ => None,
        };
        let is_reversed = match (self.is_reversed, message) {
            (None, Some(1)) => Some(!to_server),
            (None, Some(2 | 3)) => Some(to_server),
            (known, _) => known,
        };
        self.is_reversed = is_reversed;
        to_server != is_reversed.unwrap_or(false)
    }

    /// Processes the records of a datagram (RFC 6347 §4.1).
    fn read_datagram(
        &mut self,
        to_server: bool,
        payload: &[u8],
        blocks: &mut Blocks,
        mut page: Option<&mut Page>,
    ) {
        let to_server = self.goes_to_server(to_server, payload);
        let mut cursor = Cursor::over(payload);
        while let Some((kind, epoch, body)) = dtls_record(&mut cursor) {
            let shard = self.shard;
            let [client, server] = &mut self.sides;
            let side = if to_server { client } else { server };
            if side.is_over {
                return;
            }
            let changes = kind == CHANGE_CIPHER_SPEC && self.facts.has_server;
            side.is_encrypted |= epoch > 0 || changes || kind == DATA;
            if epoch > 0 {
                continue;
            }
            match (kind, body) {
                (HANDSHAKE, body) => {
                    let mut notes = Notes {
                        facts: &mut self.facts,
                        page: page.as_deref_mut(),
                    };
                    side.read_fragments(body, to_server, shard, blocks, &mut notes);
                }
                (ALERT, &[_, what]) => self.facts.alert = Some(what),
                _ => {}
            }
        }
    }
}

impl Side {
    #[inline]
    fn read_header<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.header_len == 0
            && let Some((header, rest)) = bytes.split_first_chunk()
        {
            (self.header, self.header_len) = (*header, 5);
            return rest;
        }
        let Some((&byte, rest)) = bytes.split_first() else {
            return bytes;
        };
        if let Some(place) = self.header.get_mut(usize::from(self.header_len)) {
            *place = byte;
        }
        self.header_len = self.header_len.saturating_add(1);
        rest
    }

    /// Processes a complete header; returns whether it is valid.
    fn begin_record(&mut self, has_server: bool) -> bool {
        let [kind, major, _, high, low] = self.header;
        self.left = u16::from_be_bytes([high, low]);
        self.alert_len = 0;
        // RFC 8446 §5.1: 2^14 bytes; earlier versions allow 2^11 more for compression.
        if major != 3 || self.left > 18_432 {
            return false;
        }
        match kind {
            HANDSHAKE | ALERT => true,
            // RFC 8446 §D.4: TLS 1.3 sends it for compatibility, also before the server's hello.
            CHANGE_CIPHER_SPEC => {
                self.is_encrypted = has_server;
                true
            }
            DATA => {
                self.is_encrypted = true;
                true
            }
            _ => false,
        }
    }

    /// Alerts in clear have two bytes; encrypted alerts occur only after a change of cipher.
    fn read_alert(&mut self, body: &[u8], facts: &mut Facts) {
        let [_, _, _, high, low] = self.header;
        if [high, low] != [0, 2] {
            return;
        }
        for &byte in body {
            if let Some(place) = self.alert.get_mut(usize::from(self.alert_len)) {
                *place = byte;
            }
            self.alert_len = self.alert_len.saturating_add(1);
        }
        if let (2, [_, what]) = (self.alert_len, self.alert) {
            facts.alert = Some(what);
        }
    }

    /// Processes the handshake messages of one DTLS record (RFC 6347 §4.2.2); fragments must arrive
    /// in order.
    fn read_fragments(
        &mut self,
        record: &[u8],
        to_server: bool,
        shard: u8,
        blocks: &mut Blocks,
        notes: &mut Notes<'_>,
    ) {
        let mut cursor = Cursor::over(record);
        while let Some(fragment) = fragment(&mut cursor) {
            let Fragment {
                kind,
                len,
                offset,
                body,
            } = fragment;
            if wanted(kind, to_server) < u32::try_from(len).unwrap_or(u32::MAX) {
                continue;
            }
            if offset == 0 && body.len() == len {
                notes.message(kind, body, to_server, Carrier::Dtls);
                continue;
            }
            if offset == 0 {
                self.filled = 0;
            }
            let filled = self.filled as usize;
            if offset != filled || !self.gathered.put(blocks, shard, filled, body) {
                continue;
            }
            let end = filled.saturating_add(body.len());
            self.filled = u32::try_from(end).unwrap_or(u32::MAX);
            if end == len {
                let whole = self.gathered.bytes(blocks, len);
                notes.message(kind, whole, to_server, Carrier::Dtls);
                self.gathered.free(blocks, shard);
                self.filled = 0;
            }
        }
    }
}

struct Fragment<'a> {
    kind: u8,
    len: usize,
    offset: usize,
    body: &'a [u8],
}

fn fragment<'a>(cursor: &mut Cursor<'a>) -> Option<Fragment<'a>> {
    let kind = cursor.u8()?;
    let len = cursor.len24()?;
    cursor.take(2)?;
    let offset = cursor.len24()?;
    let count = cursor.len24()?;
    Some(Fragment {
        kind,
        len,
        offset,
        body: cursor.take(count)?,
    })
}

/// Whether a datagram begins with a record header (RFC 6347 §4.1); `None` if that cannot be
/// determined (RFC 9147 §4: encrypted records of 1.3 have a header of their own).
fn is_dtls(payload: &[u8]) -> Option<bool> {
    match payload {
        [CHANGE_CIPHER_SPEC..=26, 0xfe, 0xff | 0xfd, ..] => Some(true),
        // OpenSSL before the RFC.
        [CHANGE_CIPHER_SPEC..=DATA, 1, 0, ..] => Some(true),
        [kind, ..] if kind & 0xe0 == 0x20 => None,
        _ => Some(false),
    }
}

/// Returns type, epoch and contents of the next record.
fn dtls_record<'a>(cursor: &mut Cursor<'a>) -> Option<(u8, u16, &'a [u8])> {
    let kind = cursor.u8()?;
    // RFC 9147 §4: later records of 1.3 have another header and are encrypted.
    if !(CHANGE_CIPHER_SPEC..=DATA).contains(&kind) {
        return (kind & 0xe0 == 0x20).then_some((DATA, 1, &[]));
    }
    cursor.be16()?;
    let epoch = cursor.be16()?;
    cursor.take(6)?;
    let len = cursor.len16()?;
    Some((kind, epoch, cursor.take(len)?))
}

// RFC 8446 §5.1.
const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;
