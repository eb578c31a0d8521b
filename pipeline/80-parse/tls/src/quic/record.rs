//! The records of a QUIC connection: events of hellos, and a line of a log.

use super::google::GooglePacket;
use super::{Id, QUIC, QUIC_LOG, Session};
use crate::facts::{OFFERED_MAX, fingerprint, list, when};
use crate::hello::{ClientHello, ServerHello, alpn_names, extensions};
use crate::names;
use crate::pages::Page;
use crate::schema::hex;
use crate::short::Short;
use core::hint::black_box;
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSink, Value};

/// Maximum number of extensions in an event.
const EXTENSIONS_MAX: usize = 64;

impl Session {
    /// Reports the event of a hello: whether the client sent it, and its bytes; `None` if no hello
    /// of the connection could be read.
    pub(super) fn report_hello(
        &self,
        hello: Option<(bool, &[u8])>,
        at: Timestamp,
        page: &Page,
        sink: &mut impl MessageSink,
    ) {
        let facts = &self.facts;
        let of_client = hello.is_none_or(|(is_client, _)| is_client);
        sink.said(of_client, "quic.version", &self.version.to_be_bytes());
        if !sink.reads(&QUIC) {
            black_box(facts);
            return sink.message(&QUIC, at, &[]);
        }
        let is_client = hello.is_none_or(|(is_client, _)| is_client);
        // What this hello says: after one that asks for another try, the server's choice is open.
        let server = match hello {
            Some((false, body)) => ServerHello::parse(body),
            _ => None,
        };
        let sent = match hello {
            Some((true, body)) => ClientHello::parse(body, false).map(|one| one.extensions),
            _ => server.as_ref().map(|one| one.extensions),
        };
        let sent = Sent::of(sent.unwrap_or_default(), facts.server_name.of(page));
        let version = version_name(self.version);
        let ids = [self.initial_to, self.client_from, self.server_from].map(in_hex);
        let [initial_to, client_from, server_from] = &ids;
        let word = |name: Option<&'static str>| name.map_or(Value::Unset, Value::Text);
        let text = |of_client: bool, text| match of_client == is_client {
            true => Value::bytes(text),
            false => Value::Unset,
        };
        let (ja3, ja3s) = (facts.ja3.of(page), facts.ja3s.of(page));
        let [ja3_hash, ja3s_hash] = [ja3, ja3s].map(fingerprint);
        let (server_name, host) = (facts.server_name.of(page), &sent.host);
        let values = [Value::List(host), list(sent.protocols())];
        let values = sent.values(&values);
        sink.message(
            &QUIC,
            at,
            &[
                Value::Bool(is_client),
                Value::bytes(version.get()),
                text(true, server_name),
                text(true, ja3_hash.get()),
                text(true, ja3),
                text(false, ja3s_hash.get()),
                text(false, ja3s),
                text(true, facts.ja4.of(page)),
                list(sent.of_each(&sent.names)),
                list(sent.of_each(&sent.kinds)),
                list(sent.of_each(&values)),
                Value::bytes(initial_to.get()),
                Value::bytes(client_from.get()),
                Value::bytes(server_from.get()),
                when(is_client, list(sent.protocols())),
                word(
                    server
                        .as_ref()
                        .and_then(|one| crate::cipher_suites::name(one.cipher)),
                ),
                word(server.as_ref().and_then(|one| names::group(one.group?))),
                when(
                    server.is_some_and(|one| !one.is_retry),
                    Value::Bool(facts.is_resumed),
                ),
                Value::Unset,
                Value::Unset,
                Value::Unset,
            ],
        );
    }

    /// Reports the event of a packet of Google's QUIC before TLS.
    pub(super) fn report_google(
        &self,
        packet: &GooglePacket<'_>,
        is_client: bool,
        at: Timestamp,
        sink: &mut impl MessageSink,
    ) {
        sink.said(is_client, "quic.version", &packet.version.to_be_bytes());
        if !sink.reads(&QUIC) {
            return sink.message(&QUIC, at, &[]);
        }
        let version = version_name(packet.version);
        let ids = [self.initial_to, self.client_from, self.server_from].map(in_hex);
        let [initial_to, client_from, server_from] = &ids;
        let hello = packet.hello.filter(|_| is_client);
        let print = hello.map(|hello| hello.fingerprint(packet.version));
        let print = print.as_ref().map_or(&[][..], |print| print.get());
        let hash = fingerprint(print);
        let (hashes, prints) = ([Value::bytes(hash.get())], [Value::bytes(print)]);
        let value = |tag: &[u8]| Value::bytes(hello.map_or(&[], |hello| hello.value(tag)));
        let mut values = [Value::Unset; 21];
        let known = [
            (0, Value::Bool(is_client)),
            (1, Value::bytes(version.get())),
            (2, value(b"SNI")),
            (11, Value::bytes(initial_to.get())),
            (12, Value::bytes(client_from.get())),
            (13, Value::bytes(server_from.get())),
            (18, value(b"UAID")),
            (19, when(hello.is_some(), Value::List(&hashes))),
            (20, when(hello.is_some(), Value::List(&prints))),
        ];
        for (at, value) in known {
            if let Some(place) = values.get_mut(at) {
                *place = value;
            }
        }
        sink.message(&QUIC, at, &values);
    }

    /// Reports the record of the connection.
    pub(super) fn report(&self, page: &Page, sink: &mut impl MessageSink) {
        let facts = &self.facts;
        if !sink.reads(&QUIC_LOG) {
            return;
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
            &QUIC_LOG,
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

/// The extensions of a hello, in order.
struct Sent<'a> {
    count: usize,
    names: [Value<'a>; EXTENSIONS_MAX],
    kinds: [Value<'a>; EXTENSIONS_MAX],
    /// What the server name extension holds.
    host: [Value<'a>; 1],
    /// The protocols of ALPN.
    protocols: [Value<'a>; OFFERED_MAX],
    protocol_count: usize,
}

impl<'a> Sent<'a> {
    fn of(bytes: &'a [u8], host: &'a [u8]) -> Self {
        let mut sent = Self {
            count: 0,
            names: [Value::Unset; EXTENSIONS_MAX],
            kinds: [Value::Unset; EXTENSIONS_MAX],
            host: [Value::bytes(host)],
            protocols: [Value::Unset; OFFERED_MAX],
            protocol_count: 0,
        };
        for ((kind, value), (name, number)) in
            extensions(bytes).zip(sent.names.iter_mut().zip(&mut sent.kinds))
        {
            *name = names::extension(kind).map_or(Value::Unset, Value::Text);
            *number = Value::Count(kind.into());
            sent.count = sent.count.saturating_add(1);
            if kind == ALPN {
                let offered = alpn_names(value.get(2..).unwrap_or_default());
                for (place, one) in sent.protocols.iter_mut().zip(offered) {
                    *place = Value::Bytes(one);
                    sent.protocol_count = sent.protocol_count.saturating_add(1);
                }
            }
        }
        sent
    }

    /// What extensions hold, of those of which it is shown.
    fn values(&self, [host, protocols]: &[Value<'a>; 2]) -> [Value<'a>; EXTENSIONS_MAX] {
        let mut values = [Value::Unset; EXTENSIONS_MAX];
        for (kind, value) in self.kinds.iter().zip(&mut values) {
            match *kind {
                Value::Count(SERVER_NAME) if self.host != [Value::Unset] => *value = *host,
                Value::Count(kind) if kind == u64::from(ALPN) => *value = *protocols,
                _ => {}
            }
        }
        values
    }

    fn of_each<'v>(&self, values: &'v [Value<'a>; EXTENSIONS_MAX]) -> &'v [Value<'a>] {
        values.get(..self.count).unwrap_or_default()
    }

    fn protocols(&self) -> &[Value<'a>] {
        self.protocols
            .get(..self.protocol_count)
            .unwrap_or_default()
    }
}

/// RFC 6066 §3.
const SERVER_NAME: u64 = 0;
/// RFC 7301 §3.1.
const ALPN: u16 = 16;

/// Returns `1`, `2`, Google's letters, or hexadecimal digits.
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
