//! What a connection has told so far, and its record.

use crate::certificate::Certificate;
use crate::hello::{ClientHello, ServerHello, alpn_names};
use crate::ja4::{Carrier, ja4};
use crate::names;
use crate::schema::{CertificateTexts, TLS};
use crate::short::Short;
use core::hint::black_box;
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSink, Value};

/// What both sides have told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// When it was first heard of.
    pub(crate) time: Timestamp,
    /// The client's hello was read; the server's.
    pub(crate) has_client: bool,
    pub(crate) has_server: bool,
    pub(crate) ja4: Short<36>,
    pub(crate) server_name: Short<255>,
    /// ALPN as the client offers it: names behind their lengths.
    pub(crate) offered: Short<160>,
    /// What the server chose of it.
    pub(crate) chosen: Short<64>,
    session: Short<32>,
    version: u16,
    pub(crate) cipher: u16,
    pub(crate) group: Option<u16>,
    pub(crate) is_resumed: bool,
    has_certificate: bool,
    certificate: Certificate,
    /// The last alert told in clear.
    pub(crate) alert: Option<u8>,
    pub(crate) is_established: bool,
}

impl Facts {
    /// Nothing yet.
    pub(crate) fn begun_at(time: Timestamp) -> Self {
        Self {
            time,
            ..Self::default()
        }
    }

    /// The version chosen; none as long as no server has answered.
    pub(crate) fn version(&self) -> Option<u16> {
        self.has_server.then_some(self.version)
    }

    /// A whole handshake message in clear: its type (RFC 8446 §4) and what is kept of its body.
    pub(crate) fn message(&mut self, kind: u8, body: &[u8], to_server: bool, carrier: Carrier) {
        match (kind, to_server) {
            (CLIENT_HELLO, true) if !self.has_client => {
                if let Some(hello) = ClientHello::parse(body, carrier == Carrier::Dtls) {
                    self.client(&hello, carrier);
                }
            }
            (SERVER_HELLO, false) if !self.has_server => {
                if let Some(hello) = ServerHello::parse(body) {
                    self.server(&hello);
                }
            }
            (CERTIFICATE, false) if !self.has_certificate => {
                self.has_certificate = true;
                if let Some(read) = Certificate::first_of(body) {
                    self.certificate = read;
                }
            }
            // RFC 8422 §5.4: a named curve.
            (SERVER_KEY_EXCHANGE, false) => {
                if let &[3, high, low, ..] = body {
                    self.group = Some(u16::from_be_bytes([high, low]));
                }
            }
            _ => {}
        }
    }

    fn client(&mut self, hello: &ClientHello<'_>, carrier: Carrier) {
        self.has_client = true;
        self.ja4 = Short::of(&ja4(hello, carrier).0);
        self.server_name = Short::of(hello.server_name.unwrap_or_default());
        self.session = Short::of(hello.session);
        // Whole names only, so that a cut list does not end in half of one.
        for name in hello.protocols() {
            if self.offered.get().len().saturating_add(name.len()) < 160 {
                self.offered.push(&[u8::try_from(name.len()).unwrap_or(0)]);
                self.offered.push(name);
            }
        }
    }

    fn server(&mut self, hello: &ServerHello<'_>) {
        if hello.is_retry {
            return;
        }
        self.has_server = true;
        self.version = hello.version;
        self.cipher = hello.cipher;
        self.group = hello.group.or(self.group);
        self.chosen = Short::of(hello.alpn.unwrap_or_default());
        // Since 1.3 the server returns the client's identifier always.
        self.is_resumed = hello.has_psk
            || (hello.version < 0x0304
                && !hello.session.is_empty()
                && hello.session == self.session.get());
    }

    /// Whether there is anything to record.
    pub(crate) const fn are_any(&self) -> bool {
        self.has_client || self.has_server
    }

    /// The names that the client offers.
    pub(crate) fn offered(&self) -> impl Iterator<Item = &[u8]> {
        alpn_names(self.offered.get())
    }

    /// Writes the record of a TLS or DTLS handshake.
    pub(crate) fn tell(&self, sink: &mut impl MessageSink) {
        if !sink.reads(&TLS) {
            black_box(self);
            return sink.message(&TLS, self.time, &[]);
        }
        let mut offered = [Value::Unset; OFFERED_MAX];
        let mut count = 0usize;
        for (place, name) in offered.iter_mut().zip(self.offered()) {
            *place = Value::Bytes(name);
            count = count.saturating_add(1);
        }
        let offered = list(offered.get(..count).unwrap_or_default());
        let version = self.version().and_then(names::version);
        let word = |name: Option<&'static str>| name.map_or(Value::Unset, Value::Text);
        let chosen = [Value::bytes(self.chosen.get())];
        let server = self.has_server;
        let texts = CertificateTexts::of(&self.certificate);
        sink.message(
            &TLS,
            self.time,
            &[
                word(version.map(|(_, zeek)| zeek)),
                Value::Text(version.map_or("UNDETERMINED", |(eve, _)| eve)),
                word(crate::cipher_suites::name(self.cipher).filter(|_| server)),
                word(self.group.and_then(names::group).filter(|_| server)),
                Value::bytes(self.server_name.get()),
                when(server, Value::Bool(self.is_resumed)),
                word(self.alert.and_then(names::alert)),
                Value::bytes(self.chosen.get()),
                list(if self.chosen.get().is_empty() {
                    &[]
                } else {
                    &chosen
                }),
                Value::Bool(self.is_established),
                Value::bytes(self.ja4.get()),
                offered,
                Value::bytes(self.certificate.subject.get()),
                Value::bytes(self.certificate.issuer.get()),
                Value::bytes(texts.serial.get()),
                Value::bytes(texts.not_before.get()),
                Value::bytes(texts.not_after.get()),
            ],
        );
    }
}

/// A list, unset if it is empty.
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

/// Names of ALPN in a record.
pub(crate) const OFFERED_MAX: usize = 16;

pub(crate) const CLIENT_HELLO: u8 = 1;
pub(crate) const SERVER_HELLO: u8 = 2;
pub(crate) const CERTIFICATE: u8 = 11;
pub(crate) const SERVER_KEY_EXCHANGE: u8 = 12;
