//! EDNS options (RFC 6891 §6.1.2).

use super::text::{put_hex, put_quoted};
use crate::wire::codes::put_number;
use crate::wire::cursor::{Cursor, Short};
use core::net::{Ipv4Addr, Ipv6Addr};
use std::io::Write;

/// Appends the text of an option: its name and its contents.
pub(crate) fn edns_option(
    code: u16,
    cursor: &mut Cursor<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Short> {
    match code {
        3 => named(out, "NSID", cursor.rest()),
        5 => named(out, "DAU", cursor.rest()),
        6 => named(out, "DHU", cursor.rest()),
        7 => named(out, "N3U", cursor.rest()),
        8 => client_subnet(cursor, out)?,
        9 => named(out, "EXPIRE", cursor.rest()),
        10 => cookie(cursor, out)?,
        11 => {
            // RFC 7828 §3.1: a query has no value, a response 16 bits in units of 100 ms.
            out.extend_from_slice(b"KEEPALIVE");
            if cursor.left() > 0 {
                let _ = write!(out, " {}", cursor.u16()?);
            }
        }
        12 => {
            let _ = write!(out, "PADDING {}", cursor.rest().len());
        }
        15 => {
            let _ = write!(out, "EDE {}", cursor.u16()?);
            if cursor.left() > 0 {
                out.push(b' ');
                put_quoted(out, cursor.rest());
            }
        }
        _ => {
            out.extend_from_slice(b"OPT");
            put_number(out, code.into());
            named(out, "", cursor.rest());
        }
    }
    Ok(())
}

fn named(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    if !bytes.is_empty() {
        out.push(b' ');
        put_hex(out, bytes);
    }
}

/// RFC 7871 §6: family, source and scope prefix lengths, and as many address bytes as the source
/// prefix needs.
fn client_subnet(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    let family = cursor.u16()?;
    let (source, scope) = (cursor.u8()?, cursor.u8()?);
    let bytes = cursor.rest();
    let mut all = [0u8; 16];
    for (to, from) in all.iter_mut().zip(bytes) {
        *to = *from;
    }
    let [a, b, c, d, ..] = all;
    let good = match family {
        1 if bytes.len() <= 4 && source <= 32 => {
            let _ = write!(out, "ECS {}/{source}/{scope}", Ipv4Addr::new(a, b, c, d));
            true
        }
        2 if bytes.len() <= 16 && source <= 128 => {
            let _ = write!(out, "ECS {}/{source}/{scope}", Ipv6Addr::from(all));
            true
        }
        _ => {
            named(out, "ECS", bytes);
            false
        }
    };
    if good { Ok(()) } else { Err(Short) }
}

/// RFC 7873 §4: eight bytes from the client, then none or 8 to 32 from the server.
fn cookie(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    let bytes = cursor.rest();
    named(out, "COOKIE", bytes.get(..8).unwrap_or(bytes));
    let server = bytes.get(8..).unwrap_or_default();
    if !server.is_empty() {
        named(out, "", server);
    }
    if bytes.len() == 8 || (16..=40).contains(&bytes.len()) {
        Ok(())
    } else {
        Err(Short)
    }
}
