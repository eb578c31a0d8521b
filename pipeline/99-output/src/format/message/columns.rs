//! A message in the formats that go by columns: Zeek's two, and CSV.

use super::Message;
use super::values::{put_json_value, put_simple};
use crate::format::escape::{is_formula, put_csv, put_csv_member, put_zeek};
use crate::text::{DateCache, TextBuffer};
use flowpin_record::{Kind, Value};
use std::borrow::Cow;

/// Appends a record as Zeek writes it, separated by tabs.
pub(super) fn zeek_tsv(text: &mut TextBuffer, message: &Message<'_>) {
    let start = text.len();
    let fields = message.ready.fields.iter();
    for field in fields.filter(|field| field.logs.in_zeek()) {
        match message.value(field) {
            // PERF: most columns of most records: with the separator in one go.
            Value::Unset => {
                text.put_first(b"-\t", 2);
                continue;
            }
            Value::List([]) => text.extend(b"(empty)"),
            Value::List(values) => {
                for (index, &value) in values.iter().enumerate() {
                    if index > 0 {
                        text.put_first(b",", 1);
                    }
                    put_zeek_value(text, field.kind, value, true);
                }
            }
            value => put_zeek_value(text, field.kind, value, false),
        }
        text.put_first(b"\t", 1);
    }
    // In the place of the last separator.
    text.truncate(text.len().saturating_sub(1).max(start));
    text.put_first(b"\n", 1);
}

#[inline]
fn put_zeek_value(text: &mut TextBuffer, kind: Kind, value: Value<'_>, in_set: bool) {
    match value {
        Value::Unset => text.put_first(b"-", 1),
        Value::Bool(value) => text.put_first(if value { b"T" } else { b"F" }, 1),
        Value::Bytes(bytes) => put_zeek(text, &as_in_zeek(kind, bytes), in_set),
        Value::Text(bytes) => put_zeek(text, bytes.as_bytes(), in_set),
        value => put_simple(text, value),
    }
}

/// A text as Zeek's logs have it: targets decoded, names of hosts in lower case.
fn as_in_zeek(kind: Kind, bytes: &[u8]) -> Cow<'_, [u8]> {
    match kind {
        Kind::Uri if bytes.contains(&b'%') => decoded(bytes).into(),
        Kind::HostName if bytes.iter().any(u8::is_ascii_uppercase) => {
            bytes.to_ascii_lowercase().into()
        }
        _ => bytes.into(),
    }
}

/// RFC 3986 §2.1: `%` and two hexadecimal digits are a byte. Anything else stays as it is.
fn decoded(uri: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(uri.len());
    let mut rest = uri;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let hex = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        let digits = behind.first_chunk::<2>().filter(|_| byte == b'%');
        let coded = digits.and_then(|&[high, low]| Some(hex(high)? << 4 | hex(low)?));
        if coded.is_some() {
            rest = behind.get(2..).unwrap_or_default();
        }
        out.push(coded.unwrap_or(byte));
    }
    out
}

/// Appends a record as Zeek's JSON writer has it: unset columns are left out.
pub(super) fn zeek_json(text: &mut TextBuffer, message: &Message<'_>) {
    let mut first = true;
    for field in message
        .ready
        .fields
        .iter()
        .filter(|field| field.logs.in_zeek())
    {
        let value = message.value(field);
        if value == Value::Unset {
            continue;
        }
        text.extend(if first { b"{\"" } else { b",\"" });
        first = false;
        text.extend(field.name.as_bytes());
        text.extend(b"\":");
        match (field.kind, value) {
            (Kind::FileIds, Value::File(_)) => {
                text.extend(b"[");
                put_json_value(text, None, &value);
                text.extend(b"]");
            }
            (kind, Value::Bytes(bytes)) => {
                put_json_value(text, None, &Value::Bytes(&as_in_zeek(kind, bytes)));
            }
            (_, value) => put_json_value(text, None, &value),
        }
    }
    text.extend(b"}\n");
}

/// Appends a record as comma-separated values: all columns, nothing where one is unset.
pub(super) fn csv(text: &mut TextBuffer, dates: &mut DateCache, message: &Message<'_>, safe: bool) {
    let fields = message.ready.fields.iter();
    for (index, field) in fields.filter(|field| field.logs.in_tables()).enumerate() {
        if index > 0 {
            text.extend(b",");
        }
        match message.value(field) {
            Value::List(values) => put_csv_list(text, dates, values, safe),
            Value::Bytes(bytes) => put_csv(text, bytes, safe),
            Value::Text(word) => put_csv(text, word.as_bytes(), safe),
            value => put_csv_value(text, dates, value),
        }
    }
    text.extend(b"\n");
}

fn put_csv_value(text: &mut TextBuffer, dates: &mut DateCache, value: Value<'_>) {
    match value {
        Value::Unset => {}
        Value::Time(time) => {
            text.line(|line| line.put_rfc3339_time(dates, time));
        }
        Value::Interval(nanos) => {
            text.line(|line| line.put_seconds_nanos(nanos));
        }
        Value::Bool(value) => text.extend(if value { b"true" } else { b"false" }),
        value => put_simple(text, value),
    }
}

/// Always quoted, so that members need not be looked at before.
fn put_csv_list(text: &mut TextBuffer, dates: &mut DateCache, values: &[Value<'_>], safe: bool) {
    text.extend(b"\"");
    if let Some(Value::Bytes(first)) = values.first()
        && safe
        && is_formula(first)
    {
        text.extend(b"'");
    }
    for (index, &value) in values.iter().enumerate() {
        if index > 0 {
            text.extend(b" ");
        }
        match value {
            Value::Bytes(bytes) => put_csv_member(text, bytes),
            Value::Text(bytes) => put_csv_member(text, bytes.as_bytes()),
            value => put_csv_value(text, dates, value),
        }
    }
    text.extend(b"\"");
}
