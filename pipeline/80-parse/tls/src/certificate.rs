//! The names in a certificate with the usual encoding (RFC 5280 §4.1).

use crate::pages::{Text, Writer};
use flowpin_wire::Cursor;

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
}

pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
pub(crate) const OBJECT: u8 = 0x06;
/// The explicit tag of a version.
const VERSION: u8 = 0xa0;

impl Certificate {
    /// Reads the first certificate of the message's list (RFC 5246 §7.4.2); the rest of a longer
    /// chain may be missing.
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
            subject: writer.put(subject, NAMES_MAX),
            issuer: writer.put(issuer, NAMES_MAX),
            serial: writer.put(serial, SERIAL_MAX),
            not_before: writer.put(time(&mut validity).unwrap_or_default(), TIME_MAX),
            not_after: writer.put(time(&mut validity).unwrap_or_default(), TIME_MAX),
        })
    }
}

/// Returns the contents of the next element if it has this tag.
pub(crate) fn element<'a>(cursor: &mut Cursor<'a>, wanted: u8) -> Option<&'a [u8]> {
    let (tag, len) = cursor.ber()?;
    cursor.take(len).filter(|_| tag == wanted)
}

/// Reads a UTCTime or GeneralizedTime.
fn time<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let (tag, len) = cursor.ber()?;
    cursor.take(len).filter(|_| matches!(tag, 0x17 | 0x18))
}

// Maximum lengths of the stored texts.
const NAMES_MAX: usize = 384;
const SERIAL_MAX: usize = 24;
const TIME_MAX: usize = 15;
