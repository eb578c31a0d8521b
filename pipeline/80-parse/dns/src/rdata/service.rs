//! Service parameters of SVCB and HTTPS (RFC 9460).

use super::text::{put_base64, put_ipv4, put_quoted};
use crate::wire::codes::{parameter_name, put_number};
use crate::wire::cursor::{Cursor, Short};
use core::net::Ipv6Addr;
use std::io::Write;

/// `alpn=h2,h3 port=8443 ipv4hint=192.0.2.1` (RFC 9460 §2.1).
pub(super) fn put(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    let mut first = true;
    while cursor.left() > 0 {
        if !first {
            out.push(b' ');
        }
        first = false;
        let key = cursor.u16()?;
        let len = usize::from(cursor.u16()?);
        let from = cursor.at;
        cursor.take(len)?;
        put_key(out, key);
        let mut value = Cursor::new(cursor.message, from, cursor.at);
        if value.left() > 0 {
            out.push(b'=');
            put_value(key, &mut value, out)?;
        }
    }
    Ok(())
}

fn put_key(out: &mut Vec<u8>, key: u16) {
    match parameter_name(key) {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => {
            out.extend_from_slice(b"key");
            put_number(out, key.into());
        }
    }
}

fn put_value(key: u16, value: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    let begin = out.len();
    let comma = |out: &mut Vec<u8>| {
        if out.len() > begin {
            out.push(b',');
        }
    };
    match key {
        3 => put_number(out, value.u16()?.into()),
        5 => put_base64(out, value.rest()),
        0 | 1 | 4 | 6 => {
            while value.left() > 0 {
                comma(out);
                match key {
                    0 => put_key(out, value.u16()?),
                    1 => out.extend_from_slice(value.string()?),
                    4 => {
                        let address: [u8; 4] = *value.take(4)?.first_chunk().ok_or(Short)?;
                        put_ipv4(out, address);
                    }
                    _ => {
                        let address: [u8; 16] = *value.take(16)?.first_chunk().ok_or(Short)?;
                        let _ = write!(out, "{}", Ipv6Addr::from(address));
                    }
                }
            }
        }
        _ => put_quoted(out, value.rest()),
    }
    Ok(())
}
