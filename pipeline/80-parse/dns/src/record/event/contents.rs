//! The values of one record in an event.

use super::layout::{COMMON, SPECIAL_MAX};
use crate::wire::codes::type_name;
use crate::wire::cursor::Cursor;
use crate::wire::message::{Parsed, Record};
use crate::wire::text::ByteRange;
use flowpin_record::Value;

/// Returns the values of a record in the columns that every record has.
pub(super) fn common_of<'a>(
    parsed: &'a Parsed,
    record: &Record,
    message: &[u8],
) -> [Value<'a>; COMMON] {
    let name = Value::Bytes(parsed.text(record.name.text));
    let kind_of = kind(parsed, record.kind, record.kind_text);
    if record.kind == OPT {
        return [name, kind_of, Value::Unset, Value::Unset];
    }
    let ttl = Value::Count(record.ttl.into());
    [name, kind_of, ttl, contents(parsed, record, message)]
}

/// Returns the values of a record in the columns of its type, in order.
pub(super) fn special_values<'a>(
    parsed: &'a Parsed,
    record: &Record,
    message: &[u8],
) -> [Value<'a>; SPECIAL_MAX] {
    let mut values = [Value::Unset; SPECIAL_MAX];
    if record.rdata.is_bad {
        return values;
    }
    let raw = record.rdata.raw.range();
    let text = |place: ByteRange| Value::Bytes(parsed.text(place));
    let [first, last] = record.rdata.names;
    let [one, two, three, four, ..] = &mut values;
    match record.kind {
        SOA => {
            *one = text(first);
            *two = text(last);
            let mut numbers = Cursor::new(message, raw.end.saturating_sub(20), raw.end);
            for number in values.iter_mut().skip(2) {
                *number = Value::count(numbers.u32().ok().map(u64::from));
            }
        }
        SRV => {
            let mut numbers = Cursor::new(message, raw.start, raw.end);
            for number in [one, two, three] {
                *number = Value::count(numbers.u16().ok().map(u64::from));
            }
            *four = text(last);
        }
        SSHFP => {
            let mut numbers = Cursor::new(message, raw.start, raw.end);
            *one = text(record.rdata.fingerprint);
            for number in [two, three] {
                *number = Value::count(numbers.u8().ok().map(u64::from));
            }
        }
        _ => {}
    }
    values
}

/// Returns the contents of a record: an address, the name of a mail server without its preference,
/// or the text.
pub(super) fn contents<'a>(parsed: &'a Parsed, record: &Record, message: &[u8]) -> Value<'a> {
    if let Some(address) = record.rdata.address(record.kind, message) {
        return Value::Address(address);
    }
    let [_, name] = record.rdata.names;
    let place = if record.kind == MX && !record.rdata.is_bad {
        name
    } else {
        record.rdata.text
    };
    Value::Bytes(parsed.text(place))
}

/// Returns the types that mDNS uses (RFC 6762, RFC 6763) in lower case, and other names unchanged.
pub(super) fn lower(name: &str) -> &str {
    match name {
        "A" => "a",
        "AAAA" => "aaaa",
        "ANY" => "any",
        "CNAME" => "cname",
        "HINFO" => "hinfo",
        "HTTPS" => "https",
        "NS" => "ns",
        "NSEC" => "nsec",
        "PTR" => "ptr",
        "SOA" => "soa",
        "SRV" => "srv",
        "SVCB" => "svcb",
        "TXT" => "txt",
        other => other,
    }
}

/// Returns the name of a type, or `TYPE` and its number.
pub(super) fn kind<'a>(parsed: &'a Parsed, kind: u16, otherwise: ByteRange) -> Value<'a> {
    match type_name(kind) {
        Some("*") => Value::Text("ANY"),
        Some(name) => Value::Text(name),
        None => Value::Bytes(parsed.text(otherwise)),
    }
}

pub(super) const SOA: u16 = 6;
const MX: u16 = 15;
pub(super) const SRV: u16 = 33;
const OPT: u16 = 41;
pub(super) const SSHFP: u16 = 44;
