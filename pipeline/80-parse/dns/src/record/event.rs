//! One message as an event.

use super::event_columns::{
    ADDITIONALS, ANSWERS, AUTHORITIES, EDNS, GROUPS, HEAD, LISTS, QUERIES, WIDTH,
};
use crate::wire::codes::{rcode_name, type_name};
use crate::wire::cursor::Cursor;
use crate::wire::message::{Parsed, Record, Section};
use crate::wire::text::Place;
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSchema, MessageSink, Value, ValueLists};

/// Builds events; made once, used for every message.
#[derive(Debug, Default)]
pub(crate) struct Event {
    lists: ValueLists<LISTS>,
}

/// When a message was seen, and how long after its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub(crate) at: Timestamp,
    /// In nanoseconds.
    pub(crate) rtt: Option<u64>,
    /// Which message of its connection it is.
    pub(crate) number: u32,
}

impl Event {
    /// Tells `sink` of a message.
    pub(crate) fn tell<S: MessageSink>(
        &mut self,
        parsed: &Parsed,
        message: &[u8],
        when: When,
        schema: &MessageSchema,
        sink: &mut S,
    ) {
        let flags = Hexadecimal::of(parsed.header.flags);
        let mut lists = self.lists.lend();
        fill(&mut lists, parsed, message);
        let mut values = [Value::Unset; WIDTH];
        let (head, rest) = values.split_at_mut(HEAD);
        for (to, from) in head.iter_mut().zip(head_values(parsed, when, flags.text())) {
            *to = from;
        }
        let [options, other @ ..] = &lists;
        for (to, list) in rest.iter_mut().zip(other) {
            *to = listed(list);
        }
        if let Some(edns) = parsed.edns
            && let Some(to) = values.last_chunk_mut::<EDNS>()
        {
            let extended = u64::from(edns.extended_rcode);
            *to = [
                Value::Count(edns.version.into()),
                Value::Count(edns.udp_size.into()),
                flag(edns.dnssec_ok),
                Value::count(Some(extended).filter(|&code| code > 0)),
                listed(options),
            ];
        }
        sink.message(schema, when.at, &values);
        self.lists.take_back(lists);
    }
}

/// The first columns.
fn head_values<'a>(parsed: &Parsed, when: When, flags: &'a [u8]) -> [Value<'a>; HEAD] {
    let header = parsed.header;
    let is_set = |bit: u16| flag(header.flags & bit != 0);
    let is_response = header.is_response();
    let rcode = rcode_name(header.rcode()).filter(|_| is_response);
    [
        Value::Count(3),
        Value::Text(if is_response { "response" } else { "request" }),
        Value::Count(when.number.into()),
        Value::Count(header.id.into()),
        Value::Bytes(flags),
        is_set(0x8000),
        is_set(0x0400),
        is_set(0x0200),
        is_set(0x0100),
        is_set(0x0080),
        is_set(0x0040),
        is_set(0x0020),
        is_set(0x0010),
        Value::Count(header.opcode().into()),
        rcode.map_or(Value::Unset, Value::Text),
        when.rtt.map_or(Value::Unset, Value::Interval),
    ]
}

/// Fills the lists: EDNS options, queries, answers, authorities, additionals, groups.
fn fill<'a>(lists: &mut [Vec<Value<'a>>; LISTS], parsed: &'a Parsed, message: &[u8]) {
    let [options, rest @ ..] = lists;
    let (queries, rest) = rest.split_at_mut(QUERIES);
    let (answers, rest) = rest.split_at_mut(ANSWERS);
    let (authorities, rest) = rest.split_at_mut(AUTHORITIES);
    let (additionals, groups) = rest.split_at_mut(ADDITIONALS);
    options.extend(
        parsed
            .options
            .iter()
            .map(|option| Value::Bytes(parsed.text(*option))),
    );
    for question in &parsed.questions {
        let name = Value::Bytes(parsed.text(question.name.text));
        push(
            queries,
            [name, kind(parsed, question.kind, question.kind_text)],
        );
    }
    for record in &parsed.records {
        match record.section {
            Section::Answer => {
                push(answers, columns_of(parsed, record, message));
                group(groups, parsed, record);
            }
            Section::Authority => push(authorities, columns_of(parsed, record, message)),
            Section::Additional => push(additionals, columns_of(parsed, record, message)),
        }
    }
}

/// One value for each list, as far as there are lists.
fn push<'a>(lists: &mut [Vec<Value<'a>>], values: impl IntoIterator<Item = Value<'a>>) {
    for (list, value) in lists.iter_mut().zip(values) {
        list.push(value);
    }
}

/// A record's values in the order of an answer's columns.
fn columns_of<'a>(parsed: &'a Parsed, record: &Record, message: &[u8]) -> [Value<'a>; ANSWERS] {
    let mut values = [Value::Unset; ANSWERS];
    let [name, kind_of, ttl, rdata, rest @ ..] = &mut values;
    *name = Value::Bytes(parsed.text(record.name.text));
    *kind_of = kind(parsed, record.kind, record.kind_text);
    if record.kind == OPT {
        return values;
    }
    *ttl = Value::Count(record.ttl.into());
    *rdata = contents(parsed, record);
    if record.rdata.is_bad {
        return values;
    }
    let raw = record.rdata.raw.range();
    let text = |place: Place| Value::Bytes(parsed.text(place));
    let [first, last] = record.rdata.names;
    let [soa_mname, soa_rname, soa @ .., _, _, _, _, _, _, _] = rest;
    match record.kind {
        SOA => {
            *soa_mname = text(first);
            *soa_rname = text(last);
            let mut numbers = Cursor::new(message, raw.end.saturating_sub(20), raw.end);
            for number in soa {
                *number = Value::count(numbers.u32().ok().map(u64::from));
            }
        }
        SRV => {
            let mut numbers = Cursor::new(message, raw.start, raw.end);
            let [.., priority, weight, port, name, _, _, _] = rest;
            for number in [priority, weight, port] {
                *number = Value::count(numbers.u16().ok().map(u64::from));
            }
            *name = text(last);
        }
        SSHFP => {
            let mut numbers = Cursor::new(message, raw.start, raw.end);
            let [.., fingerprint, algorithm, digest] = rest;
            for number in [algorithm, digest] {
                *number = Value::count(numbers.u8().ok().map(u64::from));
            }
            *fingerprint = text(record.rdata.fingerprint);
        }
        _ => {}
    }
    values
}

/// What a record holds: an address, a mail server's name without its preference, or its text.
fn contents<'a>(parsed: &'a Parsed, record: &Record) -> Value<'a> {
    if let Some(address) = record.rdata.address {
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

fn group<'a>(groups: &mut [Vec<Value<'a>>], parsed: &'a Parsed, record: &Record) {
    let group = GROUPS
        .iter()
        .zip(groups)
        .find(|(kind, _)| **kind == record.kind);
    if let Some((_, group)) = group {
        group.push(contents(parsed, record));
    }
}

/// A type's name, or `TYPE` and its number.
fn kind<'a>(parsed: &'a Parsed, kind: u16, otherwise: Place) -> Value<'a> {
    match type_name(kind) {
        Some("*") => Value::Text("ANY"),
        Some(name) => Value::Text(name),
        None => Value::Bytes(parsed.text(otherwise)),
    }
}

/// A list, unset if it is empty.
pub(super) fn listed<'a>(list: &'a [Value<'a>]) -> Value<'a> {
    if list.is_empty() {
        Value::Unset
    } else {
        Value::List(list)
    }
}

/// Flags are left out where they are not set.
fn flag(is_set: bool) -> Value<'static> {
    if is_set {
        Value::Bool(true)
    } else {
        Value::Unset
    }
}

/// Up to four lower-case digits, without leading zeros.
struct Hexadecimal {
    digits: [u8; 4],
    first: usize,
}

impl Hexadecimal {
    fn of(number: u16) -> Self {
        let [high, low] = number.to_be_bytes();
        let digits = [high >> 4, high & 15, low >> 4, low & 15];
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        let character = |digit: u8| match digit {
            0..=9 => b'0'.saturating_add(digit),
            _ => b'a'.saturating_add(digit.saturating_sub(10)),
        };
        Self {
            digits: digits.map(character),
            first: leading.min(3),
        }
    }

    fn text(&self) -> &[u8] {
        self.digits.get(self.first..).unwrap_or_default()
    }
}

const SOA: u16 = 6;
const MX: u16 = 15;
const SRV: u16 = 33;
const OPT: u16 = 41;
const SSHFP: u16 = 44;
