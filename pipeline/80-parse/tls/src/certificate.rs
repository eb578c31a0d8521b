//! What records show of a certificate with the usual encoding (RFC 5280 §4.1).

use crate::anomaly::Anomaly;
use crate::hello::alpn_names;
use crate::pages::{Page, Text, Writer};
use crate::short::Short;
use core::fmt::Write as _;
use core::net::{Ipv4Addr, Ipv6Addr};
use flowpin_wire::Cursor;
use sha1::{Digest, Sha1};

/// The parts of a certificate that records show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Certificate {
    /// As encoded: see [`super::distinguished`].
    pub(crate) subject: Text,
    pub(crate) issuer: Text,
    /// The bytes of the serial number.
    pub(crate) serial: Text,
    /// `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`.
    pub(crate) not_before: Text,
    pub(crate) not_after: Text,
    /// The subject's other names, each after its length.
    pub(crate) alternatives: Text,
    /// SHA-1 of the whole certificate; empty if it is not whole.
    pub(crate) sha1: Text,
}

pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const OCTETS: u8 = 0x04;
pub(crate) const OBJECT: u8 = 0x06;
/// The explicit tag of a version.
pub(crate) const VERSION: u8 = 0xa0;
/// The explicit tag of the extensions.
pub(crate) const EXTENSIONS: u8 = 0xa3;
/// 2.5.29.17.
const SUBJECT_ALT_NAME: [u8; 3] = [0x55, 0x1d, 0x11];

impl Certificate {
    /// The subject's other names.
    pub(crate) fn alternatives<'p>(&self, page: &'p Page) -> impl Iterator<Item = &'p [u8]> {
        alpn_names(self.alternatives.of(page))
    }
}

/// The parts of a certificate as they were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    whole: &'a [u8],
    serial: &'a [u8],
    issuer: &'a [u8],
    validity: Cursor<'a>,
    subject: &'a [u8],
    /// Behind the subject.
    rest: Cursor<'a>,
}

impl<'a> Fields<'a> {
    /// Reads the first certificate of the message's list (RFC 5246 §7.4.2); the rest of a longer
    /// chain may be missing. A list may be empty.
    pub(crate) fn first_of(body: &'a [u8]) -> Result<Self, Anomaly> {
        let mut cursor = Cursor::over(body);
        let mut first = || {
            cursor.len24()?;
            let len = cursor.len24()?;
            cursor.take(len)
        };
        let bytes = first().ok_or(Anomaly::CertificateMalformed)?;
        Self::parse(bytes).ok_or_else(|| fault(bytes))
    }

    fn parse(whole: &'a [u8]) -> Option<Self> {
        let mut outer = Cursor::over(element(&mut Cursor::over(whole), SEQUENCE)?);
        let mut fields = Cursor::over(element(&mut outer, SEQUENCE)?);
        let mut first = fields;
        if element(&mut first, VERSION).is_some() {
            fields = first;
        }
        let serial = element(&mut fields, INTEGER)?;
        element(&mut fields, SEQUENCE)?;
        let issuer = element(&mut fields, SEQUENCE)?;
        let validity = Cursor::over(element(&mut fields, SEQUENCE)?);
        let subject = element(&mut fields, SEQUENCE)?;
        Some(Self {
            whole,
            serial,
            issuer,
            validity,
            subject,
            rest: fields,
        })
    }

    /// Writes what records show.
    pub(crate) fn put(&self, writer: &mut Writer<'_>) -> Certificate {
        let mut validity = self.validity;
        let names = alternative_names(self.rest).unwrap_or_default();
        Certificate {
            subject: writer.put(self.subject, NAMES_MAX),
            issuer: writer.put(self.issuer, NAMES_MAX),
            serial: writer.put(self.serial, SERIAL_MAX),
            not_before: writer.put(time(&mut validity).unwrap_or_default(), TIME_MAX),
            not_after: writer.put(time(&mut validity).unwrap_or_default(), TIME_MAX),
            sha1: writer.put(&Sha1::digest(self.whole), SHA1_LEN),
            // Last, so that they have what is left of the page.
            alternatives: put_alternatives(names, writer),
        }
    }
}

/// What is wrong with a certificate that cannot be read: the first elements of it, each in the one
/// before, may end within their lengths.
#[cold]
fn fault(mut bytes: &[u8]) -> Anomaly {
    for _ in 0..2 {
        let mut cursor = Cursor::over(bytes);
        match cursor.ber().map(|(_, len)| cursor.take(len)) {
            None => return Anomaly::CertificateCut,
            Some(None) => break,
            Some(Some(inner)) => bytes = inner,
        }
    }
    Anomaly::CertificateMalformed
}

/// Returns the contents of the next element if it has this tag.
pub(crate) fn element<'a>(cursor: &mut Cursor<'a>, wanted: u8) -> Option<&'a [u8]> {
    let (tag, len) = cursor.ber()?;
    cursor.take(len).filter(|_| tag == wanted)
}

/// Reads a UTCTime or GeneralizedTime.
pub(crate) fn time<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let (tag, len) = cursor.ber()?;
    cursor.take(len).filter(|_| matches!(tag, 0x17 | 0x18))
}

/// The names in the extension `subjectAltName` (RFC 5280 §4.2.1.6); `fields`: those behind the
/// subject.
fn alternative_names(mut fields: Cursor<'_>) -> Option<&[u8]> {
    element(&mut fields, SEQUENCE)?;
    let mut extensions = loop {
        let (tag, len) = fields.ber()?;
        let value = fields.take(len)?;
        if tag == EXTENSIONS {
            break Cursor::over(element(&mut Cursor::over(value), SEQUENCE)?);
        }
    };
    loop {
        let mut extension = Cursor::over(element(&mut extensions, SEQUENCE)?);
        if element(&mut extension, OBJECT)? != SUBJECT_ALT_NAME {
            continue;
        }
        let (tag, len) = extension.ber()?;
        let mut value = extension.take(len)?;
        if tag == BOOLEAN {
            value = element(&mut extension, OCTETS)?;
        }
        return element(&mut Cursor::over(value), SEQUENCE);
    }
}

/// Writes names as text, each after its length; only whole ones.
fn put_alternatives(names: &[u8], writer: &mut Writer<'_>) -> Text {
    let mut names = Cursor::over(names);
    let mut text = writer.begin();
    while let Some((tag, len)) = names.ber()
        && let Some(name) = names.take(len)
    {
        let mut address = Short::<40>::default();
        let name = match (tag, name) {
            // A mail address, a host, a URI.
            (0x81 | 0x82 | 0x86, name) => name,
            (0x87, &[a, b, c, d]) => {
                let _ = write!(address, "{}", Ipv4Addr::new(a, b, c, d));
                address.get()
            }
            (0x87, name) => {
                let Ok(octets) = <[u8; 16]>::try_from(name) else {
                    continue;
                };
                let _ = write!(address, "{}", Ipv6Addr::from(octets));
                address.get()
            }
            _ => continue,
        };
        let Ok(len) = u8::try_from(name.len()) else {
            continue;
        };
        if len > 0 && text.len().saturating_add(name.len()) < ALTERNATIVES_MAX {
            writer.push(&mut text, &[len], ALTERNATIVES_MAX);
            writer.push(&mut text, name, ALTERNATIVES_MAX);
        }
    }
    text
}

// Maximum lengths of the stored texts.
const NAMES_MAX: usize = 384;
const SERIAL_MAX: usize = 24;
const TIME_MAX: usize = 15;
const SHA1_LEN: usize = 20;
const ALTERNATIVES_MAX: usize = 1024;
