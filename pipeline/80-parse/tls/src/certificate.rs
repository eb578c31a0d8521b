//! A certificate's names, as far as its encoding is what everybody writes (RFC 5280 §4.1).

use crate::pages::{Text, Writer};
use flowpin_wire::Cursor;

/// What is kept of a certificate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Certificate {
    /// `C=…, O=…, CN=…`, in the order of the encoding.
    pub(crate) subject: Text,
    pub(crate) issuer: Text,
    /// The number's bytes.
    pub(crate) serial: Text,
    /// `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`.
    pub(crate) not_before: Text,
    pub(crate) not_after: Text,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const OBJECT: u8 = 0x06;
/// The explicit tag around a version.
const VERSION: u8 = 0xa0;

impl Certificate {
    /// Reads the first certificate of the message's list (RFC 5246 §7.4.2); of a longer chain the
    /// rest need not be there.
    pub(crate) fn first_of(body: &[u8], writer: &mut Writer<'_>) -> Option<Self> {
        let mut cursor = Cursor::over(body);
        cursor.len24()?;
        let len = cursor.len24()?;
        Self::parse(cursor.take(len)?, writer)
    }

    fn parse(bytes: &[u8], writer: &mut Writer<'_>) -> Option<Self> {
        let mut outer = Cursor::over(element(&mut Cursor::over(bytes), SEQUENCE)?);
        let mut fields = Cursor::over(element(&mut outer, SEQUENCE)?);
        let mut first = fields;
        if element(&mut first, VERSION).is_some() {
            fields = first;
        }
        let serial = element(&mut fields, INTEGER)?;
        element(&mut fields, SEQUENCE)?;
        let issuer = element(&mut fields, SEQUENCE)?;
        let mut validity = Cursor::over(element(&mut fields, SEQUENCE)?);
        let subject = element(&mut fields, SEQUENCE)?;
        Some(Self {
            subject: names(subject, writer),
            issuer: names(issuer, writer),
            serial: writer.put(serial, SERIAL_MAX),
            not_before: writer.put(time(&mut validity).unwrap_or_default(), TIME_MAX),
            not_after: writer.put(time(&mut validity).unwrap_or_default(), TIME_MAX),
        })
    }
}

/// The content of the next element, if it has this tag.
fn element<'a>(cursor: &mut Cursor<'a>, wanted: u8) -> Option<&'a [u8]> {
    let (tag, len) = cursor.ber()?;
    cursor.take(len).filter(|_| tag == wanted)
}

/// UTCTime or GeneralizedTime.
fn time<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let (tag, len) = cursor.ber()?;
    cursor.take(len).filter(|_| matches!(tag, 0x17 | 0x18))
}

/// A distinguished name in words.
fn names(sequence: &[u8], writer: &mut Writer<'_>) -> Text {
    let mut out = writer.begin();
    let mut sets = Cursor::over(sequence);
    while let Some(set) = element(&mut sets, SET) {
        let mut set = Cursor::over(set);
        while let Some(pair) = element(&mut set, SEQUENCE) {
            let mut pair = Cursor::over(pair);
            let Some(kind) = element(&mut pair, OBJECT) else {
                continue;
            };
            let Some(value) = pair.ber().and_then(|(_, len)| pair.take(len)) else {
                continue;
            };
            let before: &[u8] = if out.len() > 0 { b", " } else { b"" };
            for part in [before, short_name(kind), b"=", value] {
                writer.push(&mut out, part, NAMES_MAX);
            }
        }
    }
    out
}

/// RFC 4519 and RFC 2985, as OpenSSL shortens them.
const fn short_name(object: &[u8]) -> &'static [u8] {
    match object {
        [0x55, 4, 3] => b"CN",
        [0x55, 4, 4] => b"SN",
        [0x55, 4, 5] => b"serialNumber",
        [0x55, 4, 6] => b"C",
        [0x55, 4, 7] => b"L",
        [0x55, 4, 8] => b"ST",
        [0x55, 4, 9] => b"street",
        [0x55, 4, 10] => b"O",
        [0x55, 4, 11] => b"OU",
        [0x55, 4, 12] => b"title",
        [0x55, 4, 15] => b"businessCategory",
        [0x55, 4, 17] => b"postalCode",
        [0x55, 4, 42] => b"GN",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1] => b"emailAddress",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 2] => b"unstructuredName",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1] => b"UID",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25] => b"DC",
        _ => b"unknown",
    }
}

// What is kept of texts.
const NAMES_MAX: usize = 384;
const SERIAL_MAX: usize = 24;
const TIME_MAX: usize = 15;
