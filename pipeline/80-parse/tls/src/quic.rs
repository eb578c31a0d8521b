//! QUIC over datagrams: both hellos out of the CRYPTO frames of Initial packets.

use crate::Wanted;
use crate::facts::{CLIENT_HELLO, Facts, Notes, OFFERED_MAX, SERVER_HELLO, list, when};
use crate::initial::{Keys, Packet, PacketKind, varint};
use crate::ja4::Carrier;
use crate::names;
use crate::pages::{Page, PageOf, Pages};
use crate::pools::{Blocks, Gathered, MESSAGE_BYTES_MAX, Sharded, TlsOptions, losses};
use crate::schema::{QUIC, hex};
use crate::short::Short;
use core::hint::black_box;
use flowpin_counters::Losses;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{MessageSink, Value};
use flowpin_wire::Cursor;
use std::io;

/// The beginnings of one worker's QUIC connections.
#[derive(Debug)]
pub struct Quic {
    sessions: Sharded<Session>,
    pages: Pages,
    blocks: Blocks,
    /// A packet being decrypted.
    plain: Box<[u8; PACKET_BYTES_MAX]>,
}

/// Initial packets are shorter: they fit any path.
const PACKET_BYTES_MAX: usize = 4096;

/// Datagrams after which nothing more is expected.
const DATAGRAMS_MAX: u8 = 24;

/// RFC 9000 §12.2: packets of one datagram are one of each kind, for whoever makes sense.
const PACKETS_MAX: usize = 8;

/// Keys of one connection: for its first packet, after a negotiation of the version, after a retry.
/// Each costs as much as reading tens of packets.
const KEYS_MAX: u8 = 4;

/// One connection.
#[derive(Clone, Copy, Debug)]
struct Session {
    facts: Facts,
    sides: [Crypto; 2],
    keys: Option<Keys>,
    /// How often keys were made.
    keys_made: u8,
    version: u32,
    /// What the client made up for the server first; its own; the server's own.
    initial_to: Id,
    client_from: Id,
    server_from: Id,
    datagrams: u8,
    has_retried: bool,
    page: PageOf,
    shard: u8,
}

type Id = Short<20>;

/// One direction's CRYPTO stream.
#[derive(Clone, Copy, Debug, Default)]
struct Crypto {
    gathered: Gathered,
    /// Parts that came, in order, none touching the next.
    parts: [(u16, u16); 24],
    count: u8,
    is_over: bool,
}

impl Quic {
    /// No connections yet.
    ///
    /// # Errors
    /// Where the system refuses address space.
    pub fn new(options: TlsOptions) -> io::Result<Self> {
        Ok(Self {
            sessions: Sharded::new(options.shard_sessions_max)?,
            pages: Pages::new(options.shard_sessions_max.saturating_mul(256))?,
            blocks: Sharded::new(options.shard_blocks_max)?,
            plain: Box::new([0; PACKET_BYTES_MAX]),
        })
    }

    /// Begins a connection, which was first heard of at `at`; none if the shard has its most.
    pub fn begin(&mut self, shard: Shard, at: Timestamp) -> Option<u32> {
        let session = Session {
            facts: Facts::begun_at(at),
            sides: [Crypto::default(); 2],
            keys: None,
            keys_made: 0,
            version: 0,
            initial_to: Id::default(),
            client_from: Id::default(),
            server_from: Id::default(),
            datagrams: 0,
            has_retried: false,
            page: PageOf::default(),
            shard: shard.0,
        };
        self.sessions.insert(shard.0, session)
    }

    /// A datagram.
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
        session.datagrams = session.datagrams.saturating_add(1);
        let mut page = self.pages.open(&mut session.page, sink.reads(&QUIC));
        let mut cursor = Cursor::over(payload);
        let mut fits = session.fits_short(payload);
        for _ in 0..PACKETS_MAX {
            let Some(packet) = Packet::parse(&mut cursor) else {
                break;
            };
            let pools = (&mut self.blocks, &mut *self.plain);
            let read = session.packet(&packet, to_server, pools, page.as_deref_mut());
            fits = read.or(fits.filter(|_| packet.kind == PacketKind::Initial));
            if packet.kind == PacketKind::Retry {
                break;
            }
        }
        if let Some(is_mine) = fits {
            sink.fits(is_mine);
        }
        let facts = &session.facts;
        let has_both = facts.has_client && facts.has_server;
        if !has_both && session.datagrams < DATAGRAMS_MAX {
            return Wanted::More;
        }
        self.end(handle, sink);
        Wanted::Nothing
    }

    /// The connection is over: its record is written, if there is anything to record.
    pub fn end(&mut self, handle: u32, sink: &mut impl MessageSink) {
        let Some(session) = self.sessions.get_mut(handle) else {
            return;
        };
        for side in &mut session.sides {
            side.gathered.free(&mut self.blocks, session.shard);
        }
        if session.version != 0 {
            session.tell(self.pages.get(session.page), sink);
        }
        self.pages.free(session.page);
        let shard = session.shard;
        self.sessions.remove(shard, handle);
    }

    /// What the caps have cost so far.
    pub fn losses(&self) -> Losses {
        losses(&self.sessions, &self.blocks)
    }

    /// Connections under way.
    pub fn live(&self) -> u32 {
        self.sessions.len()
    }
}

impl Session {
    /// Whether a datagram fits that has no packet with a long header: before the server's hello
    /// nothing has a short one (RFC 9000 §17.3.1: bits 0 and 1, from the highest).
    fn fits_short(&self, payload: &[u8]) -> Option<bool> {
        let is_short = payload.first().is_some_and(|first| first & 0xc0 == 0x40);
        if is_short && self.facts.has_server {
            return None;
        }
        Some(false)
    }

    /// Takes what a packet tells, and whether it fits; none where that cannot be told.
    fn packet(
        &mut self,
        packet: &Packet<'_>,
        to_server: bool,
        (blocks, plain): (&mut Blocks, &mut [u8; PACKET_BYTES_MAX]),
        page: Option<&mut Page>,
    ) -> Option<bool> {
        match packet.kind {
            PacketKind::Initial => {}
            // RFC 9001 §5.2: keys follow from the identifier that the server asks for instead.
            PacketKind::Retry if !to_server && !self.has_retried => {
                self.has_retried = true;
                self.make_keys(packet.version, packet.from);
                return None;
            }
            _ => return None,
        }
        if self.version == 0 || (to_server && self.version != packet.version) {
            // The first packet, or another try after a negotiation of the version.
            self.version = packet.version;
            self.keys = None;
        }
        if to_server {
            if self.keys.is_none() {
                self.make_keys(packet.version, packet.to);
                self.initial_to = Id::of(packet.to);
            }
            self.client_from = Id::of(packet.from);
        } else {
            self.server_from = Id::of(packet.from);
        }
        let [client, server] = &mut self.sides;
        let side = if to_server { client } else { server };
        let keys = self.keys.as_mut()?;
        if side.is_over {
            return None;
        }
        let Some(frames) = keys.open(packet, to_server, plain) else {
            return Some(false);
        };
        let is_whole = side.frames(frames, self.shard, blocks);
        let wanted = if to_server {
            CLIENT_HELLO
        } else {
            SERVER_HELLO
        };
        let whole = side.first(blocks);
        if let Some((kind, body)) = message(whole) {
            if kind == wanted {
                let facts = &mut self.facts;
                Notes { facts, page }.message(kind, body, to_server, Carrier::Quic);
            }
            side.is_over = true;
            side.gathered.free(blocks, self.shard);
        }
        Some(is_whole || side.is_over)
    }

    fn make_keys(&mut self, version: u32, id: &[u8]) {
        self.keys = None;
        if self.keys_made < KEYS_MAX {
            self.keys_made = self.keys_made.saturating_add(1);
            self.keys = Keys::of(version, id);
        }
    }

    fn tell(&self, page: &Page, sink: &mut impl MessageSink) {
        let facts = &self.facts;
        if !sink.reads(&QUIC) {
            black_box(facts);
            return sink.message(&QUIC, facts.time, &[]);
        }
        let version = version_name(self.version);
        let mut offered = [Value::Unset; OFFERED_MAX];
        let mut count = 0usize;
        for (place, name) in offered.iter_mut().zip(facts.offered(page)) {
            *place = Value::Bytes(name);
            count = count.saturating_add(1);
        }
        let offered = offered.get(..count).unwrap_or_default();
        let ids = [self.initial_to, self.client_from, self.server_from].map(in_hex);
        let [initial_to, client_from, server_from] = &ids;
        let word = |name: Option<&'static str>| name.map_or(Value::Unset, Value::Text);
        let server = facts.has_server;
        sink.message(
            &QUIC,
            facts.time,
            &[
                Value::bytes(version.get()),
                Value::bytes(initial_to.get()),
                Value::bytes(client_from.get()),
                Value::bytes(server_from.get()),
                Value::bytes(facts.server_name.of(page)),
                offered.first().copied().unwrap_or(Value::Unset),
                list(offered),
                Value::bytes(facts.ja4.of(page)),
                word(crate::cipher_suites::name(facts.cipher).filter(|_| server)),
                word(facts.group.and_then(names::group).filter(|_| server)),
                when(server, Value::Bool(facts.is_resumed)),
            ],
        );
    }
}

impl Crypto {
    /// Takes what CRYPTO frames hold (RFC 9000 §19.6); false if what stands there are no frames.
    fn frames(&mut self, frames: &[u8], shard: u8, blocks: &mut Blocks) -> bool {
        let mut cursor = Cursor::over(frames);
        while cursor.left() > 0 {
            if self.frame(&mut cursor, shard, blocks).is_none() {
                return false;
            }
        }
        true
    }

    /// RFC 9000 §12.4: frames that an Initial may hold.
    fn frame(&mut self, cursor: &mut Cursor<'_>, shard: u8, blocks: &mut Blocks) -> Option<()> {
        match cursor.u8()? {
            // Padding, and a question whether one is there.
            0 | 1 => {}
            6 => {
                let offset = varint(cursor)?;
                let len = varint(cursor)?;
                self.take(offset, cursor.take(len)?, shard, blocks)?;
            }
            // RFC 9000 §19.3: ranges of what was received, and counts of marked packets.
            kind @ (2 | 3) => {
                varint(cursor)?;
                varint(cursor)?;
                let ranges = varint(cursor)?;
                let numbers = ranges.min(64).saturating_mul(2).saturating_add(1);
                for _ in 0..numbers.saturating_add(if kind == 3 { 3 } else { 0 }) {
                    varint(cursor)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn take(&mut self, offset: usize, bytes: &[u8], shard: u8, blocks: &mut Blocks) -> Option<()> {
        let end = offset.checked_add(bytes.len())?;
        if bytes.is_empty() || end > MESSAGE_BYTES_MAX {
            return Some(());
        }
        if !self.gathered.put(blocks, shard, offset, bytes) {
            self.is_over = true;
            return None;
        }
        self.note(u16::try_from(offset).ok()?, u16::try_from(end).ok()?);
        Some(())
    }

    /// Joins a part to those that came.
    fn note(&mut self, mut start: u16, mut end: u16) {
        let mut kept = [(0, 0); 24];
        let mut count = 0u8;
        let known = self.parts.iter().take(usize::from(self.count));
        for &(from, to) in known {
            if to < start || from > end {
                if let Some(place) = kept.get_mut(usize::from(count)) {
                    *place = (from, to);
                    count = count.saturating_add(1);
                }
            } else {
                start = start.min(from);
                end = end.max(to);
            }
        }
        if let Some(place) = kept.get_mut(usize::from(count)) {
            *place = (start, end);
            count = count.saturating_add(1);
        }
        self.parts = kept;
        self.count = count;
    }

    /// The stream's first bytes, as far as they came.
    fn first<'a>(&self, blocks: &'a Blocks) -> &'a [u8] {
        let parts = self.parts.iter().take(usize::from(self.count));
        let first = parts.copied().find(|&(start, _)| start == 0);
        let (_, end) = first.unwrap_or_default();
        self.gathered.bytes(blocks, usize::from(end))
    }
}

/// The first handshake message, if it is whole.
fn message(stream: &[u8]) -> Option<(u8, &[u8])> {
    let mut cursor = Cursor::over(stream);
    let kind = cursor.u8()?;
    let len = cursor.len24()?;
    Some((kind, cursor.take(len)?))
}

/// `1`, `2`, Google's letters, or hexadecimal digits.
fn version_name(version: u32) -> Short<10> {
    let letters = version.to_be_bytes();
    let mut out = Short::default();
    match (version, letters) {
        (1, _) => out.push(b"1"),
        (0x6b33_43cf, _) => out.push(b"2"),
        (_, [b'Q' | b'T', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9']) => out.push(&letters),
        _ => {
            out.push(b"0x");
            letters.iter().for_each(|&byte| out.push(&hex(byte)));
        }
    }
    out
}

fn in_hex(id: Id) -> Short<40> {
    let mut out = Short::default();
    id.get().iter().for_each(|&byte| out.push(&hex(byte)));
    out
}

#[cfg(test)]
mod tests {
    use super::{KEYS_MAX, Quic};
    use crate::{TlsOptions, Wanted};
    use flowpin_packet::{Shard, Timestamp};
    use flowpin_record::{MessageSchema, MessageSink, Value};

    struct Nobody;

    impl MessageSink for Nobody {
        fn message(&mut self, _: &MessageSchema, _: Timestamp, _: &[Value<'_>]) {}
        fn anomaly(&mut self, _: &'static str) {}
    }

    /// An Initial of 44 bytes costs its keys, if it says another version than the one before.
    #[test]
    fn keys_are_not_made_without_end() {
        let mut quic = Quic::new(TlsOptions::default()).unwrap();
        let handle = quic.begin(Shard(0), Timestamp(1)).unwrap();
        let mut datagram = Vec::new();
        for version in [1u32, 0xff00_001d].repeat(20) {
            datagram.extend([0xc0].iter().chain(&version.to_be_bytes()));
            datagram.extend([8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x40, 22]);
            datagram.extend([0; 22]);
        }
        for _ in 0..3 {
            assert_eq!(
                quic.datagram(handle, true, &datagram, &mut Nobody),
                Wanted::More
            );
        }
        let session = quic.sessions.get(handle).unwrap();
        assert_eq!(session.keys_made, KEYS_MAX);
        assert!(session.keys.is_none());
    }
}
