//! The contents of records as text: in zone-file format, and in the format of Zeek's log.

mod check;
mod edns;
mod location;
mod service;
mod text;
mod zeek;

use crate::wire::codes::{put_number, put_type};
use crate::wire::cursor::{Cursor, Short};
use crate::wire::text::{ByteRange, Texts};
use core::net::{IpAddr, Ipv6Addr};
use std::io::Write;

pub(crate) use edns::edns_option;

/// The contents of a record; texts are ranges of the message's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rdata {
    /// In zone-file format; names and single texts stand alone, without quotes. Addresses have no
    /// text.
    pub(crate) text: ByteRange,
    /// In the format of Zeek's log, which mostly is the same.
    pub(crate) zeek: ByteRange,
    /// The first and the last name; empty if there are none.
    pub(crate) names: [ByteRange; 2],
    /// SSHFP: the fingerprint, with colons.
    pub(crate) fingerprint: ByteRange,
    /// Range of the contents in the message.
    pub(crate) raw: ByteRange,
    /// Whether the contents violate the rules of their type; the text is then hexadecimal.
    pub(crate) is_bad: bool,
}

/// An element of a record's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    U8,
    U16,
    U32,
    /// A point in time, in the format of RFC 4034 §3.2.
    Time,
    /// The name of a record type.
    Type,
    Name,
    Ipv4,
    Ipv6,
    /// A length and bytes, quoted.
    String,
    /// A length and bytes, unquoted.
    Word,
    /// Lengths and bytes up to the end; unquoted if there is one string.
    Strings,
    /// The remaining bytes, quoted.
    Quoted,
    Hex,
    /// A length and bytes in hexadecimal; `-` if there are none.
    Salt,
    /// A length and bytes in base 32 without padding.
    Hash,
    Base64,
    /// A set of types (RFC 4034 §4.1.2).
    Bitmap,
    /// Bytes in hexadecimal, separated by `-`.
    Dashed,
    /// Eight bytes as four groups of hexadecimal digits (RFC 6742 §2.1.2).
    Locator,
    /// A 48-bit number.
    U48,
    /// A 16-bit length and bytes in base64 (RFC 8945 §4.2).
    Counted,
    /// RFC 1876.
    Location,
    /// RFC 9460.
    Parameters,
    /// The bytes themselves.
    Raw,
}

/// Returns the elements of a type's contents; `None` if they are written in the format of RFC 3597.
const fn parts(kind: u16) -> Option<&'static [Part]> {
    use Part::{
        Base64, Bitmap, Counted, Dashed, Hash, Hex, Ipv4, Ipv6, Location, Locator, Name,
        Parameters, Quoted, Raw, Salt, String, Strings, Time, Type, U8, U16, U32, U48, Word,
    };
    Some(match kind {
        1 => &[Ipv4],
        2 | 3 | 4 | 5 | 7 | 8 | 9 | 12 | 23 | 39 => &[Name],
        6 => &[Name, Name, U32, U32, U32, U32, U32],
        10 => &[Raw],
        13 => &[String, String],
        14 | 17 | 58 => &[Name, Name],
        15 | 18 | 21 | 36 | 107 => &[U16, Name],
        16 | 56 | 99 | 258 | 261 => &[Strings],
        19 => &[String],
        24 | 46 => &[Type, U8, U8, U32, Time, Time, U16, Name, Base64],
        25 | 48 | 57 | 60 => &[U16, U8, U8, Base64],
        26 => &[U16, Name, Name],
        27 => &[String, String, String],
        28 => &[Ipv6],
        29 => &[Location],
        33 => &[U16, U16, U16, Name],
        35 => &[U16, U16, String, String, String, Name],
        37 => &[U16, U16, U8, Base64],
        43 | 59 | 32768 | 32769 => &[U16, U8, U8, Hex],
        44 => &[U8, U8, Hex],
        47 => &[Name, Bitmap],
        49 | 61 => &[Base64],
        50 => &[U8, U8, U16, Salt, Hash, Bitmap],
        51 => &[U8, U8, U16, Salt],
        52 | 53 => &[U8, U8, U8, Hex],
        62 => &[U32, U16, Bitmap],
        63 => &[U32, U8, U8, Hex],
        64 | 65 => &[U16, Name, Parameters],
        104 | 106 => &[U16, Locator],
        105 => &[U16, Ipv4],
        108 | 109 => &[Dashed],
        249 => &[Name, U32, U32, U16, U16, Counted, Counted],
        250 => &[Name, U48, U16, Counted, U16, U16, Counted],
        256 => &[U16, U16, Quoted],
        257 => &[U8, Word, Quoted],
        _ => return None,
    })
}

/// Reads the contents of a record into `found`, which is empty, and appends their texts.
// PERF: writes in place. A returned value was copied right after its parts were written, and the
// copy stalled on them (nine times per message).
pub(crate) fn read(kind: u16, cursor: &mut Cursor<'_>, texts: &mut Texts, found: &mut Rdata) {
    let begin = cursor.at;
    found.raw = ByteRange::new(begin, cursor.end);
    match (kind, cursor.left()) {
        (A, 4) | (AAAA, 16) => {
            cursor.rest();
            return;
        }
        (NS | CNAME | PTR, _) => {
            if let Ok(name) = texts.name::<true>(cursor)
                && cursor.left() == 0
            {
                found.text = name.text;
                found.zeek = name.text;
                found.names = [name.text; 2];
                return;
            }
            cursor.at = begin;
        }
        _ => {}
    }
    with_text(kind, cursor, texts, found);
}

/// Returns the verdict of [`read`] on contents whose texts are not needed.
pub(crate) fn is_bad(kind: u16, cursor: &mut Cursor<'_>, texts: &mut Texts) -> bool {
    match (kind, cursor.left()) {
        (A, 4) | (AAAA, 16) => false,
        (NS | CNAME | PTR, _) => {
            let whole = *cursor;
            let is_name = texts.name::<false>(cursor).is_ok();
            if is_name && cursor.left() == 0 {
                return false;
            }
            *cursor = whole;
            check::is_bad(kind, cursor, texts)
        }
        _ => check::is_bad(kind, cursor, texts),
    }
}

/// Like [`read`], for every type.
fn with_text(kind: u16, cursor: &mut Cursor<'_>, texts: &mut Texts, found: &mut Rdata) {
    // PERF: does not copy the cursor, whose fields were just written.
    let whole = Cursor::new(cursor.message, cursor.at, cursor.end);
    let begin = texts.bytes.len();
    let mut names: Option<[ByteRange; 2]> = None;
    let good = parts(kind).is_some_and(|parts| {
        let read = parts.iter().enumerate().try_for_each(|(at, &part)| {
            if at > 0 && !(cursor.left() == 0 && may_be_none(part)) {
                texts.bytes.push(b' ');
            }
            if part != Part::Name {
                return put(part, cursor, &mut texts.bytes);
            }
            let from = texts.bytes.len();
            texts.new_name::<true>(cursor).map_err(|_| Short)?;
            if at > 0 && texts.bytes.len() == from {
                // Between other elements, an empty one needs a visible sign.
                texts.bytes.push(b'.');
            }
            let place = texts.since(from);
            names = Some([names.map_or(place, |[first, _]| first), place]);
            Ok(())
        });
        read.is_ok() && cursor.left() == 0
    });
    let out = &mut texts.bytes;
    if !good {
        // The texts stay, as later names may refer to them.
        let begin = out.len();
        put_unknown(whole, out);
        found.text = ByteRange::new(begin, out.len());
        found.zeek = zeek::unknown(kind, out);
        found.is_bad = parts(kind).is_some() && whole.left() > 0;
        return;
    }
    found.text = ByteRange::new(begin, out.len());
    found.names = names.unwrap_or_default();
    found.zeek = zeek::differing(kind, whole, found.names, out).unwrap_or(found.text);
    let fingerprint_at = out.len();
    if kind == SSHFP {
        let mut fingerprint = whole;
        let _ = fingerprint.take(2);
        text::put_separated(out, fingerprint.rest(), b':');
    }
    found.fingerprint = ByteRange::new(fingerprint_at, out.len());
}

/// Whether an element may be empty.
const fn may_be_none(part: Part) -> bool {
    matches!(part, Part::Parameters | Part::Bitmap)
}

impl Rdata {
    /// Returns the address of an A or AAAA record.
    pub(crate) fn address(&self, kind: u16, message: &[u8]) -> Option<IpAddr> {
        let bytes = message.get(self.raw.range())?;
        match (kind, bytes.len()) {
            (A, 4) => Some(IpAddr::from(*bytes.first_chunk::<4>()?)),
            (AAAA, 16) => Some(IpAddr::from(*bytes.first_chunk::<16>()?)),
            _ => None,
        }
    }
}

/// RFC 3597 §5: `\#`, the length, and the bytes in hexadecimal.
fn put_unknown(mut cursor: Cursor<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\# ");
    put_number(out, cursor.left() as u64);
    if cursor.left() > 0 {
        out.push(b' ');
        text::put_hex(out, cursor.rest());
    }
}

fn put(part: Part, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    match part {
        Part::U8 => put_number(out, cursor.u8()?.into()),
        Part::U16 => put_number(out, cursor.u16()?.into()),
        Part::U32 => put_number(out, cursor.u32()?.into()),
        Part::U48 => {
            let high = u64::from(cursor.u16()?) << 32;
            put_number(out, high | u64::from(cursor.u32()?));
        }
        Part::Time => text::put_time(out, cursor.u32()?),
        Part::Type => put_type(out, cursor.u16()?),
        // The caller has read the name.
        Part::Name => {}
        Part::Ipv4 => {
            let bytes: [u8; 4] = *cursor.take(4)?.first_chunk().ok_or(Short)?;
            text::put_ipv4(out, bytes);
        }
        Part::Ipv6 => {
            let bytes: [u8; 16] = *cursor.take(16)?.first_chunk().ok_or(Short)?;
            // Writing to a vector does not fail, here and below.
            let _ = write!(out, "{}", Ipv6Addr::from(bytes));
        }
        Part::String => text::put_quoted(out, cursor.string()?),
        Part::Word => out.extend_from_slice(cursor.string()?),
        Part::Strings => put_strings(cursor, out)?,
        Part::Quoted => text::put_quoted(out, cursor.rest()),
        Part::Hex => text::put_hex(out, cursor.rest()),
        Part::Salt => match cursor.string()? {
            [] => out.push(b'-'),
            salt => text::put_hex(out, salt),
        },
        Part::Hash => text::put_base32(out, cursor.string()?),
        Part::Base64 => text::put_base64(out, cursor.rest()),
        Part::Bitmap => put_bitmap(cursor, out)?,
        Part::Dashed => text::put_separated(out, cursor.rest(), b'-'),
        Part::Locator => text::put_groups(out, cursor.take(8)?),
        Part::Counted => {
            let len = cursor.u16()?;
            put_number(out, len.into());
            if len > 0 {
                out.push(b' ');
                text::put_base64(out, cursor.take(len.into())?);
            }
        }
        Part::Location => location::put(cursor, out)?,
        Part::Parameters => service::put(cursor, out)?,
        Part::Raw => out.extend_from_slice(cursor.rest()),
    }
    Ok(())
}

/// RFC 1035 §3.3.14: at least one string.
fn put_strings(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    let mut first = true;
    while cursor.left() > 0 || first {
        if !first {
            out.push(b' ');
        }
        out.extend_from_slice(cursor.string()?);
        first = false;
    }
    Ok(())
}

/// RFC 4034 §4.1.2: windows of 256 types, one bit per type.
fn put_bitmap(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    let mut first = true;
    while cursor.left() > 0 {
        let window = cursor.u8()?;
        for (at, &byte) in (0u8..).zip(cursor.string()?) {
            for bit in 0..8u8 {
                if byte & (0x80 >> bit) == 0 {
                    continue;
                }
                if !first {
                    out.push(b' ');
                }
                first = false;
                let low = at.wrapping_shl(3) | bit;
                put_type(out, u16::from_be_bytes([window, low]));
            }
        }
    }
    Ok(())
}

const A: u16 = 1;
const NS: u16 = 2;
const CNAME: u16 = 5;
const SOA: u16 = 6;
const PTR: u16 = 12;
const AAAA: u16 = 28;
const SSHFP: u16 = 44;

#[cfg(test)]
mod tests;
