//! Builds the event of one message.

mod columns;
mod contents;
mod layout;
mod typed;

use super::values::{Hexadecimal, flag, listed};
use crate::wire::codes::rcode_name;
use crate::wire::message::Parsed;
pub(crate) use columns::FROM_SERVER;
pub use columns::{DNS, LLMNR, MDNS};
use columns::{EDNS, HEAD, WIDTH};
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSchema, MessageSink, Value, ValueLists};
use layout::{Form, Layout, may_divide};
use typed::{TYPED, put_lists, put_strings};

/// Builds events; allocated once and reused for every message.
#[derive(Debug, Default)]
pub(crate) struct Event {
    /// All lists, concatenated: see [`Layout`].
    lists: ValueLists<1>,
    /// Of the protocols of the link: strings, and what records hold by their types.
    strings: ValueLists<1>,
    typed: ValueLists<1>,
}

/// When a message was seen, and how long after its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub(crate) at: Timestamp,
    /// In nanoseconds.
    pub(crate) rtt: Option<u64>,
    /// Index of the message in its connection.
    pub(crate) number: u32,
}

impl Event {
    /// Reports a message to `sink`.
    pub(crate) fn report<S: MessageSink>(
        &mut self,
        parsed: &Parsed,
        message: &[u8],
        when: When,
        schema: &MessageSchema,
        sink: &mut S,
    ) {
        let flags = Hexadecimal::of(parsed.header.flags);
        let is_local = schema.name != DNS.name;
        let words = flag_words(if is_local { parsed.header.flags } else { 0 });
        let [mut all] = self.lists.lend();
        let form = Form {
            is_typed: is_local,
            divides: !is_local && may_divide(parsed, message),
        };
        let layout = Layout::of(parsed, message, form);
        all.resize(layout.total, Value::Unset);
        layout.fill(&mut all, parsed, message, form);
        if is_local {
            layout.lower_query_types(&mut all);
        }
        let mut values = [Value::Unset; WIDTH];
        let (head, rest) = values.split_at_mut(HEAD);
        for (to, from) in head.iter_mut().zip(head_values(parsed, when, flags.text())) {
            *to = from;
        }
        if is_local
            && let [
                version,
                _,
                number,
                _,
                flags,
                qr,
                aa,
                tc,
                rd,
                ra,
                z,
                ad,
                cd,
                _,
                rcode,
                _,
            ] = head
        {
            // Suricata's object has the flags as words, the envelope the number.
            for twice in [version, number, qr, aa, tc, rd, ra, z, ad, cd] {
                *twice = Value::Unset;
            }
            let code = parsed.header.rcode();
            *flags = listed(words.get());
            *rcode = Value::count(parsed.header.is_response().then_some(code.into()));
        }
        let [options, other @ ..] = &layout.lists;
        for (to, list) in rest.iter_mut().zip(other) {
            if list.len > 0 {
                *to = Value::List(list.of(&all));
            }
        }
        let options = options.of(&all);
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
        if is_local {
            self.report_typed(parsed, message, (schema, when.at), &values, sink);
        } else {
            sink.message(schema, when.at, &values);
        }
        self.lists.take_back([all]);
    }

    /// Reports a message of a protocol of the link: with what records hold by their types.
    fn report_typed<S: MessageSink>(
        &mut self,
        parsed: &Parsed,
        message: &[u8],
        (schema, at): (&MessageSchema, Timestamp),
        common: &[Value<'_>; WIDTH],
        sink: &mut S,
    ) {
        let ([mut strings], [mut all]) = (self.strings.lend(), self.typed.lend());
        put_strings(parsed, message, &mut strings);
        let lists = put_lists(parsed, message, &strings, &mut all);
        let mut values = [Value::Unset; WIDTH + TYPED];
        if let Some((first, rest)) = values.split_first_chunk_mut() {
            *first = *common;
            for (column, value) in rest.iter_mut().enumerate() {
                *value = listed(lists.get(column, &all));
            }
        }
        sink.message(schema, at, &values);
        self.typed.take_back([all]);
        self.strings.take_back([strings]);
    }
}

/// The flags of a header as words.
struct FlagWords {
    words: [Value<'static>; FLAGS.len()],
    len: usize,
}

impl FlagWords {
    fn get(&self) -> &[Value<'static>] {
        self.words.get(..self.len).unwrap_or_default()
    }
}

fn flag_words(flags: u16) -> FlagWords {
    let mut words = [Value::Unset; FLAGS.len()];
    let mut len = 0usize;
    let set = FLAGS.iter().filter(|(bit, _)| flags & bit != 0);
    for (place, (_, word)) in words.iter_mut().zip(set) {
        *place = Value::Text(word);
        len = len.saturating_add(1);
    }
    FlagWords { words, len }
}

/// RFC 1035 §4.1.1, RFC 4035 §3.
const FLAGS: [(u16, &str); 7] = [
    (0x0400, "aa"),
    (0x0200, "tc"),
    (0x0100, "rd"),
    (0x0080, "ra"),
    (0x0040, "z"),
    (0x0020, "ad"),
    (0x0010, "cd"),
];

/// Returns the values of the first columns.
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
