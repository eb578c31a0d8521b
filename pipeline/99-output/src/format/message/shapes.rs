//! Values that EVE shows in another shape than they have, as Suricata types them.

use super::eve::put_leaf;
use crate::format::escape::{put_json, put_json_part};
use crate::format::schemas::Shape;
use crate::text::{DateCache, Key, TextBuffer};
use flowpin_record::Value;

/// Appends a member whose value is shown in another shape, if it is set.
#[cold]
pub(super) fn put_shaped(
    text: &mut TextBuffer,
    dates: &mut DateCache,
    key: &Key,
    value: &Value<'_>,
    shape: Shape,
) {
    match (shape, *value) {
        (_, Value::Unset) => {}
        (Shape::Text, Value::Count(count)) => {
            text.put_key(key);
            text.line(|line| {
                line.put(b"\"");
                line.put_u64(count);
                line.put(b"\"");
            });
        }
        (Shape::List, Value::Bytes(bytes)) => {
            let mut parts = comma_parts(bytes).peekable();
            if parts.peek().is_none() {
                return;
            }
            text.put_key(key);
            for (index, part) in parts.enumerate() {
                text.extend(if index == 0 { b"[" } else { b"," });
                put_json(text, part);
            }
            text.extend(b"]");
        }
        (Shape::Path, Value::Bytes(bytes)) => {
            text.put_key(key);
            put_path(text, bytes);
        }
        (Shape::Path, Value::List(all)) => {
            text.put_key(key);
            for (index, one) in all.iter().enumerate() {
                text.extend(if index == 0 { b"[" } else { b"," });
                put_path(
                    text,
                    if let Value::Bytes(bytes) = one {
                        bytes
                    } else {
                        b""
                    },
                );
            }
            text.extend(b"]");
        }
        (Shape::Numbers, Value::List(all)) => {
            text.put_key(key);
            put_numbers(text, all);
        }
        _ => put_leaf(text, dates, key, value),
    }
}

/// Names and their numbers; a text without a number is left out.
fn put_numbers(text: &mut TextBuffer, all: &[Value<'_>]) {
    text.extend(b"{");
    let mut is_first = true;
    for one in all {
        let Value::Bytes(bytes) = one else { continue };
        let Ok(one) = core::str::from_utf8(bytes) else {
            continue;
        };
        let pair = one.rsplit_once(' ');
        let number = pair.and_then(|(name, number)| Some((name, number.parse::<f64>().ok()?)));
        let Some((name, number)) = number.filter(|one| one.1.is_finite()) else {
            continue;
        };
        if !core::mem::take(&mut is_first) {
            text.extend(b",");
        }
        put_json(text, name.as_bytes());
        text.extend(b":");
        text.extend(number.to_string().as_bytes());
    }
    text.extend(b"}");
}

/// A mailbox in angle brackets.
fn put_path(text: &mut TextBuffer, mailbox: &[u8]) {
    text.extend(b"\"<");
    put_json_part(text, mailbox);
    text.extend(b">\"");
}

/// The parts between commas, without blanks around them; not the empty ones. Commas in quotes and
/// in angle brackets separate nothing (RFC 5322 §3.2.4, §3.4).
pub(crate) fn comma_parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut is_quoted, mut is_escaped, mut is_angled) = (false, false, false);
    let parts = bytes.split(move |&byte| {
        if core::mem::take(&mut is_escaped) {
            return false;
        }
        match byte {
            b'\\' => is_escaped = is_quoted,
            b'"' => is_quoted = !is_quoted,
            b'<' | b'>' if !is_quoted => is_angled = byte == b'<',
            b',' => return !is_quoted && !is_angled,
            _ => {}
        }
        false
    });
    parts
        .map(<[u8]>::trim_ascii)
        .filter(|part| !part.is_empty())
}
