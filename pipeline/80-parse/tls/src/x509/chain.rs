//! The chain of certificates that one side sends (RFC 5246 §7.4.2): records of its certificates,
//! and their fingerprints, which the record of the handshake lists.

use super::host::is_for;
use super::report::{Place, report};
use super::trust::Trust;
use crate::facts::Notes;
use crate::pages::{Page, Text, Writer};
use crate::schema::hex;
use crate::short::Short;
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSink, Value};
use flowpin_wire::Cursor;
use sha2::{Digest, Sha256};

/// Who is told of certificates.
pub(crate) struct Told<'a> {
    pub(crate) sink: &'a mut dyn MessageSink,
    pub(crate) at: Timestamp,
    /// How many were not told of as a whole, because of a cap.
    pub(crate) left_out: &'a mut u64,
    /// Whether anybody reads records of certificates.
    pub(crate) has_readers: bool,
    /// What servers' certificates are validated against, if they are.
    pub(crate) trust: Option<&'a Trust>,
}

impl Told<'_> {
    /// The same, lent.
    pub(crate) fn lend(&mut self) -> Told<'_> {
        Told {
            sink: self.sink,
            at: self.at,
            left_out: self.left_out,
            has_readers: self.has_readers,
            trust: self.trust,
        }
    }

    /// A certificate is not told of, or not as a whole.
    pub(crate) fn leave_out(&mut self) {
        *self.left_out = self.left_out.saturating_add(1);
    }
}

impl Notes<'_> {
    /// Reports the certificates of a chain, of whose message `body` may only have the beginning.
    pub(crate) fn chain(&mut self, body: &[u8], by_client: bool) {
        let Some(told) = &mut self.told else {
            return;
        };
        let facts = &mut *self.facts;
        if let (Some(trust), false, None) = (told.trust, by_client, facts.validation) {
            let mut chain = [&[][..]; CHAIN_MAX];
            let mut count = 0usize;
            for (place, certificate) in chain.iter_mut().zip(certificates(body)) {
                *place = certificate;
                count = count.saturating_add(1);
            }
            facts.validation = trust.status(chain.get(..count).unwrap_or_default(), told.at);
        }
        if !told.has_readers {
            return;
        }
        // Before the certificates, also if the same call has brought both.
        for anomaly in facts.odd.take() {
            told.sink.anomaly(anomaly.name());
        }
        let mut text = Text::default();
        let mut cursor = Cursor::over(body);
        let is_cut = cursor.len24().is_none_or(|len| len > cursor.left());
        let mut number = 0usize;
        while number < CHAIN_MAX
            && let Some(len) = cursor.len24()
            && let Some(certificate) = cursor.take(len)
        {
            if !by_client {
                told.sink.certificate(certificate);
            }
            let print: Fingerprint = Sha256::digest(certificate).into();
            let is_host = number == 0;
            if let Some(page) = self.page.as_deref_mut() {
                if is_host && !by_client && facts.server_name.len() > 0 {
                    facts.fits_name = is_for(certificate, facts.server_name.of(page));
                }
                let used = &mut facts.used;
                if !(Writer { page, used }).put_next(&mut text, &print) {
                    told.leave_out();
                }
            }
            report(certificate, &print, Place { is_host, by_client }, told);
            number = number.saturating_add(1);
        }
        if is_cut || (number == CHAIN_MAX && !cursor.is_end()) {
            told.leave_out();
        }
        if by_client {
            facts.client_prints = text;
        } else {
            facts.prints = text;
        }
    }
}

/// The certificates of a chain that are whole.
fn certificates(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut cursor = Cursor::over(body);
    // The length of all.
    let _ = cursor.len24();
    core::iter::from_fn(move || {
        let len = cursor.len24()?;
        cursor.take(len)
    })
}

/// SHA-256 of a certificate.
pub(super) type Fingerprint = [u8; 32];

/// A fingerprint as records show it.
pub(super) fn in_hex(print: &[u8]) -> Short<64> {
    let mut text = Short::default();
    for &byte in print {
        text.push(&hex(byte));
    }
    text
}

/// The fingerprints of a chain as text.
pub(crate) struct Prints {
    texts: [Short<64>; CHAIN_MAX],
    count: usize,
}

impl Prints {
    /// Of fingerprints one behind the other.
    pub(crate) fn of(prints: Text, page: &Page) -> Self {
        let mut texts = [Short::default(); CHAIN_MAX];
        let mut count = 0usize;
        let prints = prints.of(page).chunks_exact(size_of::<Fingerprint>());
        for (place, print) in texts.iter_mut().zip(prints) {
            *place = in_hex(print);
            count = count.saturating_add(1);
        }
        Self { texts, count }
    }

    /// The texts as values.
    pub(crate) fn values(&self) -> Values<'_> {
        let mut values = [Value::Unset; CHAIN_MAX];
        for (place, text) in values.iter_mut().zip(&self.texts) {
            *place = Value::Bytes(text.get());
        }
        Values {
            values,
            count: self.count,
        }
    }
}

/// The fingerprints of a chain as values.
pub(crate) struct Values<'a> {
    values: [Value<'a>; CHAIN_MAX],
    count: usize,
}

impl<'a> Values<'a> {
    pub(crate) fn get(&self) -> &[Value<'a>] {
        self.values.get(..self.count).unwrap_or_default()
    }
}

/// The most certificates of a chain that are told of: longer ones are not sent by chance.
const CHAIN_MAX: usize = 16;
