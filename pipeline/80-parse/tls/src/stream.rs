//! TLS over streams, DTLS over datagrams: records, of which the handshake's are read.

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
    /// DTLS: whether its client is the connection's server; none as long as nobody said hello.
    is_reversed: Option<bool>,
}

/// One direction.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// The present record's header (RFC 8446 §5.1), as far as it came.
    header: [u8; 5],
    header_len: u8,
    /// Bytes of it that are still to come.
    left: u16,
    handshake: Assembler,
    alert: [u8; 2],
    alert_len: u8,
    /// It has begun to encrypt.
    is_encrypted: bool,
    /// Nothing that can be read comes any more.
    is_over: bool,
    /// DTLS: a message in fragments: what there is of it, and how much.
    gathered: Gathered,
    filled: u32,
}

impl Tls {
    /// No connections yet.
    ///
    /// # Errors
    /// Where the system refuses address space.
    pub fn new(options: TlsOptions) -> io::Result<Self> {
        Ok(Self {
            sessions: Sharded::new(options.shard_sessions_max)?,
            pages: Pages::new(options.shard_sessions_max.saturating_mul(256))?,
            blocks: Sharded::new(options.shard_blocks_max)?,
        })
    }

    /// Begins a connection, which was first heard of at `at`; none if the shard has its most.
    pub fn begin(&mut self, shard: Shard, at: Timestamp) -> Option<u32> {
        let session = Session {
            facts: Facts::begun_at(at),
            sides: [Side::default(); 2],
            page: PageOf::default(),
            shard: shard.0,
            is_reversed: None,
        };
        self.sessions.insert(shard.0, session)
    }

    /// The next bytes of one direction of a stream.
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
            // A hello whose lengths all agree, and nothing behind it that is none of TLS.
            Some(true) if !session.side(to_server).is_over => sink.proves(),
            Some(is_mine) => sink.fits(is_mine),
            None => {}
        }
        self.settle(handle, sink)
    }

    /// Bytes that are missing, or the end of one direction: nothing behind it can be read.
    pub fn side_over(
        &mut self,
        handle: u32,
        to_server: bool,
        sink: &mut impl MessageSink,
    ) -> Wanted {
        if let Some(session) = self.sessions.get_mut(handle) {
            session.side_over(to_server, &mut self.blocks);
        }
        self.settle(handle, sink)
    }

    /// A datagram of DTLS.
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
        self.settle(handle, sink)
    }

    /// The connection is over: its record is written, if there is anything to record.
    pub fn end(&mut self, handle: u32, sink: &mut impl MessageSink) {
        let Some(session) = self.sessions.get_mut(handle) else {
            return;
        };
        for to_server in [true, false] {
            session.side_over(to_server, &mut self.blocks);
        }
        if session.facts.are_any() {
            session.facts.tell(self.pages.get(session.page), sink);
        }
        self.pages.free(session.page);
        let shard = session.shard;
        self.sessions.remove(shard, handle);
    }

    /// What the caps have cost so far.
    pub fn losses(&self) -> Losses {
        losses(&self.sessions, &self.blocks)
    }

    /// Asks the processor to fetch a connection's first lines.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        self.sessions.prefetch(handle);
    }

    /// Connections under way.
    pub fn live(&self) -> u32 {
        self.sessions.len()
    }

    /// Ends what has nothing more to tell.
    fn settle(&mut self, handle: u32, sink: &mut impl MessageSink) -> Wanted {
        let Some(session) = self.sessions.get_mut(handle) else {
            return Wanted::Nothing;
        };
        let [client, server] = &session.sides;
        let both = client.is_encrypted && server.is_encrypted;
        session.facts.is_established |= both && session.facts.has_server;
        // Begun before the capture: nothing was told in clear.
        let midway = (client.is_encrypted || server.is_encrypted) && !session.facts.are_any();
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

    /// Whether what a side of a stream said is TLS, as soon as that can be told.
    fn fits(&self, to_server: bool) -> Option<bool> {
        let [client, server] = &self.sides;
        let (side, said_hello) = if to_server {
            (client, self.facts.has_client)
        } else {
            (server, self.facts.has_server)
        };
        if said_hello || side.is_encrypted || self.facts.alert.is_some() {
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

    /// Whether a datagram goes to the server of DTLS: to whom the client's hello went. Peers of a
    /// call agree on that apart from who sent the first datagram (RFC 5763 §5).
    fn goes_to_server(&mut self, to_server: bool, payload: &[u8]) -> bool {
        // RFC 6347 §4.1, §4.2.2: a record's header has 13 bytes, then the message's type.
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

    /// The records of a datagram (RFC 6347 §4.1).
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

    /// Looks at a whole header; whether it is one.
    fn begin_record(&mut self, has_server: bool) -> bool {
        let [kind, major, _, high, low] = self.header;
        self.left = u16::from_be_bytes([high, low]);
        self.alert_len = 0;
        // RFC 8446 §5.1: 2^14 bytes; older versions allowed 2^11 more for compression.
        if major != 3 || self.left > 18_432 {
            return false;
        }
        match kind {
            HANDSHAKE | ALERT => true,
            // RFC 8446 §D.4: 1.3 sends it for show, also before the server's hello.
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

    /// An alert in clear has two bytes; encrypted ones come only behind a change of cipher.
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

    /// Handshake messages of one DTLS record (RFC 6347 §4.2.2); those in fragments if these come
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

/// Whether a datagram begins with a record's header (RFC 6347 §4.1); none where that cannot be told
/// (RFC 9147 §4: what 1.3 encrypts has three bits of its own).
fn is_dtls(payload: &[u8]) -> Option<bool> {
    match payload {
        [CHANGE_CIPHER_SPEC..=26, 0xfe, 0xff | 0xfd, ..] => Some(true),
        // Of OpenSSL before there was an RFC.
        [CHANGE_CIPHER_SPEC..=DATA, 1, 0, ..] => Some(true),
        [kind, ..] if kind & 0xe0 == 0x20 => None,
        _ => Some(false),
    }
}

/// Type, epoch and content of the next record.
fn dtls_record<'a>(cursor: &mut Cursor<'a>) -> Option<(u8, u16, &'a [u8])> {
    let kind = cursor.u8()?;
    // RFC 9147 §4: later records of 1.3 have another header, and are encrypted.
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
