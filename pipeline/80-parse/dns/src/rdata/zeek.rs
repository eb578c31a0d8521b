//! The contents of records as Zeek's log shows them, where they differ from the zone-file format.

use super::{SOA, SSHFP, text};
use crate::wire::codes::put_number;
use crate::wire::cursor::Cursor;
use crate::wire::text::ByteRange;
use std::io::Write;

/// Appends the text of Zeek's `answers` if it differs from the zone-file format.
pub(super) fn differing(
    kind: u16,
    mut cursor: Cursor<'_>,
    [first, last]: [ByteRange; 2],
    out: &mut Vec<u8>,
) -> Option<ByteRange> {
    let begin = out.len();
    let number = |cursor: &mut Cursor<'_>| u64::from(cursor.u8().unwrap_or(0));
    match kind {
        SOA => return Some(first),
        15 | 33 => return Some(last),
        16 | 99 => {
            let word: &[u8] = if kind == 16 { b"TXT" } else { b"SPF" };
            while let Ok(string) = cursor.string() {
                if out.len() > begin {
                    out.push(b' ');
                }
                out.extend_from_slice(word);
                out.push(b' ');
                put_number(out, string.len() as u64);
                out.push(b' ');
                out.extend_from_slice(string);
            }
        }
        24 | 46 => {
            let covered = cursor.u16().unwrap_or(0);
            let signer = last.range();
            out.extend_from_slice(b"RRSIG ");
            put_number(out, covered.into());
            out.push(b' ');
            match out.get(signer.clone()) {
                Some(b"." | b"") | None => out.extend_from_slice(b"<Root>"),
                Some(_) => out.extend_from_within(signer),
            }
        }
        43 => {
            let _ = cursor.u16();
            let (algorithm, digest) = (number(&mut cursor), number(&mut cursor));
            let _ = write!(out, "DS {algorithm} {digest}");
        }
        48 => {
            let _ = cursor.take(3);
            let _ = write!(out, "DNSKEY {}", number(&mut cursor));
        }
        SSHFP => {
            let _ = cursor.take(2);
            out.extend_from_slice(b"SSHFP: ");
            text::put_hex(out, cursor.rest());
        }
        29 => {
            let _ = cursor.u8();
            let mut next = || number(&mut cursor);
            let (size, across, down) = (next(), next(), next());
            let _ = write!(out, "LOC:  {size} {across} {down}");
        }
        47 => out.extend_from_slice(b"NSEC "),
        50 => out.extend_from_slice(b"NSEC3"),
        51 => out.extend_from_slice(b"NSEC3PARAM"),
        _ => return None,
    }
    if kind == 47 {
        out.extend_from_within(first.range());
    }
    Some(ByteRange::new(begin, out.len()))
}

/// Zeek's text for types that Zeek does not know.
pub(super) fn unknown(kind: u16, out: &mut Vec<u8>) -> ByteRange {
    let begin = out.len();
    let _ = write!(out, "<unknown type={kind}>");
    ByteRange::new(begin, out.len())
}
