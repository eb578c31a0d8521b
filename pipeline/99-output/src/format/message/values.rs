//! Single values, as more than one format writes them.

use crate::format::escape::put_json;
use crate::text::{DateCache, TextBuffer};
use flowpin_packet::Timestamp;
use flowpin_record::Value;

/// Appends a value as JSON; times as EVE has them if there are `dates`, else as Zeek does.
pub(super) fn put_json_value(
    text: &mut TextBuffer,
    mut dates: Option<&mut DateCache>,
    value: &Value<'_>,
) {
    match (*value, dates.as_deref_mut()) {
        (Value::Unset, _) => text.extend(b"null"),
        (Value::Bool(value), _) => text.extend(if value { b"true" } else { b"false" }),
        (Value::Bytes(bytes), _) => put_json(text, bytes),
        (Value::Text(bytes), _) => put_json(text, bytes.as_bytes()),
        (Value::Count(count), _) => {
            text.line(|line| line.put_u64(count));
        }
        (Value::Time(time), Some(dates)) => {
            text.line(|line| {
                line.put(b"\"");
                line.put_eve_time(dates, time);
                line.put(b"\"");
            });
        }
        (Value::Uid(_) | Value::File(_) | Value::CommunityId(_), _) => {
            text.extend(b"\"");
            put_simple(text, *value);
            text.extend(b"\"");
        }
        (Value::Address(address), dates) => {
            let in_full = dates.is_some();
            text.line(|line| {
                line.put(b"\"");
                if in_full {
                    line.put_address_in_full(address);
                } else {
                    line.put_address(address);
                }
                line.put(b"\"");
            });
        }
        (Value::List(values), _) => {
            text.extend(b"[");
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.extend(b",");
                }
                put_json_value(text, dates.as_deref_mut(), value);
            }
            text.extend(b"]");
        }
        (value, _) => put_simple(text, value),
    }
}

/// Appends a value that is written alike everywhere and needs no escape.
pub(super) fn put_simple(text: &mut TextBuffer, value: Value<'_>) {
    text.line(|line| match value {
        Value::Time(Timestamp(nanos)) | Value::Interval(nanos) => line.put_seconds_micros(nanos),
        Value::Uid(uid) => line.put(&uid.text()),
        Value::File(file) => line.put(&file.text()),
        Value::CommunityId(id) => line.put_community_id(&id),
        Value::Address(address) => line.put_address(address),
        Value::Port(port) => line.put_u64(u64::from(port)),
        Value::Count(count) => line.put_u64(count),
        Value::Int(number) => {
            if number < 0 {
                line.put(b"-");
            }
            line.put_u64(number.unsigned_abs());
        }
        // Lists of messages are lists of values; the rest its caller has written.
        _ => debug_assert!(false, "not a value of a message"),
    });
}
