//! The facts that a connection has revealed so far, and its record.

use crate::anomaly::{Anomaly, Odd, of_names};
use crate::certificate::{Certificate, Fields};
use crate::distinguished::{for_suricata, for_zeek};
use crate::hello::{ClientHello, ServerHello, alpn_names};
use crate::history::History;
use crate::ja3;
use crate::ja4::{Carrier, ja4};
use crate::names;
use crate::pages::{Page, Text, Writer};
use crate::schema::{CertificateTexts, TLS, VALIDATED};
use crate::short::Short;
use crate::x509::{Prints, Told};
use core::hint::black_box;
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSchema, MessageSink, Value};

/// The facts from both sides. Their texts are stored on a separate page.
// PERF: including the texts, the type had 1.8 KB, which every connection wrote and copied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// When the connection was first seen.
    pub(crate) time: Timestamp,
    /// Whether the client's hello was read; below: the server's.
    pub(crate) has_client: bool,
    pub(crate) has_server: bool,
    /// How many bytes of the page are in use.
    pub(crate) used: u16,
    pub(crate) ja4: Text,
    /// JA3 and JA3S, if they are wanted: the numbers that are hashed.
    pub(crate) ja3: Text,
    pub(crate) ja3s: Text,
    wants_ja3: bool,
    /// The random values of both hellos, if rules may read them.
    randoms: [Text; 2],
    wants_randoms: bool,
    pub(crate) server_name: Text,
    /// ALPN as offered by the client: names, each after its length.
    pub(crate) offered: Text,
    /// The protocol that the server chose.
    pub(crate) chosen: Text,
    session: Text,
    version: u16,
    pub(crate) cipher: u16,
    pub(crate) group: Option<u16>,
    pub(crate) is_resumed: bool,
    has_certificate: bool,
    has_client_certificate: bool,
    certificate: Certificate,
    /// The fingerprints of the chains of both sides, one behind the other, if they are wanted.
    pub(crate) prints: Text,
    pub(crate) client_prints: Text,
    /// Whether the certificate is for the server name that the client sent, if that is wanted.
    pub(crate) fits_name: Option<bool>,
    /// Whether the server's chain leads to a root, if that is wanted; else why not.
    pub(crate) validation: Option<&'static str>,
    /// The last alert sent in clear.
    pub(crate) alert: Option<u8>,
    pub(crate) is_established: bool,
    pub(crate) history: History,
    pub(crate) odd: Odd,
}

impl Facts {
    /// Returns the facts of a new connection: none.
    pub(crate) fn first_seen_at(time: Timestamp, wants_ja3: bool) -> Self {
        Self {
            time,
            wants_ja3,
            ..Self::default()
        }
    }

    /// The same, with what rules may read besides.
    pub(crate) const fn read_by_rules(mut self, rules: bool) -> Self {
        self.wants_randoms = rules;
        self
    }

    /// Returns the chosen version; `None` until a server has responded.
    pub(crate) fn version(&self) -> Option<u16> {
        self.has_server.then_some(self.version)
    }

    /// Whether there is anything to record.
    pub(crate) const fn has_any(&self) -> bool {
        self.has_client || self.has_server
    }

    /// Returns the protocol names that the client offers.
    pub(crate) fn offered<'p>(&self, page: &'p Page) -> impl Iterator<Item = &'p [u8]> {
        alpn_names(self.offered.of(page))
    }

    /// Reports the record of a TLS or DTLS handshake.
    pub(crate) fn report(&self, page: &Page, sink: &mut impl MessageSink) {
        for (random, to_server) in self.randoms.iter().zip([true, false]) {
            if random.len() > 0 {
                sink.said(to_server, "tls.random", random.of(page));
            }
        }
        let chain_len = self.prints.len() / PRINT_LEN;
        if self.wants_randoms && chain_len > 0 {
            sink.said(
                false,
                "tls.cert_chain_len",
                chain_len.to_string().as_bytes(),
            );
        }
        if !sink.reads(&TLS) {
            black_box(self);
            return sink.message(&TLS, self.time, &[]);
        }
        let schema = self.validation.map_or(&TLS, |_| &VALIDATED);
        self.report_as(schema, page, sink);
    }

    /// Reports the record of a handshake, which somebody reads.
    pub(crate) fn report_as(
        &self,
        schema: &'static MessageSchema,
        page: &Page,
        sink: &mut impl MessageSink,
    ) {
        let chains = [self.prints, self.client_prints];
        if chains == [Text::default(); 2] {
            return self.report_with([Value::Unset; 2], schema, page, sink);
        }
        let chains = chains.map(|prints| Prints::of(prints, page));
        let [server, client] = chains.each_ref().map(Prints::values);
        let lists = [server.get(), client.get()].map(list);
        self.report_with(lists, schema, page, sink);
    }

    /// `chains`: the fingerprints of the server's certificates, and of the client's.
    fn report_with(
        &self,
        chains: [Value<'_>; 2],
        schema: &'static MessageSchema,
        page: &Page,
        sink: &mut impl MessageSink,
    ) {
        let mut offered = [Value::Unset; OFFERED_MAX];
        let mut count = 0usize;
        for (place, name) in offered.iter_mut().zip(self.offered(page)) {
            *place = Value::Bytes(name);
            count = count.saturating_add(1);
        }
        let offered = list(offered.get(..count).unwrap_or_default());
        let version = self.version().and_then(names::version);
        let word = |name: Option<&'static str>| name.map_or(Value::Unset, Value::Text);
        let chosen = [Value::bytes(self.chosen.of(page))];
        let server = self.has_server;
        let texts = CertificateTexts::of(&self.certificate, page);
        let both = |name: &[u8]| [for_zeek(name), for_suricata(name)];
        let subject = both(self.certificate.subject.of(page));
        let issuer = both(self.certificate.issuer.of(page));
        let mut alternatives = [Value::Unset; ALTERNATIVES_MAX];
        let mut count = 0usize;
        for (place, name) in alternatives
            .iter_mut()
            .zip(self.certificate.alternatives(page))
        {
            *place = Value::Bytes(name);
            count = count.saturating_add(1);
        }
        let alternatives = list(alternatives.get(..count).unwrap_or_default());
        let (ja3, ja3s) = (self.ja3.of(page), self.ja3s.of(page));
        let [ja3_hash, ja3s_hash] = [ja3, ja3s].map(fingerprint);
        let values = [
            word(version.map(|(_, zeek)| zeek)),
            Value::Text(version.map_or("UNDETERMINED", |(eve, _)| eve)),
            word(crate::cipher_suites::name(self.cipher).filter(|_| server)),
            word(self.group.and_then(names::group).filter(|_| server)),
            Value::bytes(self.server_name.of(page)),
            when(server, Value::Bool(self.is_resumed)),
            word(self.alert.and_then(names::alert)),
            Value::bytes(self.chosen.of(page)),
            list(if self.chosen.len() == 0 { &[] } else { &chosen }),
            Value::Bool(self.is_established),
            Value::bytes(self.history.get()),
            chains[0],
            chains[1],
            self.fits_name.map_or(Value::Unset, Value::Bool),
            Value::bytes(self.ja4.of(page)),
            Value::bytes(ja3_hash.get()),
            Value::bytes(ja3),
            Value::bytes(ja3s_hash.get()),
            Value::bytes(ja3s),
            offered,
            Value::bytes(subject[0].get()),
            Value::bytes(subject[1].get()),
            Value::bytes(issuer[0].get()),
            Value::bytes(issuer[1].get()),
            Value::bytes(texts.serial.get()),
            Value::bytes(texts.serial_as_encoded.get()),
            Value::bytes(texts.not_before.get()),
            Value::bytes(texts.not_after.get()),
            alternatives,
            Value::bytes(texts.sha1.get()),
            word(self.validation),
        ];
        // Without validation there is no column for the last.
        let columns = schema.columns.len();
        sink.message(schema, self.time, values.get(..columns).unwrap_or(&values));
    }
}

/// Collects the facts of a connection, and its texts if they are wanted.
pub(crate) struct Notes<'a> {
    pub(crate) facts: &'a mut Facts,
    pub(crate) page: Option<&'a mut Page>,
    /// Who is told of certificates, if anybody is.
    pub(crate) told: Option<Told<'a>>,
}

impl Notes<'_> {
    /// Processes a complete handshake message in clear: its type (RFC 8446 §4), its length, and the
    /// wanted part of its body.
    pub(crate) fn message(
        &mut self,
        (kind, len): (u8, usize),
        body: &[u8],
        to_server: bool,
        carrier: Carrier,
    ) {
        let facts = &mut *self.facts;
        let is_whole = body.len() == len;
        match (kind, to_server) {
            (CLIENT_HELLO, true) if !facts.has_client => {
                if let Some(hello) = ClientHello::parse(body, carrier == Carrier::Dtls) {
                    facts.has_client = true;
                    if let Some(anomaly) = of_names(&hello) {
                        facts.odd.add(anomaly);
                    }
                    self.client(&hello, carrier);
                } else if is_whole && facts.has_server {
                    facts.odd.add(Anomaly::HandshakeMalformed);
                }
            }
            (SERVER_HELLO, false) if !facts.has_server => {
                if let Some(hello) = ServerHello::parse(body) {
                    self.server(&hello);
                } else if is_whole && facts.has_client {
                    facts.odd.add(Anomaly::HandshakeMalformed);
                }
            }
            (CERTIFICATE, false) if !facts.has_certificate => {
                facts.has_certificate = true;
                match Fields::first_of(body) {
                    Ok(fields) => {
                        if let Some(page) = self.page.as_deref_mut() {
                            let used = &mut facts.used;
                            facts.certificate = fields.put(&mut Writer { page, used });
                        }
                    }
                    Err(anomaly) if is_whole && facts.has_server => facts.odd.add(anomaly),
                    Err(_) => {}
                }
                self.chain(body, false);
            }
            (CERTIFICATE, true) if !facts.has_client_certificate => {
                facts.has_client_certificate = true;
                self.chain(body, true);
            }
            // RFC 8422 §5.4: a named curve.
            (SERVER_KEY_EXCHANGE, false) => {
                if let &[3, high, low, ..] = body {
                    facts.group = Some(u16::from_be_bytes([high, low]));
                }
            }
            _ => {}
        }
    }

    fn client(&mut self, hello: &ClientHello<'_>, carrier: Carrier) {
        let Some(page) = self.page.as_deref_mut() else {
            return;
        };
        let facts = &mut *self.facts;
        let used = &mut facts.used;
        let mut writer = Writer { page, used };
        facts.ja4 = writer.put(&ja4(hello, carrier).0, JA4_LEN);
        if let Some(numbers) = facts.wants_ja3.then(|| ja3::of_client(hello)).flatten() {
            facts.ja3 = writer.put(numbers.get(), usize::MAX);
        }
        if facts.wants_randoms {
            facts.randoms[0] = writer.put(hello.random, RANDOM_LEN);
        }
        facts.server_name = writer.put(hello.server_name.unwrap_or_default(), SERVER_NAME_MAX);
        facts.session = writer.put(hello.session, SESSION_MAX);
        let mut offered = writer.begin();
        // Only whole names, so that a truncated list does not end within a name.
        for name in hello.protocols() {
            if offered.len().saturating_add(name.len()) < ALPN_BYTES_MAX {
                let len = [u8::try_from(name.len()).unwrap_or(0)];
                writer.push(&mut offered, &len, ALPN_BYTES_MAX);
                writer.push(&mut offered, name, ALPN_BYTES_MAX);
            }
        }
        facts.offered = offered;
    }

    fn server(&mut self, hello: &ServerHello<'_>) {
        if hello.is_retry {
            return;
        }
        let facts = &mut *self.facts;
        facts.has_server = true;
        facts.version = hello.version;
        facts.cipher = hello.cipher;
        facts.group = hello.group.or(facts.group);
        facts.is_resumed = hello.has_psk;
        if let Some(page) = self.page.as_deref_mut() {
            // Since 1.3 the server always repeats the client's identifier.
            facts.is_resumed |= hello.version < 0x0304
                && !hello.session.is_empty()
                && hello.session == facts.session.of(page);
            let used = &mut facts.used;
            let mut writer = Writer { page, used };
            if facts.wants_randoms {
                facts.randoms[1] = writer.put(hello.random, RANDOM_LEN);
            }
            facts.chosen = writer.put(hello.alpn.unwrap_or_default(), CHOSEN_MAX);
            if let Some(numbers) = facts.wants_ja3.then(|| ja3::of_server(hello)).flatten() {
                facts.ja3s = writer.put(numbers.get(), usize::MAX);
            }
        }
    }
}

/// The fingerprint of numbers, if there are any.
pub(crate) fn fingerprint(numbers: &[u8]) -> Short<32> {
    match numbers {
        [] => Short::default(),
        _ => ja3::hash(numbers),
    }
}

// Maximum lengths of the stored texts.
const JA4_LEN: usize = 36;
const RANDOM_LEN: usize = 32;
/// Of a SHA-256.
const PRINT_LEN: usize = 32;
const SERVER_NAME_MAX: usize = 255;
const SESSION_MAX: usize = 32;
const ALPN_BYTES_MAX: usize = 160;
const CHOSEN_MAX: usize = 64;

/// Returns a list, or an unset value if it is empty.
pub(crate) const fn list<'a>(values: &'a [Value<'a>]) -> Value<'a> {
    if values.is_empty() {
        Value::Unset
    } else {
        Value::List(values)
    }
}

pub(crate) const fn when(set: bool, value: Value<'_>) -> Value<'_> {
    if set { value } else { Value::Unset }
}

/// Maximum number of ALPN names in a record.
pub(crate) const OFFERED_MAX: usize = 16;

/// Maximum number of a subject's other names in a record.
const ALTERNATIVES_MAX: usize = 128;

pub(crate) const CLIENT_HELLO: u8 = 1;
pub(crate) const SERVER_HELLO: u8 = 2;
pub(crate) const CERTIFICATE: u8 = 11;
pub(crate) const SERVER_KEY_EXCHANGE: u8 = 12;
