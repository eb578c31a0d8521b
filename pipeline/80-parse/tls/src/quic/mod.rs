//! QUIC over datagrams: reads both hellos from the CRYPTO frames of Initial packets.

mod crypto;
mod google;
mod record;
mod schema;

pub use schema::{QUIC, QUIC_LOG};

use crate::buffers::OF_QUIC;
use crate::facts::{CLIENT_HELLO, Facts, Notes, SERVER_HELLO};
use crate::initial::{Keys, Packet, PacketKind};
use crate::ja4::Carrier;
use crate::pages::{EMPTY, Page, PageOf, Pages};
use crate::pools::Blocks;
use crate::schema::TLS_OF_QUIC;
use crate::short::Short;
use crate::stream::losses;
use crypto::{CryptoStream, message};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::{Begin, Buffer, Ends, Next, Parser, ParserSetup, Reads, slot_bytes};
use flowpin_record::{MessageSchema, MessageSink};
use flowpin_wire::Cursor;
use google::GooglePacket;
use std::io;

/// The handshakes of one worker's QUIC connections.
#[derive(Debug)]
pub struct Quic {
    sessions: Slab<Session>,
    pages: Pages,
    blocks: Blocks,
    /// The packet being decrypted.
    plain: Box<[u8; PACKET_BYTES_MAX]>,
    wants_ja3: bool,
}

/// Maximum length of an Initial packet: longer ones do not fit common paths.
const PACKET_BYTES_MAX: usize = 4096;

/// Datagrams after which a connection ends even without both hellos.
const DATAGRAMS_MAX: u8 = 24;

/// RFC 9000 §12.2: a sensible datagram has at most one packet of each kind.
const PACKETS_MAX: usize = 8;

/// Maximum number of key derivations per connection: for its first packet, after version
/// negotiation, after Retry. Each costs as much as reading tens of packets.
const KEYS_MAX: u8 = 4;

/// One connection.
#[derive(Clone, Copy, Debug)]
struct Session {
    facts: Facts,
    sides: [CryptoStream; 2],
    keys: Option<Keys>,
    /// Number of key derivations so far.
    keys_made: u8,
    version: u32,
    /// The identifier that the client first chose for the server, the client's own, and the
    /// server's own.
    initial_to: Id,
    client_from: Id,
    server_from: Id,
    datagrams: u8,
    has_retried: bool,
    /// Whether there was an event of a hello.
    has_told: bool,
    page: PageOf,
    shard: u8,
}

type Id = Short<20>;

impl Parser for Quic {
    const PROTOCOLS: &'static [Reads] = &[Reads::own("quic")];
    const CONNECTION_BYTES: u32 = slot_bytes::<Session>();
    const WITHOUT_ROOM: Loss = Loss::TlsHandshakes;
    const SCHEMAS: &'static [&'static MessageSchema] = &[&QUIC, &QUIC_LOG];
    const BUFFERS: &'static [Buffer] = OF_QUIC;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        let budget = &setup.budget;
        let sessions = budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
        Ok(Self {
            sessions: Slab::with_capacity(sessions)?,
            pages: Pages::new(budget)?,
            blocks: Blocks::new(budget)?,
            plain: Box::new([0; PACKET_BYTES_MAX]),
            wants_ja3: setup.parse.ja3,
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        self.sessions.insert(Session {
            facts: Facts::first_seen_at(begin.at, self.wants_ja3),
            sides: [CryptoStream::default(); 2],
            keys: None,
            keys_made: 0,
            version: 0,
            initial_to: Id::default(),
            client_from: Id::default(),
            server_from: Id::default(),
            datagrams: 0,
            has_retried: false,
            has_told: false,
            page: PageOf::default(),
            shard: begin.shard.0,
        })
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
        session.datagrams = session.datagrams.saturating_add(1);
        let is_wanted = sink.reads(&QUIC) || sink.reads(&QUIC_LOG);
        let mut page = self.pages.open(&mut session.page, session.shard, is_wanted);
        if let Some(packet) = GooglePacket::parse(payload) {
            session.google(&packet, to_server, at, sink);
            sink.fits(true);
            return Next::More;
        }
        let mut cursor = Cursor::over(payload);
        let mut fits = session.fits_short(payload);
        for _ in 0..PACKETS_MAX {
            let Some(packet) = Packet::parse(&mut cursor) else {
                break;
            };
            let pools = (&mut self.blocks, &mut *self.plain);
            let turn = (to_server, at);
            let read = session.packet(&packet, turn, pools, page.as_deref_mut(), sink);
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
            return Next::More;
        }
        self.end(connection, at, sink);
        Next::Nothing
    }

    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        let Some(session) = self.sessions.get_mut(connection) else {
            return;
        };
        for side in &mut session.sides {
            side.gathered.free(&mut self.blocks, session.shard);
        }
        if session.version != 0 {
            let page = self.pages.get(session.page);
            if !session.has_told {
                session.report_hello(None, session.facts.time, page, sink);
            }
            session.report(page, sink);
            if session.facts.has_any() && sink.reads(&TLS_OF_QUIC) {
                session.facts.report_as(&TLS_OF_QUIC, page, sink);
            }
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
        losses(&self.pages, &self.blocks)
    }
}

impl Session {
    /// Whether a datagram without a long-header packet fits: before the server's hello, short
    /// headers do not occur (RFC 9000 §17.3.1: the two highest bits are 01).
    fn fits_short(&self, payload: &[u8]) -> Option<bool> {
        let is_short = payload.first().is_some_and(|first| first & 0xc0 == 0x40);
        if is_short && self.facts.has_server {
            return None;
        }
        Some(false)
    }

    /// Reports a packet of Google's QUIC before TLS: those with long headers begin a connection.
    fn google<S: MessageSink>(
        &mut self,
        packet: &GooglePacket<'_>,
        to_server: bool,
        at: Timestamp,
        sink: &mut S,
    ) {
        if self.datagrams > DATAGRAMS_MAX {
            return;
        }
        self.version = packet.version;
        self.has_told = true;
        if to_server {
            self.initial_to = Id::of(packet.to);
            self.client_from = Id::of(packet.from);
        } else {
            self.server_from = Id::of(packet.from);
        }
        self.report_google(packet, to_server, at, sink);
    }

    /// Processes a packet; returns whether it fits, or `None` if that cannot be determined.
    fn packet<S: MessageSink>(
        &mut self,
        packet: &Packet<'_>,
        (to_server, at): (bool, Timestamp),
        (blocks, plain): (&mut Blocks, &mut [u8; PACKET_BYTES_MAX]),
        mut page: Option<&mut Page>,
        sink: &mut S,
    ) -> Option<bool> {
        match packet.kind {
            PacketKind::Initial => {}
            // RFC 9001 §5.2: keys are derived from the identifier that the server's Retry chooses.
            PacketKind::Retry if !to_server && !self.has_retried => {
                self.has_retried = true;
                self.make_keys(packet.version, packet.from);
                // RFC 9000 §17.2.5.3: the client sends its hello again.
                let [client, _] = &mut self.sides;
                client.restart(self.shard, blocks);
                return None;
            }
            _ => return None,
        }
        if self.version == 0 || (to_server && self.version != packet.version) {
            // The first packet, or another attempt after version negotiation.
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
                facts.history.message(kind, to_server);
                let notes_page = page.as_deref_mut();
                let mut notes = Notes {
                    facts,
                    page: notes_page,
                    told: None,
                };
                notes.message((kind, body.len()), body, to_server, Carrier::Quic);
                self.has_told = true;
                let page = page.as_deref().unwrap_or(&EMPTY);
                self.report_hello(Some((to_server, body)), at, page, sink);
            }
            let [client, server] = &mut self.sides;
            let side = if to_server { client } else { server };
            side.is_over = true;
            side.gathered.free(blocks, self.shard);
            return Some(true);
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
}

#[cfg(test)]
mod tests {
    use super::{KEYS_MAX, Quic};
    use flowpin_packet::Timestamp;
    use flowpin_parser::testing::Trial;
    use flowpin_parser::{Next, Parser, ParserSetup};
    use flowpin_record::{MessageSchema, MessageSink, Value};

    struct NullSink;

    impl MessageSink for NullSink {
        fn message(&mut self, _: &MessageSchema, _: Timestamp, _: &[Value<'_>]) {}
        fn anomaly(&mut self, _: &'static str) {}
    }

    /// An Initial packet of 44 bytes that changes the version costs a key derivation.
    #[test]
    fn keys_are_not_made_without_end() {
        let setup = ParserSetup::default();
        let mut quic = Trial::new(Quic::new(&setup).unwrap(), &setup);
        let handle = quic.begin(0).unwrap();
        let mut datagram = Vec::new();
        for version in [1u32, 0xff00_001d].repeat(20) {
            datagram.extend([0xc0].iter().chain(&version.to_be_bytes()));
            datagram.extend([8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x40, 22]);
            datagram.extend([0; 22]);
        }
        for _ in 0..3 {
            let payload = (&*datagram, datagram.len());
            let next = quic.datagram(handle, Timestamp(1), true, payload, &mut NullSink);
            assert_eq!(next, Next::More);
        }
        let session = quic.parser.sessions.get(handle).unwrap();
        assert_eq!(session.keys_made, KEYS_MAX);
        assert!(session.keys.is_none());
    }
}
